// SPDX-License-Identifier: BSD-3-Clause
#include "control/management/convert.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace frond::management {
namespace {

Error invalid(std::string message) { return {Error::Code::invalid_argument, std::move(message)}; }

bool append(const gnmi::Path& message, Path& path, std::size_t& bytes) {
  for (const gnmi::PathElem& elem : message.elem()) {
    if (path.elems.size() >= kMaxPathElems || elem.key().size() > kMaxPathKeys) return false;
    PathElem& to = path.elems.emplace_back();
    to.name = elem.name();
    bytes += elem.name().size();
    for (const auto& [key, value] : elem.key()) {
      bytes += key.size() + value.size();
      if (bytes > kMaxPathBytes) return false;
      to.keys.emplace_back(key, value);
    }
    std::sort(to.keys.begin(), to.keys.end());  // a protobuf map has no order
    if (bytes > kMaxPathBytes) return false;
  }
  return true;
}

}  // namespace

Result<Path> from_message(const gnmi::Path& prefix, const gnmi::Path& path) {
  Path result;
  if (!prefix.origin().empty() && !path.origin().empty() && prefix.origin() != path.origin()) {
    return invalid("the origins of the prefix and of the path differ");
  }
  result.origin = prefix.origin().empty() ? path.origin() : prefix.origin();
  if (result.origin.size() > 64) return invalid("the origin is too long");
  std::size_t bytes = 0;
  if (!append(prefix, result, bytes) || !append(path, result, bytes)) {
    return invalid(fmt::format("a path may have {} elements, {} keys each and {} bytes",
                               kMaxPathElems, kMaxPathKeys, kMaxPathBytes));
  }
  for (const PathElem& elem : result.elems) {
    if (elem.name.empty()) return invalid("a path element has no name");
  }
  // "element" (gNMI 0.3) is not read; alone it would mean the root.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  const bool old = path.elem().empty() && path.element_size() > 0;
#pragma GCC diagnostic pop
  if (old) {
    return invalid("the path is in the withdrawn field 'element'; use 'elem'");
  }
  return result;
}

gnmi::Path to_message(const std::vector<PathElem>& elems, std::size_t first, std::size_t end) {
  gnmi::Path path;
  for (std::size_t i = first; i < end; ++i) {
    gnmi::PathElem* elem = path.add_elem();
    elem->set_name(elems[i].name);
    for (const auto& [key, value] : elems[i].keys) (*elem->mutable_key())[key] = value;
  }
  return path;
}

void to_message(const Value& value, gnmi::TypedValue& message) {
  std::visit(
      [&](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, bool>) {
          message.set_bool_val(v);
        } else if constexpr (std::is_same_v<T, double>) {
          message.set_double_val(v);
        } else if constexpr (std::is_same_v<T, std::string>) {
          message.set_string_val(v);
        } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
          auto* list = message.mutable_leaflist_val();
          for (const std::string& s : v) list->add_element()->set_string_val(s);
        } else {
          message.set_uint_val(v);
        }
      },
      value);
}

void reflect_target(const gnmi::Path& request, const std::string& origin, gnmi::Path& response) {
  if (!request.target().empty()) response.set_target(request.target());
  if (!origin.empty()) response.set_origin(origin);
}

Status check_encoding(gnmi::Encoding encoding) {
  switch (encoding) {
    case gnmi::JSON:
    case gnmi::JSON_IETF:
    case gnmi::PROTO:
      return {};
    default:
      return Error{Error::Code::unimplemented,
                   fmt::format("encoding {} is not supported; there are JSON, JSON_IETF and PROTO",
                               gnmi::Encoding_IsValid(encoding) ? gnmi::Encoding_Name(encoding)
                                                                : std::to_string(encoding))};
  }
}

Status check_extensions(const google::protobuf::RepeatedPtrField<gnmi_ext::Extension>& extensions) {
  for (const gnmi_ext::Extension& e : extensions) {
    const char* name = nullptr;
    if (e.has_master_arbitration()) name = "master arbitration";
    if (e.has_history()) name = "history";
    if (e.has_commit()) name = "commit confirmed";
    if (e.has_depth()) name = "depth";
    if (name != nullptr) {
      return Error{Error::Code::unimplemented,
                   fmt::format("the extension {} is not supported", name)};
    }
  }
  return {};
}

std::vector<std::string> supported_models() {
  std::vector<std::string> models;
  for (const Row& row : rows()) {
    if (std::find(models.begin(), models.end(), row.model) == models.end()) {
      models.emplace_back(row.model);
    }
  }
  return models;
}

Result<std::vector<std::string>> check_models(
    const google::protobuf::RepeatedPtrField<gnmi::ModelData>& models) {
  const std::vector<std::string> known = supported_models();
  std::vector<std::string> result;
  for (const gnmi::ModelData& model : models) {
    if (std::find(known.begin(), known.end(), model.name()) == known.end()) {
      return invalid(fmt::format("model '{}' is not supported; there are {}", model.name(),
                                 fmt::join(known, ", ")));
    }
    result.push_back(model.name());
  }
  return result;
}

}  // namespace frond::management
