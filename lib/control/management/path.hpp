// SPDX-License-Identifier: BSD-3-Clause
// Path: a place in the data tree, as gNMI writes it (path conventions, path strings), without
// gNMI's messages. A query may have wildcards: "*" for a name or a key's value, "..." for any
// number of elements, and a key that is not given matches any value.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace frond::management {

// What a client may send; longer is invalid_argument.
inline constexpr std::size_t kMaxPathElems = 32;
inline constexpr std::size_t kMaxPathKeys = 8;      // of one element
inline constexpr std::size_t kMaxPathBytes = 2048;  // of all names, keys and values

struct PathElem {
  std::string name;
  std::vector<std::pair<std::string, std::string>> keys;  // in the schema's or the sender's order
  bool operator==(const PathElem&) const = default;
  const std::string* key(std::string_view name) const;
};

struct Path {
  std::string origin;  // "": openconfig
  std::vector<PathElem> elems;
  bool operator==(const Path&) const = default;

  // "frond:/nodes/node[name=leaf1]/state"; in values "]" and "\" are escaped with "\".
  static Result<Path> parse(std::string_view text);
  std::string to_string() const;
};

// Does the query select this concrete path itself, or something above or below it?
// `concrete` has all its keys.
enum class Match { none, exact, below };  // below: concrete lies under what the query selects
Match match(const std::vector<PathElem>& query, const std::vector<PathElem>& concrete);

// The same question about names only: keys are ignored. For telling a wrong path from an absent
// instance. Also true when the query ends above the schema path.
bool names_match(const std::vector<PathElem>& query, const std::vector<PathElem>& schema);

bool has_wildcard(const std::vector<PathElem>& query);

}  // namespace frond::management
