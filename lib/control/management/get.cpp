// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "control/management/convert.hpp"
#include "control/management/gnmi_rpc.hpp"
#include "control/management/json.hpp"

namespace frond::management {
namespace {

constexpr int kMaxGetPaths = 64;

void set_json(const Json& json, gnmi::Encoding encoding, gnmi::TypedValue& value) {
  // Names and texts come from a configuration file: whatever is not UTF-8 is replaced.
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (encoding == gnmi::JSON_IETF) {
    value.set_json_ietf_val(std::move(text));
  } else {
    value.set_json_val(std::move(text));
  }
}

// How many elements of the leaf's path the query selects: the subtree below is one update's value.
std::size_t selected_depth(const std::vector<PathElem>& query, const std::vector<PathElem>& leaf) {
  for (const PathElem& elem : query) {
    if (elem.name == "...") return leaf.size();
  }
  return query.size();
}

bool same_head(const Leaf& a, const Leaf& b, std::size_t depth) {
  for (std::size_t i = 0; i < depth; ++i) {
    if (!(a.path[i] == b.path[i])) return false;
  }
  return true;
}

void add_updates(std::vector<Leaf> leaves, const Query& query, gnmi::Encoding encoding,
                 gnmi::Notification& notification) {
  if (encoding == gnmi::PROTO) {
    for (const Leaf& leaf : leaves) {
      gnmi::Update* update = notification.add_update();
      *update->mutable_path() = to_message(leaf.path, 0, leaf.path.size());
      to_message(leaf.value, *update->mutable_val());
    }
    return;
  }
  const auto style = encoding == gnmi::JSON_IETF ? JsonStyle::ietf : JsonStyle::plain;
  // One update for each place that the query selects, in the order of its first leaf.
  while (!leaves.empty()) {
    const std::size_t depth = selected_depth(query.path.elems, leaves[0].path);
    std::vector<Leaf> group;
    std::vector<Leaf> rest;
    for (Leaf& leaf : leaves) {
      const bool in =
          group.empty() || (depth <= leaf.path.size() && same_head(group[0], leaf, depth));
      (in ? group : rest).push_back(std::move(leaf));
    }
    gnmi::Update* update = notification.add_update();
    *update->mutable_path() = to_message(group[0].path, 0, depth);
    set_json(to_json(group, depth, style), encoding, *update->mutable_val());
    leaves = std::move(rest);
  }
}

}  // namespace

gnmi::CapabilityResponse capabilities() {
  gnmi::CapabilityResponse response;
  for (const std::string& model : supported_models()) {
    gnmi::ModelData* data = response.add_supported_models();
    data->set_name(model);
    data->set_organization(model == "frond" ? "Frond" : "OpenConfig working group");
    data->set_version("1.0.0");
  }
  for (gnmi::Encoding e : {gnmi::JSON, gnmi::JSON_IETF, gnmi::PROTO})
    response.add_supported_encodings(e);
  response.set_gnmi_version("0.10.0");
  return response;
}

Result<gnmi::GetResponse> get(const Fabric& fabric, const gnmi::GetRequest& request) {
  if (auto s = check_encoding(request.encoding()); !s) return s.error();
  if (auto s = check_extensions(request.extension()); !s) return s.error();
  auto models = check_models(request.use_models());
  if (!models) return models.error();
  if (request.path_size() > kMaxGetPaths) {
    return Error{Error::Code::invalid_argument,
                 fmt::format("{} paths; a Get may have {}", request.path_size(), kMaxGetPaths)};
  }
  gnmi::GetResponse response;
  const int paths = std::max(request.path_size(), 1);  // none: the prefix itself
  for (int p = 0; p < paths; ++p) {
    Query query;
    auto path =
        from_message(request.prefix(), p < request.path_size() ? request.path(p) : gnmi::Path());
    if (!path) return path.error();
    query.path = std::move(*path);
    query.models = *models;
    if (request.type() == gnmi::GetRequest::CONFIG) query.type = Query::Type::config;
    if (request.type() == gnmi::GetRequest::STATE ||
        request.type() == gnmi::GetRequest::OPERATIONAL) {
      query.type = Query::Type::state;
    }
    auto rows = find_rows(query);
    if (!rows) return rows.error();
    const Snapshot snapshot = Snapshot::take(fabric, parts_of(*rows) | kInfo);
    std::vector<Leaf> leaves = select(snapshot, *rows, query);
    if (leaves.empty() && !rows->empty() && !has_wildcard(query.path.elems)) {
      // A list that is empty is an answer; an entry that is not there is not.
      bool keyed = false;
      for (const PathElem& elem : query.path.elems) keyed = keyed || !elem.keys.empty();
      if (keyed) {
        return Error{Error::Code::not_found,
                     fmt::format("{} does not exist in fabric {}", query.path.to_string(),
                                 snapshot.info.name)};
      }
    }
    gnmi::Notification* notification = response.add_notification();
    notification->set_timestamp(snapshot.info.now.ns());
    if (!request.prefix().target().empty() || !query.path.origin.empty()) {
      reflect_target(request.prefix(), query.path.origin, *notification->mutable_prefix());
    }
    add_updates(std::move(leaves), query, request.encoding(), *notification);
  }
  return response;
}

}  // namespace frond::management
