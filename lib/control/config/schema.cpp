// SPDX-License-Identifier: BSD-3-Clause
#include "control/config/schema.hpp"

#include <nlohmann/json.hpp>

#include "control/config/decode.hpp"
#include "control/config/fabric_config.hpp"

namespace frond::config {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kNumber = "[0-9]+(\\.[0-9]+)? *";

Json pattern(const std::string& tail) {
  return {{"type", "string"}, {"pattern", "^" + std::string(kNumber) + tail + "$"}};
}

template <class T> Json schema(const Constraint& constraint);

template <class T> Json number(const Constraint& c) {
  Json s = {{"type", "integer"}};
  if constexpr (std::is_unsigned_v<T>) {
    s["minimum"] = std::max<std::int64_t>(c.min, 0);
  } else {
    s["minimum"] = std::max<std::int64_t>(c.min, std::numeric_limits<T>::min());
  }
  const bool bounded = c.max != std::numeric_limits<std::int64_t>::max() &&
                       std::cmp_less(c.max, std::numeric_limits<T>::max());
  if (bounded)
    s["maximum"] = c.max;
  else
    s["maximum"] = std::numeric_limits<T>::max();
  return s;
}

// A quantity may be a bare 0, where 0 is in its bounds.
Json or_zero(Json s, const Constraint& c) {
  if (c.min > 0) return s;
  return {{"anyOf", Json::array({std::move(s), {{"const", 0}}})}};
}

template <class T> Json scalar(const Constraint& c) {
  if constexpr (std::is_same_v<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::integral<T>) {
    return number<T>(c);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return {{"type", Json::array({"string", "number", "boolean"})}};
  } else if constexpr (NamedEnum<T>) {
    Json words = Json::array();
    for (std::string_view name : enum_names(T{})) {
      words.push_back(std::string(name));
      if (name == "null") words.push_back(nullptr);  // written without quotes
    }
    return {{"enum", words}};
  } else if constexpr (std::is_same_v<T, Time>) {
    return or_zero(pattern("(ns|us|ms|s|min|h)"), c);
  } else if constexpr (std::is_same_v<T, Rate>) {
    return or_zero(pattern("([kKMGT]|b|[kKMGT]?(b/s|bps|bit/s))"), c);
  } else if constexpr (std::is_same_v<T, Bytes>) {
    Json plain = {{"type", "integer"}, {"minimum", std::max<std::int64_t>(c.min, 0)}};
    if (c.max != std::numeric_limits<std::int64_t>::max()) plain["maximum"] = c.max;
    return {{"anyOf", Json::array({plain, pattern("([kKMGT]?B?|[kKMGT]iB)")})}};
  } else if constexpr (std::is_same_v<T, Probability>) {
    return {{"anyOf", Json::array({Json{{"type", "number"}, {"minimum", 0}, {"maximum", 1}},
                                   pattern("%?")})}};
  } else if constexpr (std::is_same_v<T, MacAddress>) {
    return {{"type", "string"}, {"pattern", "^([0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}$"}};
  } else if constexpr (std::is_same_v<T, IpPrefix>) {
    return {{"type", "string"}, {"pattern", "^[0-9a-fA-F:.]+(/[0-9]{1,3})?$"}};
  } else {
    return {{"type", "string"}};
  }
}

template <class T> std::string default_text(const T& value) {
  if constexpr (Scalar<T>)
    return to_text(value);
  else
    return "";
}

template <Described T> Json object() {
  Json properties = Json::object();
  Json needed = Json::array();
  const T defaults{};
  for_each_field(defaults, [&](const FieldInfo& info, const auto& member) {
    using M = std::remove_cvref_t<decltype(member)>;
    Json s = schema<M>(info.constraint);
    std::string help(info.help);
    if (!info.unit.empty() && help.find(info.unit) == std::string::npos) {
      help += " [" + std::string(info.unit) + "]";
    }
    s["description"] = help;
    const std::string text = default_text(member);
    if (!info.constraint.required && !text.empty()) {
      if constexpr (std::integral<M>)
        s["default"] = member;
      else
        s["default"] = text;
    }
    properties[std::string(info.name)] = std::move(s);
    if (info.constraint.required) needed.push_back(std::string(info.name));
  });
  Json s = {{"type", "object"}};
  // `hosts:` with nothing behind it is all defaults.
  if (needed.empty()) s["type"] = Json::array({"object", "null"});
  s["additionalProperties"] = false;
  if (!needed.empty()) s["required"] = needed;
  s["properties"] = std::move(properties);
  return s;
}

template <Described T> Json described() {
  Json s = object<T>();
  if (!has_shorthand<T>()) return s;
  Json word;
  bool first = true;
  const T defaults{};
  for_each_field(defaults, [&](const FieldInfo& info, const auto& member) {
    using M = std::remove_cvref_t<decltype(member)>;
    if (first) word = schema<M>(info.constraint);
    first = false;
  });
  return {{"anyOf", Json::array({std::move(word), std::move(s)})}};
}

template <class T> Json schema(const Constraint& c) {
  if constexpr (Described<T>) {
    return described<T>();
  } else if constexpr (OptionalOf<T>::value) {
    Json s = schema<typename OptionalOf<T>::Element>(c);
    Json choices = Json::array({std::move(s), {{"const", "auto"}}, {{"type", "null"}}});
    return {{"anyOf", std::move(choices)}};
  } else if constexpr (ListOf<T>::value) {
    return {{"type", Json::array({"array", "null"})},
            {"items", schema<typename ListOf<T>::Element>(c)}};
  } else if constexpr (NamedOf<T>::value) {
    return {{"type", Json::array({"object", "null"})},
            {"additionalProperties", schema<typename NamedOf<T>::Element>(c)}};
  } else {
    return scalar<T>(c);
  }
}

}  // namespace

std::string json_schema() {
  Json s = {
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"title", "Frond fabric"},
      {"description", "One fabric: its topology, switches, hosts and what a simulation does"}};
  s.update(object<FabricConfig>());
  s["properties"]["version"] = {{"const", kVersion}, {"description", "Version of this format"}};
  return s.dump(2) + "\n";
}

}  // namespace frond::config
