// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/plan.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/result.hpp"

namespace frond::fabric {

using topology::End;
using topology::kNone;

namespace {

constexpr std::uint32_t kEthernetBytes = 14 + kFcsBytes;
constexpr std::uint16_t kFirstSourcePort = 49152;  // RFC 6335 6: dynamic ports
constexpr std::uint32_t kSourcePorts = 16384;

dpdk::EthdevConfig device(const config::PortConfig& port, std::uint32_t mtu) {
  static_assert(static_cast<int>(config::Driver::pci) == static_cast<int>(dpdk::Driver::pci));
  dpdk::EthdevConfig device{.driver = static_cast<dpdk::Driver>(*port.driver),
                            .target = port.device,
                            .mtu = mtu,
                            .netns = port.netns,
                            .server = port.role == config::SocketRole::server,
                            .wait = true};
  if (device.driver == dpdk::Driver::memif) device.args = "id=" + std::to_string(port.id);
  if (device.driver == dpdk::Driver::pcap) {
    device.target.clear();
    device.args = "rx_pcap=" + port.device;
    if (!port.output.empty()) device.args += ",tx_pcap=" + port.output;
    device.wait = false;
  }
  return device;
}

void plan_switches(const config::FabricConfig& config, Plan& plan) {
  const topology::Topology& topology = plan.topology;
  plan.switches.resize(topology.nodes.size());
  plan.routes.resize(topology.nodes.size());
  for (std::uint32_t node = 0; node < topology.nodes.size(); ++node) {
    const topology::Node& n = topology.nodes[node];
    if (!n.is_switch()) continue;
    SwitchOptions& options = plan.switches[node];
    options.queue = config.switches.queue;
    options.agent.fib = config.switches.fib;
    options.agent.neighbor = config.switches.neighbor;
    options.agent.icmp = config.switches.icmp;
    options.agent.bfd = config.switches.bfd;
    options.agent.ecmp_seed = config::switch_ecmp_seed(config, n.name);
    if (const config::NodeConfig* own = config.nodes.find(n.name)) plan.routes[node] = own->routes;
    for (std::uint16_t port = 0; port < n.ports.size(); ++port) {
      const End end{node, port};
      const config::PortConfig* own = config::port_config(config, topology, end);
      if (own == nullptr || !own->driver) continue;
      plan.devices.emplace(end, device(*own, n.ports[port].mtu));
    }
  }
}

void plan_links(const config::FabricConfig& config, const config::Plan& built, Plan& plan) {
  for (std::uint32_t link = 0; link < plan.topology.links.size(); ++link) {
    plan.links.push_back(
        {.from_a = config::link_impairment(config, built, link, true),
         .from_b = config::link_impairment(config, built, link, false),
         .admin_up = config::link_state(config, built, link) == config::LinkState::up,
         .driver = config::link_driver(config, built, link)});
  }
}

class Traffic {
 public:
  explicit Traffic(Plan& plan) : plan_(plan), rng_(plan.seed, "traffic") {}

  void add(const config::TrafficConfig& traffic) {
    const std::vector<std::uint32_t> from = senders(traffic);
    if (traffic.pattern == config::Pattern::permutation) return permute(traffic, from);
    const std::uint32_t to = plan_.topology.find(traffic.to);
    for (const std::uint32_t host : from) {
      if (host != to) pair(traffic, host, to);
    }
  }

 private:
  std::vector<std::uint32_t> senders(const config::TrafficConfig& traffic) const {
    std::vector<std::uint32_t> hosts;
    for (const std::string& name : traffic.from) hosts.push_back(plan_.topology.find(name));
    if (!hosts.empty()) return hosts;
    for (std::uint32_t node = 0; node < plan_.topology.nodes.size(); ++node) {
      if (!plan_.topology.nodes[node].is_switch() && plan_.topology.peer({node, 0})) {
        hosts.push_back(node);
      }
    }
    return hosts;
  }

  // One cycle through all, in an order drawn from the seed: nobody sends to itself.
  void permute(const config::TrafficConfig& traffic, std::vector<std::uint32_t> hosts) {
    for (std::size_t i = hosts.size(); i > 1; --i) std::swap(hosts[i - 1], hosts[rng_.below(i)]);
    if (hosts.size() < 2) return;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      pair(traffic, hosts[i], hosts[(i + 1) % hosts.size()]);
    }
  }

  void pair(const config::TrafficConfig& traffic, std::uint32_t from, std::uint32_t to) {
    const auto destination = plan_.addressing.address({to, 0}, traffic.ipv6);
    if (!destination) return;
    const std::uint64_t ip = traffic.size.count();
    const std::uint64_t line = ip + kEthernetBytes + (kWireOverhead - kFcsBytes);
    const auto first = static_cast<std::uint32_t>(rng_.below(kSourcePorts));
    for (std::uint32_t i = 0; i < traffic.flows; ++i) {
      sim::UdpFlow flow;
      flow.id = static_cast<std::uint32_t>(plan_.flows.size());
      flow.dst = destination->address;
      flow.src_port = static_cast<std::uint16_t>(kFirstSourcePort + (first + i) % kSourcePorts);
      flow.rate = Rate::bps(std::max<std::uint64_t>(
          1, static_cast<std::uint64_t>(static_cast<unsigned __int128>(traffic.rate.bps()) * line /
                                        ip / traffic.flows)));
      flow.frame = static_cast<std::uint32_t>(ip + kEthernetBytes);
      flow.start = traffic.start;
      flow.stop = traffic.stop.value_or(plan_.duration);
      plan_.flows.push_back({from, flow});
    }
  }

  Plan& plan_;
  Rng rng_;
};

void plan_events(const config::FabricConfig& config, Plan& plan) {
  for (const config::EventConfig& event : config.events) {
    const auto end = plan.topology.find_end(event.link);
    if (!end) continue;  // validate() has refused it
    if (event.state) {
      const bool up = *event.state == config::LinkState::up;
      plan.events.push_back({event.at, *end, up ? LinkEvent::Kind::up : LinkEvent::Kind::down, {}});
    }
    if (!event.impair) continue;
    for (const auto& side : {std::optional(*end), plan.topology.peer(*end)}) {
      if (side) plan.events.push_back({event.at, *side, LinkEvent::Kind::impair, *event.impair});
    }
  }
}

}  // namespace

Plan make_plan(const config::FabricConfig& config) {
  config::Plan built = config::build(config);
  Plan plan;
  plan.name = config.name;
  plan.seed = config.seed;
  plan.hosts = config.hosts;
  plan.duration = config.duration;
  plan.topology = std::move(built.topology);
  Result<topology::Addressing> addressing = topology::assign_addresses(plan.topology);
  if (!addressing.ok()) throw StartError(config.name + ": " + addressing.error().message);
  plan.addressing = std::move(*addressing);
  plan_switches(config, plan);
  plan_links(config, built, plan);
  Traffic traffic(plan);
  for (const config::TrafficConfig& t : config.traffic) traffic.add(t);
  plan_events(config, plan);
  return plan;
}

std::string hosts_text(const Plan& plan) {
  std::string text = "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n";
  for (std::uint32_t node = 0; node < plan.topology.nodes.size(); ++node) {
    const topology::Node& n = plan.topology.nodes[node];
    if (n.is_switch()) continue;
    for (const topology::Interface& i : plan.addressing.interfaces[node]) {
      for (const IpPrefix& p : i.addresses) text += p.address.to_string() + " " + n.name + "\n";
    }
  }
  return text;
}

}  // namespace frond::fabric
