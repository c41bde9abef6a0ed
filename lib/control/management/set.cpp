// SPDX-License-Identifier: BSD-3-Clause
// Set: works out what the configuration of each interface shall be, checks all of it, and only then
// changes the fabric; what was changed before a failure is put back (3.4.3).
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "control/management/convert.hpp"
#include "control/management/gnmi_rpc.hpp"
#include "control/management/json.hpp"

namespace frond::management {
namespace {

constexpr int kMaxSetOperations = 1024;
constexpr std::size_t kMaxSetValue = 1 << 20;

Error invalid(std::string message) { return {Error::Code::invalid_argument, std::move(message)}; }

using Target = std::pair<std::string, std::string>;  // node, port

struct State {
  InterfaceConfig config;
  bool impairable = false;
  bool here = true;  // else the far end of a link, in another process: what comes from there
};

class Transaction {
 public:
  explicit Transaction(const Fabric& fabric) {
    const Snapshot s = Snapshot::take(fabric, kNodes | kLinks);
    for (const Node& node : s.nodes) {
      for (const Interface& interface : node.interfaces) {
        State state;
        state.config.enabled = interface.admin_up;
        if (const LinkEnd* end = s.end(node.name, interface.name)) {
          state.impairable = true;
          state.config.impairment = end->out;
        }
        now_.emplace(Target{node.name, interface.name}, state);
      }
    }
    for (const Link& link : s.links) {
      for (const LinkEnd* end : {&link.a, &link.b}) {
        State state{.config = {}, .impairable = true, .here = false};
        state.config.impairment = end->out;
        if (link.impairable) now_.emplace(Target{end->node, end->port}, state);
      }
    }
    wanted_ = now_;
  }

  // Back to the defaults: everything that can be set at or under the path.
  Status reset(const Path& path) {
    auto found = find_rows({.path = path});
    if (!found) return not_found(found.error());
    bool any = false;
    for (const Row* row : *found) {
      if (!row->writable()) continue;
      any = true;
      for (auto& [target, state] : wanted_) {
        if (row->kind == Kind::impairment ? !state.impairable : !state.here) continue;
        if (match(path.elems, concrete(*row, target)) == Match::none) continue;
        if (auto s = row->set(state.config, std::nullopt); !s) return s;
      }
    }
    if (!any) return read_only(path);
    return {};
  }

  Status assign(const Path& path, const gnmi::TypedValue& value) {
    if (has_wildcard(path.elems)) {
      return invalid(fmt::format("{}: only a delete may have wildcards", path.to_string()));
    }
    if (auto found = find_rows({.path = path}); !found) return not_found(found.error());
    switch (value.value_case()) {
      case gnmi::TypedValue::kJsonVal:
        return assign_json(path, value.json_val());
      case gnmi::TypedValue::kJsonIetfVal:
        return assign_json(path, value.json_ietf_val());
      case gnmi::TypedValue::kStringVal:
        return assign_leaf(path, value.string_val());
      case gnmi::TypedValue::kBoolVal:
        return assign_leaf(path, value.bool_val());
      case gnmi::TypedValue::kUintVal:
        return assign_leaf(path, std::uint64_t{value.uint_val()});
      case gnmi::TypedValue::kIntVal:
        if (value.int_val() < 0) return assign_leaf(path, static_cast<double>(value.int_val()));
        return assign_leaf(path, static_cast<std::uint64_t>(value.int_val()));
      case gnmi::TypedValue::kDoubleVal:
        return assign_leaf(path, value.double_val());
      case gnmi::TypedValue::VALUE_NOT_SET:
        return invalid(fmt::format("{}: the update has no value", path.to_string()));
      default:
        return Error{
            Error::Code::unimplemented,
            fmt::format("{}: values come as scalars, JSON or JSON_IETF", path.to_string())};
    }
  }

  // Changes the fabric from what it was to what is wanted.
  Status commit(Fabric& fabric) const {
    for (auto it = wanted_.begin(); it != wanted_.end(); ++it) {
      Status s = change(fabric, it->first, now_.at(it->first).config, it->second.config);
      if (s) continue;
      // Backwards, what was changed so far, this one included: half of it may be done.
      for (auto back = std::next(it); back != wanted_.begin();) {
        --back;
        (void)change(fabric, back->first, back->second.config, now_.at(back->first).config);
      }
      return Error{s.error().code, fmt::format("{}:{}: {}; nothing was changed", it->first.first,
                                               it->first.second, s.error().message)};
    }
    return {};
  }

 private:
  static Error not_found(Error e) { return {Error::Code::not_found, std::move(e.message)}; }
  static Error read_only(const Path& path) {
    return invalid(fmt::format("{} is state; only config can be set", path.to_string()));
  }

  static Status change(Fabric& fabric, const Target& target, const InterfaceConfig& from,
                       const InterfaceConfig& to) {
    if (!(from.impairment == to.impairment)) {
      if (auto s = fabric.set_impairment(target.first, target.second, to.impairment); !s) return s;
    }
    if (from.enabled != to.enabled)
      return fabric.set_link_admin(target.first, target.second, to.enabled);
    return {};
  }

  static std::vector<PathElem> concrete(const Row& row, const Target& target) {
    std::vector<PathElem> path = schema_path(row);
    std::vector<std::string> values = {target.first, target.second};
    if (row.kind == Kind::interface) values = {target.first + ":" + target.second};
    std::size_t next = 0;
    for (PathElem& elem : path) {
      for (auto& [name, value] : elem.keys) value = values[next++];
    }
    return path;
  }

  Status assign_json(const Path& path, const std::string& text) {
    if (text.size() > kMaxSetValue) return invalid("the value is longer than 1 MiB");
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded())
      return invalid(fmt::format("{}: the value is not JSON", path.to_string()));
    return assign_json(path, json);
  }

  // Recursion ends with the schema: a member that it does not have is an error.
  Status assign_json(const Path& path, const Json& json) {
    if (!json.is_object()) {
      const auto value = from_json(json);
      if (!value)
        return invalid(
            fmt::format("{}: the value must be an object or a scalar", path.to_string()));
      return assign_leaf(path, *value);
    }
    for (const auto& [member, value] : json.items()) {
      const std::size_t colon = member.rfind(':');  // RFC 7951 4: module:name
      const std::string name = colon == member.npos ? member : member.substr(colon + 1);
      if (!path.elems.empty()) {
        if (const std::string* key = path.elems.back().key(name)) {
          if (value == *key) continue;
          return invalid(
              fmt::format("{}: member '{}' differs from the path's key", path.to_string(), name));
        }
      }
      Path child = path;
      child.elems.push_back({name, {}});
      const auto found = find_rows({.path = child});
      if (!found || name == "*" || name == "...") {
        return invalid(
            fmt::format("{}: there is no member '{}'", path.to_string(), name.substr(0, 64)));
      }
      const PathElem& schema = schema_path(*found->front())[child.elems.size() - 1];
      if (schema.keys.empty()) {
        if (auto s = assign_json(child, value); !s) return s;
        continue;
      }
      if (!value.is_array()) return invalid(fmt::format("{} must be an array", child.to_string()));
      for (const Json& item : value) {
        child.elems.back().keys.clear();
        for (const auto& [key, unused] : schema.keys) {
          if (!item.is_object() || !item.contains(key) || !item[key].is_string()) {
            return invalid(fmt::format("{}: each entry needs '{}'", child.to_string(), key));
          }
          child.elems.back().keys.emplace_back(key, item[key].get<std::string>());
        }
        if (auto s = assign_json(child, item); !s) return s;
      }
    }
    return {};
  }

  Status assign_leaf(const Path& path, Value value) {
    const auto found = find_rows({.path = path});
    const Row* row = nullptr;
    if (found) {
      for (const Row* r : *found) {
        if (schema_path(*r).size() == path.elems.size()) row = r;
      }
    }
    if (row == nullptr)
      return invalid(fmt::format("{} is no leaf: its value must be JSON", path.to_string()));
    std::vector<std::string> keys;
    const auto& schema = schema_path(*row);
    for (std::size_t i = 0; i < schema.size(); ++i) {
      for (const auto& [name, unused] : schema[i].keys) {
        const std::string* key = path.elems[i].key(name);
        if (key == nullptr) return invalid(fmt::format("{} needs [{}=]", path.to_string(), name));
        keys.push_back(*key);
      }
    }
    if (!row->writable()) {
      // config/name repeats the key of its list entry.
      const bool is_key = row->kind == Kind::interface && row->path.ends_with("/config/name");
      if (is_key && value == Value(keys[0])) return {};
      return read_only(path);
    }
    std::optional<Target> target;
    if (row->kind == Kind::interface) {
      target = split_port(keys[0]);
    } else {
      target = Target{keys[0], keys[1]};
    }
    const auto it = target ? wanted_.find(*target) : wanted_.end();
    if (it == wanted_.end() || (row->kind == Kind::interface && !it->second.here)) {
      return Error{Error::Code::not_found,
                   fmt::format("there is no interface {}", fmt::join(keys, ":"))};
    }
    if (row->kind == Kind::impairment && !it->second.impairable) {
      return invalid(fmt::format("{}:{} is not a link of this fabric's own and cannot be impaired",
                                 target->first, target->second));
    }
    if (auto s = row->set(it->second.config, value); !s) {
      return Error{s.error().code, fmt::format("{}: {}", path.to_string(), s.error().message)};
    }
    return {};
  }

  std::map<Target, State> now_;
  std::map<Target, State> wanted_;
};

void add_result(const gnmi::Path& path, gnmi::UpdateResult::Operation op,
                gnmi::SetResponse& response) {
  gnmi::UpdateResult* result = response.add_response();
  *result->mutable_path() = path;
  result->set_op(op);
}

}  // namespace

Result<gnmi::SetResponse> set(Fabric& fabric, const gnmi::SetRequest& request) {
  if (auto s = check_extensions(request.extension()); !s) return s.error();
  if (request.union_replace_size() != 0) {
    return Error{Error::Code::unimplemented, "union_replace is not supported; use replace"};
  }
  if (request.delete__size() + request.replace_size() + request.update_size() > kMaxSetOperations) {
    return invalid(fmt::format("a Set may have {} operations", kMaxSetOperations));
  }
  Transaction transaction(fabric);
  gnmi::SetResponse response;
  if (!request.prefix().origin().empty() || !request.prefix().target().empty() ||
      request.prefix().elem_size() != 0) {
    *response.mutable_prefix() = request.prefix();
  }
  for (const gnmi::Path& message : request.delete_()) {
    auto path = from_message(request.prefix(), message);
    if (!path) return path.error();
    if (auto s = transaction.reset(*path); !s) return s.error();
    add_result(message, gnmi::UpdateResult::DELETE, response);
  }
  for (const gnmi::Update& update : request.replace()) {
    auto path = from_message(request.prefix(), update.path());
    if (!path) return path.error();
    // A leaf's old value does not matter, and what is not a writable leaf fails below.
    if (update.val().has_json_val() || update.val().has_json_ietf_val()) {
      if (auto s = transaction.reset(*path); !s) return s.error();
    }
    if (auto s = transaction.assign(*path, update.val()); !s) return s.error();
    add_result(update.path(), gnmi::UpdateResult::REPLACE, response);
  }
  for (const gnmi::Update& update : request.update()) {
    auto path = from_message(request.prefix(), update.path());
    if (!path) return path.error();
    if (auto s = transaction.assign(*path, update.val()); !s) return s.error();
    add_result(update.path(), gnmi::UpdateResult::UPDATE, response);
  }
  if (auto s = transaction.commit(fabric); !s) return s.error();
  response.set_timestamp(fabric.info().now.ns());
  return response;
}

}  // namespace frond::management
