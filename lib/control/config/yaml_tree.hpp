// SPDX-License-Identifier: BSD-3-Clause
// A YAML document as a tree that remembers where each key and value stands. Untrusted bytes: size,
// depth and count are bounded; aliases, anchors, tags, duplicate keys, keys that are no scalars,
// more than one document and text that is not UTF-8 are errors.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/diagnostic.hpp"

namespace frond::config::yaml {

inline constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
inline constexpr unsigned kMaxDepth = 24;
inline constexpr unsigned kMaxNodes = 1U << 18;

struct Entry;

struct Node {
  enum class Kind : unsigned char { null, scalar, list, map };
  Kind kind = Kind::null;
  bool quoted = false;  // a scalar in quotes or a block: text, whatever it looks like
  std::string text;     // scalar; null: as written (null, ~ or nothing)
  Mark mark;
  std::vector<Node> items;     // list
  std::vector<Entry> entries;  // map, in the order of the file; keys are unique

  bool is_null() const { return kind == Kind::null; }
  const Entry* find(std::string_view key) const;
};

struct Entry {
  std::string key;
  Mark mark;
  Node value;
};

// The tree, as far as errors leave one; nothing when it cannot be read at all.
std::optional<Node> parse(std::string_view text, Diagnostics& out);

}  // namespace frond::config::yaml
