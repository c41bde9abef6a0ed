// SPDX-License-Identifier: BSD-3-Clause
#include "control/management/json.hpp"

#include <fmt/format.h>

namespace frond::management {
namespace {

// The module that defines an element: openconfig-if-ethernet augments openconfig-interfaces, and
// openconfig-platform's tree has augments of its own.
std::string_view module_of(const std::vector<PathElem>& path, std::size_t i,
                           std::string_view origin) {
  if (origin == "frond") return "frond";
  if (path[0].name == "components") {
    if (i >= 3) return "openconfig-platform-pipeline-counters";
    return i == 2 ? "openconfig-platform-integrated-circuit" : "openconfig-platform";
  }
  for (std::size_t k = 0; k <= i; ++k) {
    if (path[k].name == "ethernet") return "openconfig-if-ethernet";
  }
  return "openconfig-interfaces";
}

std::string member_name(const Leaf& leaf, std::size_t i, std::size_t depth, JsonStyle style) {
  const std::string& name = leaf.path[i].name;
  if (style == JsonStyle::plain) return name;
  const std::string_view module = module_of(leaf.path, i, leaf.row->origin);
  const bool same = i > depth && module == module_of(leaf.path, i - 1, leaf.row->origin);
  return same ? name : fmt::format("{}:{}", module, name);
}

// The entry of a list with these keys; made when absent. Leaves come in the order of their
// entries, so it is nearly always the last.
Json& entry(Json& list, const PathElem& elem) {
  for (auto it = list.rbegin(); it != list.rend(); ++it) {
    bool same = true;
    for (const auto& [key, value] : elem.keys) same = same && (*it)[key] == value;
    if (same) return *it;
  }
  Json fresh = Json::object();
  for (const auto& [key, value] : elem.keys) fresh[key] = value;
  list.push_back(std::move(fresh));
  return list.back();
}

}  // namespace

Json to_json(const Value& value, JsonStyle style) {
  return std::visit(
      [&](const auto& v) -> Json {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::uint64_t> || std::is_same_v<T, double>) {
          if (style == JsonStyle::ietf) return fmt::format("{}", v);
        }
        return v;
      },
      value);
}

Json to_json(std::span<const Leaf> leaves, std::size_t depth, JsonStyle style) {
  if (leaves.size() == 1 && leaves[0].path.size() == depth) return to_json(leaves[0].value, style);
  Json root = Json::object();
  // A query that ends at a list entry: its keys are leaves of the entry.
  if (!leaves.empty() && depth > 0) {
    for (const auto& [key, value] : leaves[0].path[depth - 1].keys) root[key] = value;
  }
  for (const Leaf& leaf : leaves) {
    Json* at = &root;
    for (std::size_t i = depth; i < leaf.path.size(); ++i) {
      at = &(*at)[member_name(leaf, i, depth, style)];
      if (leaf.path[i].keys.empty()) continue;
      if (at->is_null()) *at = Json::array();
      at = &entry(*at, leaf.path[i]);
    }
    *at = to_json(leaf.value, style);
  }
  return root;
}

std::optional<Value> from_json(const Json& json) {
  switch (json.type()) {
    case Json::value_t::boolean:
      return Value(json.get<bool>());
    case Json::value_t::number_unsigned:
      return Value(json.get<std::uint64_t>());
    case Json::value_t::number_integer:
    case Json::value_t::number_float:
      return Value(json.get<double>());
    case Json::value_t::string:
      return Value(json.get<std::string>());
    default:
      return {};
  }
}

}  // namespace frond::management
