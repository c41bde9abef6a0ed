// SPDX-License-Identifier: BSD-3-Clause
// SwitchUnit: one switch, whichever pipeline it has, as the assembly sees it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/controller.hpp"
#include "features/bfd/bfd.hpp"
#include "features/l3/router.hpp"
#include "features/neighbor/neighbor.hpp"
#include "pipelines/agent.hpp"
#include "switch/switch_base.hpp"
#include "topology/addressing.hpp"
#include "topology/topology.hpp"

namespace frond::fabric {

// What a switch is told apart from its place in the topology.
struct SwitchOptions {
  pipelines::AgentConfig agent;  // ports and seed are given by the assembly
  Bytes queue = Bytes::mib(1);   // of each port
};

// What a stage said about a packet.
struct StageLine {
  std::string stage;
  std::string text;
};

struct Explanation {
  std::vector<StageLine> lines;
  std::string verdict;  // "forward", "punt", or the drop's name
  std::string stage;    // that gave it; "" when it is forwarded
};

class SwitchUnit {
 public:
  virtual ~SwitchUnit() = default;

  SwitchBase& device() { return *device_; }
  const SwitchBase& device() const { return *device_; }
  RouteInstaller& routes() { return routes_; }

  // --- On the switch's owner ---
  virtual l3::Router& router() = 0;
  virtual bfd::Bfd& bfd() = 0;
  virtual std::vector<neighbor::Neighbors::Known> neighbors() = 0;
  // What would become of the packet; the packet is rewritten as it would leave.
  virtual Explanation explain(Packet& packet) = 0;
  // Of the step under way.
  virtual Context& context() = 0;
  virtual void reconsider_timers() = 0;

 protected:
  std::unique_ptr<SwitchBase> device_;

 private:
  RouteInstaller routes_;
};

// A leaf or a spine, by the node's role. ports: room for so many, at least as many as the node has.
std::unique_ptr<SwitchUnit> make_switch(const topology::Topology& topology, std::uint32_t node,
                                        std::uint32_t id, std::uint64_t seed, unsigned ports,
                                        const SwitchOptions& options);

// --- On the switch's owner, or before its first step ---
// What a port is: addresses, MTU, line rate, and the neighbour across when that is one of ours.
void configure_port(SwitchUnit& unit, const topology::Topology& topology,
                    const topology::Addressing& addressing, topology::End port);
// BFD with the switch across; nothing when a host is there.
void watch_neighbor(SwitchUnit& unit, const topology::Topology& topology,
                    const topology::Addressing& addressing, topology::End port);

}  // namespace frond::fabric
