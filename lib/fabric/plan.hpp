// SPDX-License-Identifier: BSD-3-Clause
// Plan: a fabric as a value, ready to be built on either clock: its topology, addresses, and what
// each switch, link and host shall do. Made from a configuration (plan_config.cpp).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "fabric/switch_unit.hpp"
#include "link/impairment.hpp"
#include "sim/udp_source.hpp"
#include "topology/addressing.hpp"
#include "topology/topology.hpp"

namespace frond::fabric {

struct LinkPlan {
  link::Impairment from_a, from_b;
  bool admin_up = true;
};

struct HostFlow {
  std::uint32_t host = topology::kNone;  // index in the topology's nodes
  sim::UdpFlow flow;
};

// Something that happens to a link in a simulation.
struct LinkEvent {
  Time at;
  topology::End end;
  enum class Kind : std::uint8_t { down, up, impair } kind = Kind::down;
  link::Impairment impairment;  // of the direction that leaves `end`
};

struct Plan {
  std::string name;
  std::uint64_t seed = 1;
  topology::Topology topology;
  topology::Addressing addressing;
  std::vector<SwitchOptions> switches;  // by node; hosts' are unused
  std::vector<LinkPlan> links;          // by topology link
  Time control_delay;                   // from a port's event to the other switches' new routes

  // Simulation only.
  std::vector<HostFlow> flows;
  std::vector<LinkEvent> events;
  Time duration;
};

}  // namespace frond::fabric
