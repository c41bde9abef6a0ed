// SPDX-License-Identifier: BSD-3-Clause
// Plan: a fabric as a value, ready to be built on either clock: its topology, addresses, and what
// each switch, link and host shall do.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "control/config/build.hpp"
#include "control/config/fabric_config.hpp"
#include "dpdk/ethdev_port.hpp"
#include "fabric/switch_unit.hpp"
#include "link/impairment.hpp"
#include "sim/udp_source.hpp"
#include "topology/addressing.hpp"
#include "topology/topology.hpp"

namespace frond::fabric {

struct LinkPlan {
  link::Impairment from_a, from_b;
  bool admin_up = true;
  config::LinkDriver driver = config::LinkDriver::wire;
  bool operator==(const LinkPlan&) const = default;
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
  std::vector<SwitchOptions> switches;                   // by node; hosts' are unused
  std::vector<std::vector<config::StaticRoute>> routes;  // by node
  std::vector<LinkPlan> links;                           // by topology link
  std::map<topology::End, dpdk::EthdevConfig> devices;   // ports that lead out of the process
  config::HostsConfig hosts;
  Time control_delay;  // simulation: from a port's event to the other switches' new routes

  // Simulation only.
  std::vector<HostFlow> flows;
  std::vector<LinkEvent> events;
  Time duration;
};

// Of a configuration that was found valid. Throws StartError when the fabric is too big for its
// address plan.
Plan make_plan(const config::FabricConfig& config);

// As /etc/hosts has them: each host's addresses and its name.
std::string hosts_text(const Plan& plan);

}  // namespace frond::fabric
