// SPDX-License-Identifier: BSD-3-Clause
#include "cli/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace frond::cli {

unsigned columns(std::string_view utf8) {
  return static_cast<unsigned>(
      std::count_if(utf8.begin(), utf8.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string cut(std::string_view utf8, unsigned width) {
  if (columns(utf8) <= width) return std::string(utf8);
  const unsigned keep = width > 3 ? width - 3 : 0;
  unsigned seen = 0;
  std::size_t i = 0;
  for (; i < utf8.size(); ++i) {
    if ((utf8[i] & 0xc0) != 0x80 && seen++ == keep) break;
  }
  return std::string(utf8.substr(0, i)) + std::string("...").substr(0, width);
}

std::string Table::text(unsigned width) const {
  std::vector<unsigned> widths;
  for (const auto& [name, align] : columns_) widths.push_back(columns(name));
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], columns(row[c]));
  }
  std::string out;
  auto add_line = [&](auto&& cell) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string text = cell(c);
      const std::string pad(widths[c] - columns(text), ' ');
      line += c == 0 ? "" : "  ";
      line += columns_[c].second == Align::right ? pad + text : text + pad;
    }
    while (!line.empty() && line.back() == ' ') line.pop_back();
    out += cut(line, width) + "\n";
  };
  add_line([&](std::size_t c) { return columns_[c].first; });
  for (const auto& row : rows_) {
    add_line([&](std::size_t c) { return c < row.size() ? row[c] : std::string(); });
  }
  return out;
}

std::string wrapped(std::string_view text, unsigned width, unsigned indent) {
  std::string out(indent, ' ');
  unsigned at = indent;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text = space == text.npos ? std::string_view() : text.substr(space + 1);
    const unsigned n = columns(word);
    if (at > indent && at + 1 + n > width) {
      out += "\n" + std::string(indent, ' ');
      at = indent;
    } else if (at > indent) {
      out += ' ';
      ++at;
    }
    out += word;
    at += n;
  }
  return out;
}

std::string count(std::uint64_t n) {
  if (n < 100'000) return fmt::format("{}", n);
  constexpr std::string_view kUnits[] = {"K", "M", "G", "T", "P", "E"};
  double d = static_cast<double>(n);
  std::size_t unit = 0;
  for (d /= 1000; d >= 999.5 && unit < 5; ++unit) d /= 1000;
  return fmt::format("{:.{}f}{}", d, d < 9.995 ? 2 : d < 99.95 ? 1 : 0, kUnits[unit]);
}

std::string percent(double share) { return fmt::format("{:.4g}%", share * 100); }

std::string plural(std::uint64_t n, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return out;
}

}  // namespace frond::cli
