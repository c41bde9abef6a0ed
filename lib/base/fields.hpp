// SPDX-License-Identifier: BSD-3-Clause
// A struct's options, declared once beside the struct; the YAML codec, the CLI, gNMI, the JSON
// schema and the docs derive from that declaration.
//
//   struct Config {
//     std::uint32_t queue_limit = 16;   // the default is the member's initialiser
//     Time timeout = Time::ms(500);
//     Mode mode = Mode::compact;        // constexpr auto enum_names(Mode) beside the enum
//     template <class F>
//     static void fields(F& f) {
//       f("queue_limit", &Config::queue_limit, "packets", "Packets that wait for one neighbour",
//         frond::range(1, 1024));
//       f("timeout", &Config::timeout, "", "How long an answer may take");
//       f("mode", &Config::mode, "", "Which table");
//     }
//   };
//
// Members may be: bool, integers, std::string, Time, Rate, Bytes, Probability, addresses and
// whatever else has parse(text) and to_string(), enums with names, structs with fields(),
// std::optional of those (absent, or `auto` in text: Frond decides), std::vector, and Named<T> (a
// map that keeps the order of the file). Unit is "" where the text carries its own (`10us`, `100G`,
// `64KiB`, `0.1%`).
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/address.hpp"
#include "base/result.hpp"
#include "base/units.hpp"

namespace frond {

// A map from name to T in the order of the file; names are unique.
template <class T> struct Named : std::vector<std::pair<std::string, T>> {
  using std::vector<std::pair<std::string, T>>::vector;
  const T* find(std::string_view name) const {
    for (const auto& [key, value] : *this) {
      if (key == name) return &value;
    }
    return nullptr;
  }
  T* find(std::string_view name) { return const_cast<T*>(std::as_const(*this).find(name)); }
};

// What a value must satisfy beyond its type. Bounds are in the type's own unit (a count,
// nanoseconds, bits a second, bytes, parts of 2^32) and included; lists: bounds on each element.
struct Constraint {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
  bool required = false;
  constexpr bool bounded() const {
    return min != std::numeric_limits<std::int64_t>::min() ||
           max != std::numeric_limits<std::int64_t>::max();
  }
  friend constexpr Constraint operator|(Constraint a, Constraint b) {
    return {std::max(a.min, b.min), std::min(a.max, b.max), a.required || b.required};
  }
};

inline constexpr Constraint required = {std::numeric_limits<std::int64_t>::min(),
                                        std::numeric_limits<std::int64_t>::max(), true};

constexpr std::int64_t magnitude(std::integral auto n) { return static_cast<std::int64_t>(n); }
constexpr std::int64_t magnitude(Time t) { return t.ns(); }
constexpr std::int64_t magnitude(Rate r) { return static_cast<std::int64_t>(r.bps()); }
constexpr std::int64_t magnitude(Bytes b) { return static_cast<std::int64_t>(b.count()); }
constexpr std::int64_t magnitude(Probability f) { return static_cast<std::int64_t>(f.parts()); }

template <class T>
concept Quantity = !std::same_as<T, bool> && requires(const T& v) {
  magnitude(v);
};

template <class A, class B>
requires Quantity<A> && Quantity<B>
constexpr Constraint range(A lowest, B highest) {
  return {magnitude(lowest), magnitude(highest), false};
}
template <class A>
requires Quantity<A>
constexpr Constraint at_least(A lowest) {
  return {magnitude(lowest), std::numeric_limits<std::int64_t>::max(), false};
}

// Kinds of member.
struct FieldProbe {
  template <class... A> void operator()(A&&...) {}
};
template <class T>
concept Described = requires(FieldProbe& f) {
  T::fields(f);
};
template <class T>
concept NamedEnum = std::is_enum_v<T> && requires {
  enum_names(T{}).size();
};
template <class T>
concept TextValue = !Described<T> && requires(const T& v) {
  { T::parse(std::string_view()) } -> std::same_as<std::optional<T>>;
  { v.to_string() } -> std::same_as<std::string>;
};
template <class T>
concept Scalar =
    std::integral<T> || std::same_as<T, std::string> || Quantity<T> || NamedEnum<T> || TextValue<T>;

template <class T> struct ListOf : std::false_type {};
template <class T> struct ListOf<std::vector<T>> : std::true_type { using Element = T; };
template <class T> struct NamedOf : std::false_type {};
template <class T> struct NamedOf<Named<T>> : std::true_type { using Element = T; };
template <class T> struct OptionalOf : std::false_type {};
template <class T> struct OptionalOf<std::optional<T>> : std::true_type { using Element = T; };

// What a type is called in an error and in the schema, and how it looks. A type of one's own may
// have `static constexpr std::string_view kTypeName, kExample`.
struct TypeText {
  std::string_view name;
  std::string_view example;
};
template <class T> constexpr TypeText type_text() {
  if constexpr (std::same_as<T, bool>)
    return {"true or false", "true"};
  else if constexpr (std::integral<T>)
    return {"a whole number", "4"};
  else if constexpr (std::same_as<T, std::string>)
    return {"text", "name"};
  else if constexpr (std::same_as<T, Time>)
    return {"a time with its unit", "10us"};
  else if constexpr (std::same_as<T, Rate>)
    return {"a rate with its unit", "100G"};
  else if constexpr (std::same_as<T, Bytes>)
    return {"a size", "64KiB"};
  else if constexpr (std::same_as<T, Probability>)
    return {"a probability", "0.1%"};
  else if constexpr (std::same_as<T, MacAddress>)
    return {"a MAC address", "02:00:00:00:00:01"};
  else if constexpr (std::same_as<T, Ip4>)
    return {"an IPv4 address", "10.0.1.1"};
  else if constexpr (std::same_as<T, Ip6>)
    return {"an IPv6 address", "fd00::1"};
  else if constexpr (std::same_as<T, IpAddress>)
    return {"an IP address", "10.0.1.1"};
  else if constexpr (std::same_as<T, IpPrefix>)
    return {"an address with its length", "10.0.1.0/31"};
  else if constexpr (requires {
                       T::kTypeName;
                       T::kExample;
                     })
    return {T::kTypeName, T::kExample};
  else if constexpr (NamedEnum<T>)
    return {"one of a few words", enum_names(T{})[0]};
  else
    return {"text", ""};
}

// One scalar as text, and back. The error says what was expected; the caller knows where.
template <Scalar T> std::string to_text(const T& value) {
  if constexpr (std::same_as<T, bool>)
    return value ? "true" : "false";
  else if constexpr (std::integral<T>)
    return std::to_string(value);
  else if constexpr (std::same_as<T, std::string>)
    return value;
  else if constexpr (NamedEnum<T>)
    return std::string(enum_names(T{})[static_cast<std::size_t>(value)]);
  else if constexpr (TextValue<T>)
    return value.to_string();
  else
    return format(value);
}

template <Scalar T> std::optional<T> from_text(std::string_view text) {
  if constexpr (std::same_as<T, bool>) {
    if (text == "true" || text == "on" || text == "yes") return true;
    if (text == "false" || text == "off" || text == "no") return false;
    return std::nullopt;
  } else if constexpr (std::integral<T>) {
    T value{};
    const char* first = text.data();
    int base = 10;
    if (text.starts_with("0x") && text.size() > 2 && text[2] != '-') {
      first += 2;
      base = 16;
    }
    const auto [end, error] = std::from_chars(first, text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
  } else if constexpr (std::same_as<T, std::string>) {
    return std::string(text);
  } else if constexpr (NamedEnum<T>) {
    const auto names = enum_names(T{});
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == text) return static_cast<T>(i);
    }
    return std::nullopt;
  } else if constexpr (TextValue<T>) {
    return T::parse(text);
  } else if constexpr (std::same_as<T, Time>) {
    return parse_time(text);
  } else if constexpr (std::same_as<T, Rate>) {
    return parse_rate(text);
  } else if constexpr (std::same_as<T, Bytes>) {
    return parse_bytes(text);
  } else {
    return parse_probability(text);
  }
}

// "a rate with its unit, such as 100G", "one of compact, large".
template <Scalar T> std::string expected_text() {
  if constexpr (NamedEnum<T>) {
    std::string list;
    for (std::string_view name : enum_names(T{})) {
      list += (list.empty() ? "one of " : ", ") + std::string(name);
    }
    return list;
  } else {
    const TypeText t = type_text<T>();
    std::string text(t.name);
    if (!std::integral<T> && !std::same_as<T, std::string> && !t.example.empty()) {
      text += ", such as " + std::string(t.example);
    }
    return text;
  }
}

// The bound that a value breaks ("must be at least 1"), or "".
template <Scalar T> std::string broken_bound(const T& value, const Constraint& constraint) {
  if constexpr (Quantity<T>) {
    const auto bound = [](std::int64_t n) {
      if constexpr (std::same_as<T, Time>)
        return format(Time::ns(n));
      else if constexpr (std::same_as<T, Rate>)
        return format(Rate::bps(static_cast<std::uint64_t>(n)));
      else if constexpr (std::same_as<T, Bytes>)
        return format(Bytes(static_cast<std::uint64_t>(n)));
      else if constexpr (std::same_as<T, Probability>)
        return format(Probability::parts(static_cast<std::uint64_t>(n)));
      else
        return std::to_string(n);
    };
    const std::int64_t n = magnitude(value);
    // An unsigned 64-bit value above the signed range is above every bound there is.
    if constexpr (std::unsigned_integral<T>) {
      if (n < 0) return constraint.bounded() ? "must be at most " + bound(constraint.max) : "";
    }
    if (n < constraint.min) return "must be at least " + bound(constraint.min);
    if (n > constraint.max) return "must be at most " + bound(constraint.max);
  }
  return "";
}

struct FieldInfo {
  std::string_view name;
  std::string_view unit;
  std::string_view help;
  Constraint constraint;
};

// Calls fn(const FieldInfo&, member&) for each field of the object, in declared order.
template <class T, class Fn> void for_each_field(T& object, Fn&& fn) {
  using Object = std::remove_const_t<T>;
  auto visitor = [&](std::string_view name, auto member, std::string_view unit,
                     std::string_view help, Constraint constraint = {}) {
    fn(FieldInfo{name, unit, help, constraint}, object.*member);
  };
  Object::fields(visitor);
}

namespace detail {

template <class M> Status set_value(M& member, const FieldInfo& info, std::string_view text) {
  if constexpr (OptionalOf<M>::value) {
    if (text == "auto") {
      member.reset();
      return {};
    }
    typename OptionalOf<M>::Element value{};
    if (member) value = *member;
    auto status = set_value(value, info, text);
    if (status) member = std::move(value);
    return status;
  } else if constexpr (Scalar<M>) {
    const auto value = from_text<M>(text);
    if (!value) {
      return Error{
          Error::Code::invalid_argument,
          std::string(info.name) + ": '" + std::string(text) + "' is not " + expected_text<M>()};
    }
    if (auto why = broken_bound(*value, info.constraint); !why.empty()) {
      return Error{Error::Code::invalid_argument, std::string(info.name) + " " + why};
    }
    member = *value;
    return {};
  } else {
    return Error{Error::Code::invalid_argument, std::string(info.name) + " is not a single value"};
  }
}

}  // namespace detail

// Sets one field from text; the path is dotted (`icmp.rate`). For CLI arguments and gNMI Set. The
// object is unchanged after an error.
template <Described T> Status set_field(T& object, std::string_view path, std::string_view text) {
  const std::string_view head = path.substr(0, path.find('.'));
  Status status = Error{Error::Code::not_found, "no option is called '" + std::string(head) + "'"};
  for_each_field(object, [&](const FieldInfo& info, auto& member) {
    if (info.name != head) return;
    using M = std::remove_reference_t<decltype(member)>;
    if constexpr (Described<M>) {
      if (head.size() < path.size())
        status = set_field(member, path.substr(head.size() + 1), text);
      else
        status = Error{Error::Code::invalid_argument, std::string(head) + " is not a single value"};
    } else if (head.size() == path.size()) {
      status = detail::set_value(member, info, text);
    }
  });
  return status;
}

// A value as one line of text, for diffs and messages: scalars as to_text, {a: 1, b: 2}, [1, 2].
template <class T> std::string flow_text(const T& value) {
  if constexpr (OptionalOf<T>::value) {
    return value ? flow_text(*value) : "auto";
  } else if constexpr (Scalar<T>) {
    return to_text(value);
  } else if constexpr (ListOf<T>::value) {
    std::string text;
    for (const typename ListOf<T>::Element& v : value)
      text += (text.empty() ? "" : ", ") + flow_text(v);
    return "[" + text + "]";
  } else if constexpr (NamedOf<T>::value) {
    std::string text;
    for (const auto& [k, v] : value) text += (text.empty() ? "" : ", ") + k + ": " + flow_text(v);
    return "{" + text + "}";
  } else {
    std::string text;
    for_each_field(value, [&](const FieldInfo& info, const auto& member) {
      text += (text.empty() ? "" : ", ") + std::string(info.name) + ": " + flow_text(member);
    });
    return "{" + text + "}";
  }
}

// Calls fn(path, before, after) with texts for each field that differs; nested structs by field,
// lists and maps whole.
template <Described T, class Fn>
void diff_fields(const T& before, const T& after, Fn&& fn, const std::string& prefix = "") {
  auto visitor = [&](std::string_view name, auto member, std::string_view, std::string_view,
                     Constraint = {}) {
    const auto& a = before.*member;
    const auto& b = after.*member;
    using M = std::remove_cvref_t<decltype(a)>;
    const std::string path = prefix + std::string(name);
    if constexpr (Described<M>) {
      diff_fields(a, b, fn, path + ".");
    } else {
      std::string x = flow_text(a);
      std::string y = flow_text(b);
      if (x != y) fn(path, std::move(x), std::move(y));
    }
  };
  T::fields(visitor);
}

}  // namespace frond
