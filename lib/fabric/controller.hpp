// SPDX-License-Identifier: BSD-3-Clause
// Controller: what the routes of every switch should be, given which links are up. Plain code for
// both clocks: it is told of each port's state and answers with the changes; who runs it delivers
// them to the switches.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "control/config/fabric_config.hpp"
#include "features/l3/router.hpp"
#include "topology/addressing.hpp"
#include "topology/routes.hpp"
#include "topology/topology.hpp"

namespace frond::fabric {

struct SwitchChange {
  std::uint32_t node = topology::kNone;
  topology::RouteChanges changes;
};

class Controller {
 public:
  Controller(const topology::Topology& topology, const topology::Addressing& addressing);

  // All routes, with every link up: what a switch starts with.
  std::vector<SwitchChange> initial() const;

  // An end of a link went up or down. A link is up when both ends are.
  std::vector<SwitchChange> port_changed(topology::End end, bool up);

  // Another topology takes the old one's place: nodes and ports are matched by name. Links that
  // were there keep their state, new ones are up.
  std::vector<SwitchChange> rebase(const topology::Topology& topology,
                                   const topology::Addressing& addressing);

  const topology::LinkStates& links() const { return links_; }

 private:
  const topology::Topology* topology_;
  const topology::Addressing* addressing_;
  std::vector<std::array<bool, 2>> ends_;  // [link]: a, b
  topology::LinkStates links_;
  topology::Routes routes_;
};

// A topology group is a pair of groups of the router, one a family.
inline l3::GroupId router_group(std::uint32_t dense, bool v6) { return {dense * 2 + v6}; }

// The router's side of one switch: remembers which of its dense group numbers is which destination.
class RouteInstaller {
 public:
  // On the switch's owner; topology and node are those that the changes were made for. Returns the
  // first thing that the router refused.
  Status apply(const topology::Topology& topology, const topology::Addressing& addressing,
               std::uint32_t node, const topology::RouteChanges& changes, l3::Router& router);

  // Static routes of the switch, in place of those that were there.
  Status apply_static(const std::vector<config::StaticRoute>& routes, l3::Router& router);

 private:
  std::uint32_t dense(std::uint32_t group_id);

  std::vector<std::uint32_t> dense_;  // position: dense number; value: group id, kNone: free
  std::vector<config::StaticRoute> static_;
};

}  // namespace frond::fabric
