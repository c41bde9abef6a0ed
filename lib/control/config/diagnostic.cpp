// SPDX-License-Identifier: BSD-3-Clause
#include "control/config/diagnostic.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace frond::config {
namespace {

constexpr std::string_view kSeverity[] = {"error", "warning", "note"};

std::string plural(std::size_t n, std::string_view word) {
  return std::to_string(n) + " " + std::string(word) + (n == 1 ? "" : "s");
}

std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

// Breaks at spaces. A word that is longer than a line by itself (a long path) stays whole.
std::string wrapped(const std::string& line, unsigned width) {
  if (columns(line) <= width) return line;
  std::string out;
  std::string current;
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t space = std::min(line.find(' ', at), line.size());
    const std::string word = line.substr(at, space - at);
    const bool indent_only = current.find_first_not_of(' ') == std::string::npos;
    if (!indent_only && columns(current) + 1 + columns(word) > width) {
      out += current + "\n";
      current = "    " + word;
    } else {
      current += (current.empty() || indent_only ? "" : " ") + word;
    }
    at = space + 1;
  }
  return out + current;
}

std::string sentence(const Diagnostic& d) {
  return d.message + (d.suggestion.empty() ? "" : "; did you mean '" + d.suggestion + "'?");
}

}  // namespace

std::string printable(std::string_view text, std::size_t limit) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (out.size() >= limit) {
      // Not within a UTF-8 sequence.
      if ((text[i] & 0xc0) != 0x80) return out + "...";
    }
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 || c == 0x7f) {
      out += {'\\', 'x', kHex[c >> 4], kHex[c & 15]};
    } else {
      out += text[i];
    }
  }
  return out;
}

void Diagnostics::add(Diagnostic d) {
  ++count_[static_cast<std::size_t>(d.severity)];
  if (list_.size() < kLimit) list_.push_back(std::move(d));
}

void Diagnostics::sort() {
  std::stable_sort(list_.begin(), list_.end(),
                   [](const Diagnostic& a, const Diagnostic& b) { return a.mark < b.mark; });
}

std::string Diagnostics::text(unsigned width) const {
  std::string out;
  for (const Diagnostic& d : list_) {
    std::string line = file_ + ":";
    if (d.mark.line > 0) {
      line += std::to_string(d.mark.line) + ":" + std::to_string(d.mark.column) + ":";
    }
    line += " " + std::string(kSeverity[static_cast<std::size_t>(d.severity)]) + ": " + sentence(d);
    out += wrapped(line, width) + "\n";
  }
  if (errors() + warnings() > 0) {
    std::string summary;
    if (errors() > 0) summary = plural(errors(), "error");
    if (warnings() > 0) {
      summary += (summary.empty() ? "" : ", ") + plural(warnings(), "warning");
    }
    const std::size_t all = count_[0] + count_[1] + count_[2];
    if (all > list_.size()) summary += "; the first " + std::to_string(list_.size()) + " are shown";
    out += summary + "\n";
  }
  return out;
}

std::string Diagnostics::sarif() const {
  using nlohmann::json;
  json results = json::array();
  std::vector<std::string> rules;
  for (const Diagnostic& d : list_) {
    if (std::find(rules.begin(), rules.end(), d.rule) == rules.end()) rules.push_back(d.rule);
    json location = {{"artifactLocation", {{"uri", file_}}}};
    if (d.mark.line > 0) {
      location["region"] = {{"startLine", d.mark.line}, {"startColumn", d.mark.column}};
    }
    json result = {{"ruleId", d.rule},
                   {"level", std::string(kSeverity[static_cast<std::size_t>(d.severity)])},
                   {"message", {{"text", sentence(d)}}},
                   {"locations", json::array({{{"physicalLocation", location}}})}};
    if (!d.suggestion.empty()) result["properties"] = {{"suggestion", d.suggestion}};
    results.push_back(std::move(result));
  }
  std::sort(rules.begin(), rules.end());
  json rule_list = json::array();
  for (const std::string& r : rules) rule_list.push_back({{"id", r}});
  const json log = {
      {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
      {"version", "2.1.0"},
      {"runs", json::array({{{"tool", {{"driver", {{"name", "frond"}, {"rules", rule_list}}}}},
                             {"columnKind", "unicodeCodePoints"},
                             {"results", results}}})}};
  // Text that is no UTF-8 (a file name) must not make this throw.
  return log.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace frond::config
