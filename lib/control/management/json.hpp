// SPDX-License-Identifier: BSD-3-Clause
// Leaves as JSON: plain ("json": numbers are numbers) or by RFC 7951 ("json_ietf": 64-bit and
// decimal numbers are strings, names carry their module where it changes).
#pragma once

#include <nlohmann/json.hpp>

#include <span>

#include "control/management/tree.hpp"

namespace frond::management {

using Json = nlohmann::ordered_json;
enum class JsonStyle : std::uint8_t { plain, ietf };

Json to_json(const Value& value, JsonStyle style);

// The subtree under the first `depth` elements of the leaves' paths, which they share. With one
// leaf of that very depth: its value.
Json to_json(std::span<const Leaf> leaves, std::size_t depth, JsonStyle style);

// A leaf's value from JSON; nothing for an object or null.
std::optional<Value> from_json(const Json& json);

}  // namespace frond::management
