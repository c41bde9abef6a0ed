// SPDX-License-Identifier: BSD-3-Clause
// Text for terminals: tables that line up, lines of at most 100 columns, quantities short.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/rate.hpp"
#include "base/time.hpp"

namespace frond::cli {

inline constexpr unsigned kWidth = 100;

class Table {
 public:
  enum class Align : std::uint8_t { left, right };
  explicit Table(std::vector<std::pair<std::string, Align>> columns)
      : columns_(std::move(columns)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  // Lines end in \n and are cut at `width`; the last column takes what is left.
  std::string text(unsigned width = kWidth) const;

 private:
  std::vector<std::pair<std::string, Align>> columns_;
  std::vector<std::vector<std::string>> rows_;
};

unsigned columns(std::string_view utf8);                 // characters, not bytes
std::string cut(std::string_view utf8, unsigned width);  // "..." at the end of what was cut
std::string wrapped(std::string_view text, unsigned width, unsigned indent);
std::string count(std::uint64_t n);  // 1234 -> "1234", 1234567 -> "1.23M"
std::string percent(double share);   // 0.001 -> "0.1%"
std::string plural(std::uint64_t n, std::string_view one, std::string_view many);

// What cannot harm a terminal: control characters become '?'.
std::string printable(std::string_view text);

}  // namespace frond::cli
