// SPDX-License-Identifier: BSD-3-Clause
// Diagnostics: what is wrong with a file, where, and what was probably meant; as text for people
// and as SARIF 2.1.0 for programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace frond::config {

struct Mark {
  int line = 0;    // from 1; 0: the file as a whole
  int column = 0;  // in bytes, from 1
  auto operator<=>(const Mark&) const = default;
};

enum class Severity : std::uint8_t { error, warning, note };

struct Diagnostic {
  Severity severity = Severity::error;
  Mark mark;
  std::string rule;        // stable id of the check: "unknown-key"
  std::string message;     // "unknown key 'endpoint' in links[2]"
  std::string suggestion;  // "endpoints", or ""
};

class Diagnostics {
 public:
  // What a hostile file can make us say is bounded.
  static constexpr std::size_t kLimit = 200;

  explicit Diagnostics(std::string file) : file_(std::move(file)) {}

  void error(Mark at, std::string_view rule, std::string message, std::string suggestion = {}) {
    add({Severity::error, at, std::string(rule), std::move(message), std::move(suggestion)});
  }
  void warning(Mark at, std::string_view rule, std::string message, std::string suggestion = {}) {
    add({Severity::warning, at, std::string(rule), std::move(message), std::move(suggestion)});
  }
  void note(Mark at, std::string_view rule, std::string message) {
    add({Severity::note, at, std::string(rule), std::move(message), {}});
  }

  const std::string& file() const { return file_; }
  const std::vector<Diagnostic>& list() const {
    return list_;
  }  // in the order of the file after sort()
  std::size_t errors() const { return count_[0]; }
  std::size_t warnings() const { return count_[1]; }
  bool full() const { return list_.size() >= kLimit; }  // more are counted, not kept
  void sort();

  // One a line: `file:line:col: error: message; did you mean 'x'?`, at most `width` columns each
  // (words that do not fit go on in an indented line), then "2 errors, 1 warning" when there are
  // any.
  std::string text(unsigned width = 100) const;
  std::string sarif() const;

 private:
  void add(Diagnostic d);

  std::string file_;
  std::vector<Diagnostic> list_;
  std::size_t count_[3] = {};
};

// Bytes that would disturb a terminal or a line, as \xNN; at most `limit` characters.
std::string printable(std::string_view text, std::size_t limit = 60);

}  // namespace frond::config
