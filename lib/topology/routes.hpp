// SPDX-License-Identifier: BSD-3-Clause
// Routes: a pure function of topology, addressing and link states.
//
// Each switch has one ECMP group for each other switch that it can reach, and each prefix of that
// switch points to that group. Link states only change groups, never which prefix points where: a
// group keeps the members that it has with all links up and tells which are alive, so that a
// resilient bucket table moves just the flows of the dead.
//
// Up-down where all links between switches join different tiers and every switch with hosts can
// reach every other going up and then down: a packet that has turned down never goes up again
// (valley-free), so no failure makes a loop or a detour through another rack. Otherwise plain
// shortest paths by hops; there a failure may add members (the longer way round).
//
// A member's weight is the capacity behind it with all links up: the lower of its link's rate and
// what its far end can pass on; the ratios are reduced to small numbers. Weights do not follow
// failures: that would move flows that are not affected.
#pragma once

#include <cstdint>
#include <vector>

#include "topology/addressing.hpp"
#include "topology/topology.hpp"

namespace frond::topology {

struct Member {
  std::uint16_t port = 0;  // index in Node::ports; the gateway is topology::gateway(port, family)
  std::uint16_t weight = 1;
  bool alive = true;
  bool operator==(const Member&) const = default;
};

// The id is the destination's: its tier and node id, as in its loopback. A router that has a table
// of groups for each family makes two of it.
struct Group {
  std::uint32_t id = 0;
  std::uint32_t destination = kNone;  // index in Topology::nodes
  std::vector<Member> members;        // by port
  bool operator==(const Group& o) const { return id == o.id && members == o.members; }
};

struct Route {
  IpPrefix prefix;
  std::uint32_t group = 0;
  bool operator==(const Route&) const = default;
};

struct SwitchRoutes {
  std::vector<Group> groups;  // by id
  std::vector<Route> routes;  // by prefix
  const Group* find(std::uint32_t id) const;
};

using Routes = std::vector<SwitchRoutes>;  // [node]; hosts have none
using LinkStates = std::vector<bool>;      // [link], true: up; empty: all up

enum class Routing : std::uint8_t { up_down, shortest_path };
Routing routing_of(const Topology& topology);

std::uint32_t group_id(const Node& destination);

Routes compute_routes(const Topology& topology, const Addressing& addressing,
                      const LinkStates& states = {});

// What turns one switch's routes into another's. Apply in this order: set groups, add, remove
// routes, remove groups.
struct RouteChanges {
  std::vector<Group> set_groups;
  std::vector<Route> set_routes;
  std::vector<IpPrefix> removed_routes;
  std::vector<std::uint32_t> removed_groups;
  bool empty() const {
    return set_groups.empty() && set_routes.empty() && removed_routes.empty() &&
           removed_groups.empty();
  }
};
RouteChanges diff(const SwitchRoutes& before, const SwitchRoutes& after);

}  // namespace frond::topology
