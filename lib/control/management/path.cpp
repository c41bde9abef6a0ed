// SPDX-License-Identifier: BSD-3-Clause
#include "control/management/path.hpp"

#include <fmt/format.h>

namespace frond::management {
namespace {

Error invalid(std::string message) { return {Error::Code::invalid_argument, std::move(message)}; }

// Reads one element at `at`; leaves `at` behind it.
Result<PathElem> parse_elem(std::string_view text, std::size_t& at) {
  PathElem elem;
  while (at < text.size() && text[at] != '/' && text[at] != '[') elem.name += text[at++];
  if (elem.name.empty())
    return invalid(fmt::format("path '{}' has an element without a name", text));
  while (at < text.size() && text[at] == '[') {
    std::string key;
    std::string value;
    for (++at; at < text.size() && text[at] != '='; ++at) key += text[at];
    if (at == text.size()) return invalid(fmt::format("path '{}' has '[' without '='", text));
    for (++at; at < text.size() && text[at] != ']'; ++at) {
      if (text[at] == '\\' && at + 1 < text.size()) ++at;
      value += text[at];
    }
    if (at == text.size()) return invalid(fmt::format("path '{}' has '[' without ']'", text));
    ++at;
    if (key.empty()) return invalid(fmt::format("path '{}' has a key without a name", text));
    elem.keys.emplace_back(std::move(key), std::move(value));
  }
  return elem;
}

std::string escaped(const std::string& value) {
  std::string out;
  for (char c : value) {
    if (c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

bool elem_matches(const PathElem& query, const PathElem& concrete) {
  if (query.name != "*" && query.name != concrete.name) return false;
  for (const auto& [name, value] : query.keys) {
    const std::string* actual = concrete.key(name);
    if (actual == nullptr || (value != "*" && value != *actual)) return false;
  }
  return true;
}

Match match_from(const std::vector<PathElem>& query, std::size_t q,
                 const std::vector<PathElem>& concrete, std::size_t c) {
  for (; q < query.size(); ++q, ++c) {
    if (query[q].name == "...") {
      while (q + 1 < query.size() && query[q + 1].name == "...") ++q;  // else exponential
      Match best = Match::none;
      for (std::size_t skip = c; skip <= concrete.size(); ++skip) {
        const Match m = match_from(query, q + 1, concrete, skip);
        if (m == Match::exact) return m;
        if (m == Match::below) best = m;
      }
      return best;
    }
    if (c >= concrete.size() || !elem_matches(query[q], concrete[c])) return Match::none;
  }
  return c == concrete.size() ? Match::exact : Match::below;
}

bool names_match_from(const std::vector<PathElem>& query, std::size_t q,
                      const std::vector<PathElem>& schema, std::size_t s) {
  for (; q < query.size(); ++q, ++s) {
    if (query[q].name == "...") {
      while (q + 1 < query.size() && query[q + 1].name == "...") ++q;
      for (std::size_t skip = s; skip <= schema.size(); ++skip) {
        if (names_match_from(query, q + 1, schema, skip)) return true;
      }
      return false;
    }
    if (s >= schema.size()) return false;
    if (query[q].name != "*" && query[q].name != schema[s].name) return false;
    for (const auto& [name, value] : query[q].keys) {
      if (schema[s].key(name) == nullptr) return false;
    }
  }
  return true;
}

}  // namespace

const std::string* PathElem::key(std::string_view key_name) const {
  for (const auto& [name_, value] : keys) {
    if (name_ == key_name) return &value;
  }
  return nullptr;
}

Result<Path> Path::parse(std::string_view text) {
  Path path;
  if (text.size() > kMaxPathBytes) {
    return invalid(
        fmt::format("the path has {} characters; {} are allowed", text.size(), kMaxPathBytes));
  }
  const std::size_t slash = text.find('/');
  std::size_t at = 0;
  if (const std::size_t colon = text.find(':');
      colon != text.npos && (slash == text.npos || colon < slash) && text.find('[') > colon) {
    path.origin = text.substr(0, colon);
    at = colon + 1;
  }
  while (at < text.size()) {
    if (text[at] == '/') {
      ++at;
      continue;
    }
    auto elem = parse_elem(text, at);
    if (!elem) return elem.error();
    path.elems.push_back(std::move(*elem));
    if (path.elems.size() > kMaxPathElems) {
      return invalid(fmt::format("the path has more than {} elements", kMaxPathElems));
    }
  }
  return path;
}

std::string Path::to_string() const {
  std::string text = origin.empty() ? "" : origin + ":";
  if (elems.empty()) return text + "/";
  for (const PathElem& elem : elems) {
    text += "/" + elem.name;
    for (const auto& [name, value] : elem.keys)
      text += fmt::format("[{}={}]", name, escaped(value));
  }
  return text;
}

Match match(const std::vector<PathElem>& query, const std::vector<PathElem>& concrete) {
  return match_from(query, 0, concrete, 0);
}

bool names_match(const std::vector<PathElem>& query, const std::vector<PathElem>& schema) {
  return names_match_from(query, 0, schema, 0);
}

bool has_wildcard(const std::vector<PathElem>& query) {
  for (const PathElem& elem : query) {
    if (elem.name == "*" || elem.name == "...") return true;
    for (const auto& [name, value] : elem.keys) {
      if (value == "*") return true;
    }
  }
  return false;
}

}  // namespace frond::management
