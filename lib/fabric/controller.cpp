// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/controller.hpp"

#include <algorithm>
#include <optional>

namespace frond::fabric {

using topology::End;
using topology::kNone;

Controller::Controller(const topology::Topology& topology, const topology::Addressing& addressing)
    : topology_(&topology),
      addressing_(&addressing),
      ends_(topology.links.size(), {true, true}),
      links_(topology.links.size(), true),
      routes_(compute_routes(topology, addressing, links_)) {}

std::vector<SwitchChange> Controller::initial() const {
  std::vector<SwitchChange> all;
  for (std::uint32_t node = 0; node < routes_.size(); ++node) {
    if (!topology_->nodes[node].is_switch()) continue;
    all.push_back({node, topology::diff({}, routes_[node])});
  }
  return all;
}

std::vector<SwitchChange> Controller::port_changed(End end, bool up) {
  const std::uint32_t link = topology_->port(end).link;
  if (link == kNone) return {};
  ends_[link][topology_->links[link].a == end ? 0 : 1] = up;
  const bool now = ends_[link][0] && ends_[link][1];
  if (now == links_[link]) return {};
  links_[link] = now;
  topology::Routes routes = compute_routes(*topology_, *addressing_, links_);
  std::vector<SwitchChange> changes;
  for (std::uint32_t node = 0; node < routes.size(); ++node) {
    SwitchChange change{node, topology::diff(routes_[node], routes[node])};
    if (!change.changes.empty()) changes.push_back(std::move(change));
  }
  routes_ = std::move(routes);
  return changes;
}

std::vector<SwitchChange> Controller::rebase(const topology::Topology& topology,
                                             const topology::Addressing& addressing) {
  const topology::Topology& before = *topology_;
  std::vector<std::array<bool, 2>> ends(topology.links.size(), {true, true});
  topology::LinkStates links(topology.links.size(), true);
  for (std::uint32_t i = 0; i < topology.links.size(); ++i) {
    const topology::Link& link = topology.links[i];
    const auto was = before.find_end(topology.end_name(link.a));
    const std::uint32_t old = was ? before.port(*was).link : kNone;
    if (old == kNone || before.link_name(before.links[old]) != topology.link_name(link)) continue;
    ends[i] = ends_[old];
    links[i] = links_[old];
  }
  topology::Routes routes = compute_routes(topology, addressing, links);
  std::vector<SwitchChange> changes;
  for (std::uint32_t node = 0; node < routes.size(); ++node) {
    if (!topology.nodes[node].is_switch()) continue;
    const std::uint32_t was = before.find(topology.nodes[node].name);
    SwitchChange change{
        node, topology::diff(was == kNone ? topology::SwitchRoutes{} : routes_[was], routes[node])};
    if (!change.changes.empty()) changes.push_back(std::move(change));
  }
  topology_ = &topology;
  addressing_ = &addressing;
  ends_ = std::move(ends);
  links_ = std::move(links);
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

namespace {

std::vector<l3::Member> router_members(const topology::Topology& topology,
                                       const topology::Addressing& addressing, std::uint32_t node,
                                       const topology::Group& group, bool v6) {
  std::vector<l3::Member> members;
  for (const topology::Member& m : group.members) {
    const auto gateway = topology::gateway(topology, addressing, {node, m.port}, v6);
    if (gateway) members.push_back({m.port, *gateway, m.weight, m.alive});
  }
  return members;
}

}  // namespace

Status RouteInstaller::apply(const topology::Topology& topology,
                             const topology::Addressing& addressing, std::uint32_t node,
                             const topology::RouteChanges& changes, l3::Router& router) {
  Status first;
  auto note = [&](Status status) {
    if (first.ok() && !status.ok()) first = std::move(status);
  };
  for (const topology::Group& group : changes.set_groups) {
    const std::uint32_t number = dense(group.id);
    for (const bool v6 : {false, true}) {
      note(router.set_group(router_group(number, v6),
                            router_members(topology, addressing, node, group, v6)));
    }
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

// Above every id that topology::group_id() gives.
constexpr std::uint32_t kStaticGroups = 0xf0000000;

Status RouteInstaller::apply_static(const std::vector<config::StaticRoute>& routes,
                                    l3::Router& router) {
  for (const config::StaticRoute& route : static_) {
    if (Status s = router.remove_route(route.prefix.network()); !s.ok()) return s;
  }
  static_ = routes;
  for (std::uint32_t i = 0; i < routes.size(); ++i) {
    const config::StaticRoute& route = routes[i];
    if (route.via.empty()) {
      Status s = router.add_route(route.prefix.network(), l3::RouteTarget::blackhole());
      if (!s.ok()) return s;
      continue;
    }
    std::vector<l3::Member> members;
    for (const IpAddress& via : route.via) {
      for (std::uint16_t port = 0; port < router.ports(); ++port) {
        if (router.on_link(port, via)) members.push_back({port, via, 1, true});
      }
    }
    const l3::GroupId id = router_group(dense(kStaticGroups + i), route.prefix.address.v6);
    if (Status s = router.set_group(id, std::move(members)); !s.ok()) return s;
    Status s = router.add_route(route.prefix.network(), l3::RouteTarget::to(id));
    if (!s.ok()) return s;
  }
  return {};
}

}  // namespace frond::fabric
