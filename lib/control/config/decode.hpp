// SPDX-License-Identifier: BSD-3-Clause
// YAML tree -> struct, by its fields(). Every error is reported; what is wrong keeps its default,
// so that checks of the whole can go on.
#pragma once

#include <cctype>
#include <string>
#include <type_traits>
#include <vector>

#include "base/fields.hpp"
#include "control/config/diagnostic.hpp"
#include "control/config/nearest.hpp"
#include "control/config/yaml_tree.hpp"

namespace frond::config {

// The struct's first field, when it is an enum: a word in place of the map stands for it, so
// `topology: fat-tree` is `topology: {type: fat-tree}`.
template <Described T> bool has_shorthand() {
  bool first = true;
  bool found = false;
  auto visitor = [&](std::string_view, auto member, std::string_view, std::string_view,
                     Constraint = {}) {
    using M = std::remove_cvref_t<decltype(std::declval<T&>().*member)>;
    if (first) found = NamedEnum<M>;
    first = false;
  };
  T::fields(visitor);
  return found;
}

class Decoder {
 public:
  explicit Decoder(Diagnostics& out) : out_(out) {}

  // where: "links[2]", or "" for the file as a whole.
  template <Described T> void object(const yaml::Node& node, T& value, const std::string& where) {
    if (node.is_null() && node.text.empty()) return check_required(node, value, where);
    if (node.kind == yaml::Node::Kind::scalar && has_shorthand<T>()) {
      return shorthand(node, value, where);
    }
    if (node.kind != yaml::Node::Kind::map) {
      return wrong_kind(node, where, "a map of options ({key: value})");
    }
    std::vector<std::string> known;
    for_each_field(value, [&](const FieldInfo& info, auto& member) {
      known.emplace_back(info.name);
      if (const yaml::Entry* entry = node.find(info.name)) {
        this->value(entry->value, member, info, path(where, info.name));
      } else if (info.constraint.required) {
        missing(node, where, info);
      }
    });
    for (const yaml::Entry& e : node.entries) unknown(e, where, known);
  }

  template <class T>
  void value(const yaml::Node& node, T& value, const FieldInfo& info, const std::string& where) {
    if constexpr (Described<T>) {
      object(node, value, where);
    } else if constexpr (OptionalOf<T>::value) {
      optional(node, value, info, where);
    } else if constexpr (ListOf<T>::value) {
      list(node, value, info, where);
    } else if constexpr (NamedOf<T>::value) {
      named(node, value, info, where);
    } else {
      scalar(node, value, info, where);
    }
  }

 private:
  static std::string path(const std::string& where, std::string_view name) {
    return where.empty() ? std::string(name) : where + "." + std::string(name);
  }

  template <class T>
  void check_required(const yaml::Node& node, T& value, const std::string& where) {
    for_each_field(value, [&](const FieldInfo& info, auto&) {
      if (info.constraint.required) missing(node, where, info);
    });
  }

  template <class T> void shorthand(const yaml::Node& node, T& value, const std::string& where) {
    bool first = true;
    for_each_field(value, [&](const FieldInfo& info, auto& member) {
      if (first) this->value(node, member, info, where);
      first = false;
    });
  }

  template <class T>
  void optional(const yaml::Node& node, T& value, const FieldInfo& info, const std::string& where) {
    using Element = typename OptionalOf<T>::Element;
    const bool word = node.kind == yaml::Node::Kind::scalar && node.text == "auto";
    if (word && !std::is_same_v<Element, std::string>) return value.reset();
    if constexpr (!NamedEnum<Element>) {
      if (node.is_null()) return;
    }
    Element element{};
    const std::size_t errors = out_.errors();
    this->value(node, element, info, where);
    // What is wrong is as if absent, so that no check speaks of a value that nobody wrote.
    if (out_.errors() == errors || Described<Element>) value = std::move(element);
  }

  template <class T>
  void list(const yaml::Node& node, T& value, const FieldInfo& info, const std::string& where) {
    if (node.is_null() && node.text.empty()) return;
    if (node.kind != yaml::Node::Kind::list) return wrong_kind(node, where, "a list ([a, b])");
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      typename ListOf<T>::Element element{};
      this->value(node.items[i], element, info, where + "[" + std::to_string(i) + "]");
      value.push_back(std::move(element));
    }
  }

  template <class T>
  void named(const yaml::Node& node, T& value, const FieldInfo& info, const std::string& where) {
    if (node.is_null() && node.text.empty()) return;
    if (node.kind != yaml::Node::Kind::map) {
      return wrong_kind(node, where, "a map of names ({name: {...}})");
    }
    for (const yaml::Entry& e : node.entries) {
      typename NamedOf<T>::Element element{};
      this->value(e.value, element, info, path(where, printable(e.key, 32)));
      value.emplace_back(e.key, std::move(element));
    }
  }

  template <class T>
  void scalar(const yaml::Node& node, T& value, const FieldInfo& info, const std::string& where) {
    // `null` is also the name of a driver; YAML cannot know.
    const bool word = node.is_null() && !node.text.empty() && NamedEnum<T>;
    if (node.is_null() && !word) {
      return out_.error(node.mark, "empty-value",
                        where + " is empty; expected " + expected_text<T>());
    }
    if (node.kind != yaml::Node::Kind::scalar && !word) {
      return wrong_kind(node, where, expected_text<T>());
    }
    if (std::integral<T> && node.quoted) {
      return out_.error(node.mark, "quoted",
                        where + ": \"" + printable(node.text) + "\" is text; expected " +
                            expected_text<T>() + ", without quotes");
    }
    // YAML 1.2 has true and false only; other words would mean something else to other readers.
    const bool spelling = std::is_same_v<T, bool> && node.text != "true" && node.text != "false";
    auto parsed = spelling ? std::nullopt : from_text<T>(node.text);
    if (!parsed) {
      return out_.error(node.mark, "wrong-type",
                        where + ": '" + printable(node.text) + "' is not " + expected_text<T>(),
                        suggest<T>(node.text));
    }
    if (auto why = broken_bound(*parsed, info.constraint); !why.empty()) {
      return out_.error(node.mark, "out-of-range",
                        where + " " + why + ", not " + printable(node.text));
    }
    value = std::move(*parsed);
  }

  // The same with the usual slips undone.
  template <class T> static std::string suggest(std::string_view text) {
    if constexpr (NamedEnum<T>) {
      std::vector<std::string> names;
      for (std::string_view n : enum_names(T{})) names.emplace_back(n);
      return nearest(text, names);
    } else if constexpr (std::is_same_v<T, bool>) {
      const auto value = from_text<bool>(lower(text));
      return value ? to_text(*value) : nearest(text, {"true", "false"});
    } else if constexpr (!std::is_same_v<T, std::string>) {
      for (const std::string& variant : variants<T>(text)) {
        if (from_text<T>(variant)) return variant;
      }
    }
    return {};
  }

  static std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return out;
  }

  // Guesses at what a malformed quantity meant: its unit in another spelling, or forgotten.
  template <class T> static std::vector<std::string> variants(std::string_view text) {
    std::vector<std::string> out;
    std::string compact;
    for (char c : text) {
      if (c != ' ' && c != '_' && c != ',' && c != '"') compact += c;
    }
    const std::size_t digits = std::min(compact.find_first_not_of("0123456789."), compact.size());
    const std::string number = compact.substr(0, digits);
    const std::string unit = lower(compact.substr(digits));
    if (number.empty()) return out;
    if constexpr (std::is_integral_v<T>) {
      const std::size_t point = number.find('.');
      out.push_back(number.substr(0, point));
    } else if constexpr (std::is_same_v<T, Rate>) {
      if (unit.empty()) out.push_back(number + "G");
      if (!unit.empty() && std::string_view("kmgt").find(unit[0]) != std::string_view::npos) {
        out.push_back(number + static_cast<char>(std::toupper(unit[0])));
      }
    } else if constexpr (std::is_same_v<T, Time>) {
      if (unit.empty()) out.push_back(number + "us");
      for (std::string_view u : {"ns", "us", "ms", "min", "s", "h"}) {
        if (unit.starts_with(u)) out.push_back(number + std::string(u));
      }
      if (unit.starts_with("n")) out.push_back(number + "ns");
      if (unit.starts_with("mic") || unit.starts_with("\xc2\xb5") || unit == "u") {
        out.insert(out.begin(), number + "us");
      }
      if (unit.starts_with("mil")) out.insert(out.begin(), number + "ms");
      if (unit.starts_with("m")) out.push_back(number + "ms");
    } else if constexpr (std::is_same_v<T, Bytes>) {
      if (!unit.empty() && std::string_view("kmgt").find(unit[0]) != std::string_view::npos) {
        const char k = static_cast<char>(std::toupper(unit[0]));
        out.push_back(number + k + (unit.find('i') != std::string::npos ? "iB" : "B"));
      }
      out.push_back(number);
    } else if constexpr (std::is_same_v<T, Probability>) {
      out.push_back(number + "%");
    } else if constexpr (std::is_same_v<T, MacAddress>) {
      std::string mac = lower(compact);
      for (char& c : mac) c = c == '-' ? ':' : c;
      out.push_back(mac);
    }
    return out;
  }

  void missing(const yaml::Node& node, const std::string& where, const FieldInfo& info) {
    out_.error(node.mark.line > 0 ? node.mark : Mark{1, 1}, "missing-key",
               (where.empty() ? "the file" : where) + " lacks '" + std::string(info.name) +
                   "': " + std::string(info.help));
  }

  void unknown(const yaml::Entry& e, const std::string& where,
               const std::vector<std::string>& known) {
    if (std::find(known.begin(), known.end(), e.key) != known.end()) return;
    out_.error(e.mark, "unknown-key",
               "unknown key '" + printable(e.key) + "'" + (where.empty() ? "" : " in " + where),
               out_.full() ? "" : nearest(e.key, known));
  }

  void wrong_kind(const yaml::Node& node, const std::string& where, const std::string& expected) {
    static constexpr std::string_view kKinds[] = {"nothing", "a single value", "a list", "a map"};
    out_.error(node.mark, "wrong-type",
               (where.empty() ? "the file" : where) + " is " +
                   std::string(kKinds[static_cast<std::size_t>(node.kind)]) + "; expected " +
                   expected);
  }

  Diagnostics& out_;
};

}  // namespace frond::config
