// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/controller.hpp"

#include <algorithm>
#include <optional>

namespace frond::fabric {

using topology::End;
using topology::kNone;

Controller::Controller(const topology::Topology& topology, const topology::Addressing& addressing)
    : topology_(topology),
      addressing_(addressing),
      ends_(topology.links.size(), {true, true}),
      links_(topology.links.size(), true),
      routes_(compute_routes(topology, addressing, links_)) {}

std::vector<SwitchChange> Controller::initial() const {
  std::vector<SwitchChange> all;
  for (std::uint32_t node = 0; node < routes_.size(); ++node) {
    if (!topology_.nodes[node].is_switch()) continue;
    all.push_back({node, topology::diff({}, routes_[node])});
  }
  return all;
}

std::vector<SwitchChange> Controller::port_changed(End end, bool up) {
  const std::uint32_t link = topology_.port(end).link;
  if (link == kNone) return {};
  ends_[link][topology_.links[link].a == end ? 0 : 1] = up;
  const bool now = ends_[link][0] && ends_[link][1];
  if (now == links_[link]) return {};
  links_[link] = now;
  topology::Routes routes = compute_routes(topology_, addressing_, links_);
  std::vector<SwitchChange> changes;
  for (std::uint32_t node = 0; node < routes.size(); ++node) {
    SwitchChange change{node, topology::diff(routes_[node], routes[node])};
    if (!change.changes.empty()) changes.push_back(std::move(change));
  }
  routes_ = std::move(routes);
  return changes;
}

std::uint32_t RouteInstaller::dense(std::uint32_t group_id) {
  const auto known = std::find(dense_.begin(), dense_.end(), group_id);
  if (known != dense_.end()) return static_cast<std::uint32_t>(known - dense_.begin());
  const auto unused = std::find(dense_.begin(), dense_.end(), kNone);
  const auto index = static_cast<std::uint32_t>(unused - dense_.begin());
  if (unused == dense_.end()) dense_.push_back(kNone);
  dense_[index] = group_id;
  return index;
}

std::vector<l3::Member> RouteInstaller::members(const topology::Group& group, bool v6) const {
  std::vector<l3::Member> members;
  for (const topology::Member& m : group.members) {
    const auto gateway = topology::gateway(topology_, addressing_, {node_, m.port}, v6);
    if (gateway) members.push_back({m.port, *gateway, m.weight, m.alive});
  }
  return members;
}

Status RouteInstaller::apply(const topology::RouteChanges& changes, l3::Router& router) {
  Status first;
  auto note = [&](Status status) {
    if (first.ok() && !status.ok()) first = std::move(status);
  };
  for (const topology::Group& group : changes.set_groups) {
    const std::uint32_t number = dense(group.id);
    note(router.set_group(router_group(number, false), members(group, false)));
    note(router.set_group(router_group(number, true), members(group, true)));
  }
  for (const topology::Route& route : changes.set_routes) {
    const l3::GroupId id = router_group(dense(route.group), route.prefix.address.v6);
    note(router.add_route(route.prefix, l3::RouteTarget::to(id)));
  }
  for (const IpPrefix& prefix : changes.removed_routes) note(router.remove_route(prefix));
  for (std::uint32_t id : changes.removed_groups) {
    const std::uint32_t number = dense(id);
    note(router.remove_group(router_group(number, false)));
    note(router.remove_group(router_group(number, true)));
    dense_[number] = kNone;
  }
  return first;
}

}  // namespace frond::fabric
