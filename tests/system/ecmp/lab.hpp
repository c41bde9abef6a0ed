// SPDX-License-Identifier: BSD-3-Clause
// What both programs of the ECMP tests agree on: a fat-tree with so many paths a switch, as its
// configuration gives it, the marks in their packets, and how ports are named on the command line.
#pragma once

#include <poll.h>
#include <sys/types.h>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "control/config/load.hpp"
#include "dpdk/eal.hpp"
#include "dpdk/ethdev_port.hpp"
#include "fabric/plan.hpp"
#include "netdev/namespace.hpp"
#include "netdev/packet_port.hpp"
#include "netdev/ready_set.hpp"
#include "topology/topology.hpp"

namespace frond::ecmp_lab {

inline constexpr unsigned kMaxPaths = 8;

// Behind the transport header of each packet.
struct Mark {
  std::uint32_t magic;
  std::uint32_t number;  // of the flow; of a turn-back, above
};
inline constexpr std::uint32_t kFlow = 0x464c4f57, kTurnBack = 0x4241434b;

// A switch of the lower tiers of a k-ary fat-tree has k / 2 ways up.
inline fabric::Plan fat_tree(unsigned paths, std::uint64_t seed, bool equal_seeds) {
  std::string text = "version: 1\nname: ecmp\nseed: " + std::to_string(seed) +
                     "\ntopology: {type: fat-tree, k: " + std::to_string(2 * paths) + "}\n";
  if (equal_seeds) text += "switch: {ecmp_seed: " + std::to_string(seed) + "}\n";
  const config::Loaded loaded = config::parse_config(text, "ecmp.yaml");
  if (!loaded.config) throw StartError("the fat-tree's configuration is not valid");
  return fabric::make_plan(*loaded.config);
}

// Ports of a switch whose other end is of that tier, in order.
inline std::vector<topology::End> ports_to(const topology::Topology& t, std::uint32_t node,
                                           topology::Role role) {
  std::vector<topology::End> found;
  for (std::uint16_t p = 0; p < t.nodes[node].ports.size(); ++p) {
    const auto peer = t.peer({node, p});
    if (peer && t.nodes[peer->node].role == role) found.push_back({node, p});
  }
  return found;
}

// KIND:TARGET[@NAMESPACE]; packet: our packet socket; else a DPDK driver.
inline std::unique_ptr<Port> make_port(const std::string& text, dpdk::Eal& eal, PacketPool& pool,
                                       netdev::LinkMonitor& monitor, netdev::ReadySet& ready) {
  const std::size_t colon = text.find(':'), at = text.find('@');
  const std::string kind = text.substr(0, colon);
  dpdk::EthdevConfig config{.target = text.substr(colon + 1, at - colon - 1),
                            .netns = at == std::string::npos ? "" : text.substr(at + 1)};
  if (kind == "packet") {
    Result<netdev::Namespace> ns = netdev::Namespace::open(config.netns);
    if (!ns.ok()) throw StartError(ns.error().message);
    return std::make_unique<netdev::PacketPort>(config.target, *ns, pool, monitor, &ready);
  }
  for (int d = 0; d <= static_cast<int>(dpdk::Driver::pci); ++d) {
    config.driver = static_cast<dpdk::Driver>(d);
    if (to_string(config.driver) == kind)
      return std::make_unique<dpdk::EthdevPort>(config, eal, pool, monitor);
  }
  throw StartError("there is no kind of port '" + kind + "'");
}

// A line of standard input when there is one. Who writes it waits for the answer. False: the end.
inline bool take_line(std::string& line, int patience_ms) {
  line.clear();
  pollfd input{0, POLLIN, 0};
  if (poll(&input, 1, patience_ms) <= 0) return true;
  char text[128];
  if (std::fgets(text, sizeof text, stdin) == nullptr) return false;
  line = text;
  return true;
}

}  // namespace frond::ecmp_lab
