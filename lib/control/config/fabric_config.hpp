// SPDX-License-Identifier: BSD-3-Clause
// FabricConfig: one file, one fabric, as a value. Defaults are the members' initialisers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.hpp"
#include "features/bfd/bfd.hpp"
#include "features/icmp/icmp.hpp"
#include "features/l3/fib.hpp"
#include "features/neighbor/neighbor.hpp"
#include "link/impairment.hpp"
#include "topology/topology.hpp"

namespace frond::config {

inline constexpr std::uint32_t kVersion = 1;
inline constexpr Rate kMaxRate = Rate::gbps(10'000);
inline constexpr std::uint32_t kMinMtu = 1280;  // RFC 8200 5
inline constexpr std::uint32_t kMaxMtu = 9216;
inline constexpr std::uint32_t kAfXdpMtu = 3072;  // what the driver carries in a page
inline constexpr unsigned kMaxEthdevs = 32;       // of one process (RTE_MAX_ETHPORTS)
inline constexpr std::size_t kMaxNodes = 10'000;
inline constexpr std::size_t kMaxLinks = 65'536;
inline constexpr std::size_t kMaxName = 15;  // an interface may be called so (IFNAMSIZ - 1)

inline constexpr Constraint kRateRange = range(Rate::bps(1), kMaxRate);
inline constexpr Constraint kMtuRange = range(kMinMtu, kMaxMtu);

enum class Generator : std::uint8_t { leaf_spine, fat_tree };
constexpr auto enum_names(Generator) {
  return std::to_array<std::string_view>({"leaf-spine", "fat-tree"});
}

// A generated topology. What does not belong to the type must be absent.
struct TopologyConfig {
  Generator type = Generator::leaf_spine;
  std::optional<std::uint32_t> leaves;          // leaf-spine: 2
  std::optional<std::uint32_t> spines;          // leaf-spine: 2
  std::optional<std::uint32_t> hosts_per_leaf;  // leaf-spine: 2
  std::optional<std::uint32_t> k;               // fat-tree: 4
  Rate host_rate = Rate::gbps(1);
  Rate uplink_rate = Rate::gbps(1);
  Time delay = Time::ns(500);
  std::uint32_t mtu = topology::kDefaultMtu;

  template <class F> static void fields(F& f) {
    f("type", &TopologyConfig::type, "", "Shape of the fabric", required);
    f("leaves", &TopologyConfig::leaves, "switches", "leaf-spine: number of leaves (2)",
      range(1U, topology::kMaxPorts));
    f("spines", &TopologyConfig::spines, "switches", "leaf-spine: number of spines (2)",
      range(0U, topology::kMaxPorts));
    f("hosts_per_leaf", &TopologyConfig::hosts_per_leaf, "hosts",
      "leaf-spine: hosts at each leaf (2)", range(0U, topology::kMaxPorts));
    f("k", &TopologyConfig::k, "ports", "fat-tree: ports of a switch, even (4)", range(2, 32));
    f("host_rate", &TopologyConfig::host_rate, "", "Rate of the links to hosts", kRateRange);
    f("uplink_rate", &TopologyConfig::uplink_rate, "", "Rate of the links between switches",
      kRateRange);
    f("delay", &TopologyConfig::delay, "", "Propagation delay of each link",
      range(Time(), Time::s(10)));
    f("mtu", &TopologyConfig::mtu, "bytes", "IP MTU of each link", kMtuRange);
  }
};

enum class Driver : std::uint8_t {
  af_packet,
  af_xdp,
  tap,
  vhost,
  virtio_user,
  memif,
  pcap,
  null,
  pci
};
constexpr auto enum_names(Driver) {
  return std::to_array<std::string_view>(
      {"af_packet", "af_xdp", "tap", "vhost", "virtio-user", "memif", "pcap", "null", "pci"});
}

enum class SocketRole : std::uint8_t { server, client };
constexpr auto enum_names(SocketRole) {
  return std::to_array<std::string_view>({"server", "client"});
}

// One port. A switch's port with a driver is attached to something outside of this process, also
// when a link of the topology runs over it.
struct PortConfig {
  std::optional<Driver> driver;
  std::string device;
  std::string netns;
  std::optional<SocketRole> role;
  std::uint32_t id = 0;
  std::string output;
  std::optional<Rate> rate;
  std::optional<std::uint32_t> mtu;
  std::vector<IpPrefix> addresses;
  std::optional<MacAddress> mac;

  template <class F> static void fields(F& f) {
    f("driver", &PortConfig::driver, "", "How the port is attached outside of the process");
    f("device", &PortConfig::device, "",
      "Interface (af_packet, af_xdp, tap), socket path (vhost, virtio-user, memif), capture file "
      "(pcap) or PCI address (pci)");
    f("netns", &PortConfig::netns, "", "Network namespace of the interface: its name or path");
    f("role", &PortConfig::role, "", "vhost, memif: which end opens the socket (server)");
    f("id", &PortConfig::id, "", "memif: number of the interface on its socket");
    f("output", &PortConfig::output, "", "pcap: file for what is sent; else it is dropped");
    f("rate", &PortConfig::rate, "", "Rate, when no link of the topology gives it (1G)",
      kRateRange);
    f("mtu", &PortConfig::mtu, "bytes", "IP MTU, when no link of the topology gives it (1500)",
      kMtuRange);
    f("addresses", &PortConfig::addresses, "", "Instead of those that Frond gives");
    f("mac", &PortConfig::mac, "", "Instead of the one that Frond gives");
  }
};

struct StaticRoute {
  IpPrefix prefix;
  std::vector<IpAddress> via;  // empty: drop
  template <class F> static void fields(F& f) {
    f("prefix", &StaticRoute::prefix, "", "Destination", required);
    f("via", &StaticRoute::via, "", "Next hops, on networks of this switch's ports; none: drop");
  }
};

struct NodeConfig {
  std::optional<topology::Role> type;
  std::optional<std::uint32_t> id;
  Named<PortConfig> ports;
  std::vector<StaticRoute> routes;
  std::optional<std::uint64_t> ecmp_seed;

  template <class F> static void fields(F& f) {
    f("type", &NodeConfig::type, "", "What it is; may be left out for nodes of the generator");
    f("id", &NodeConfig::id, "",
      "Number among its type, which decides addresses (the number its name ends in)",
      range(1U, topology::kMaxNodeId));
    f("ports", &NodeConfig::ports, "", "Ports that need more than a link: p1..p128, hosts eth0..");
    f("routes", &NodeConfig::routes, "", "Static routes of a switch");
    f("ecmp_seed", &NodeConfig::ecmp_seed, "",
      "Seed of the ECMP hash (from the fabric's seed and "
      "the name)");
  }
};

enum class LinkDriver : std::uint8_t { wire, veth, memif };
constexpr auto enum_names(LinkDriver) {
  return std::to_array<std::string_view>({"wire", "veth", "memif"});
}
enum class LinkState : std::uint8_t { up, down };
constexpr auto enum_names(LinkState) { return std::to_array<std::string_view>({"up", "down"}); }

// A link of one's own, or what is special about one of the generator's (named by either end).
struct LinkConfig {
  std::string a;
  std::string b;
  std::optional<Rate> rate;
  std::optional<Time> delay;
  std::optional<std::uint32_t> mtu;
  std::optional<LinkDriver> driver;
  LinkState state = LinkState::up;
  link::Impairment impair;
  std::optional<link::Impairment> impair_a;
  std::optional<link::Impairment> impair_b;

  template <class F> static void fields(F& f) {
    f("a", &LinkConfig::a, "", "One end: leaf1:p3; h1 is h1:eth0", required);
    f("b", &LinkConfig::b, "", "The other end; may be left out for links of the generator");
    f("rate", &LinkConfig::rate, "", "Rate (1G)", kRateRange);
    f("delay", &LinkConfig::delay, "", "Propagation delay (500ns)", range(Time(), Time::s(10)));
    f("mtu", &LinkConfig::mtu, "bytes", "IP MTU (9000)", kMtuRange);
    f("driver", &LinkConfig::driver, "",
      "What joins the ends: a wire in the process, a veth pair or memif (wire)");
    f("state", &LinkConfig::state, "", "Whether the link is up at the start");
    f("impair", &LinkConfig::impair, "", "What the link does to packets, both ways");
    f("impair_a", &LinkConfig::impair_a, "", "Instead of impair: for what end a sends");
    f("impair_b", &LinkConfig::impair_b, "", "Instead of impair: for what end b sends");
  }
};

enum class Attach : std::uint8_t { tap, veth };
constexpr auto enum_names(Attach) { return std::to_array<std::string_view>({"tap", "veth"}); }
enum class VethDriver : std::uint8_t { af_packet, af_xdp };
constexpr auto enum_names(VethDriver) {
  return std::to_array<std::string_view>({"af_packet", "af_xdp"});
}

struct HostsConfig {
  Attach attach = Attach::tap;
  VethDriver driver = VethDriver::af_packet;
  std::uint32_t mtu = 1500;

  template <class F> static void fields(F& f) {
    f("attach", &HostsConfig::attach, "", "How a host's eth0 meets its switch");
    f("driver", &HostsConfig::driver, "", "veth: how the switch's end is driven");
    f("mtu", &HostsConfig::mtu, "bytes", "MTU of a host's interface; at most its link's",
      kMtuRange);
  }
};

struct SwitchConfig {
  l3::Fib::Config fib;
  Bytes queue = Bytes::mib(1);
  std::optional<std::uint64_t> ecmp_seed;
  neighbor::Config neighbor;
  icmp::Config icmp;
  bfd::Config bfd;

  template <class F> static void fields(F& f) {
    f("fib", &SwitchConfig::fib, "", "Table of prefixes: compact, or large for a full table");
    f("queue", &SwitchConfig::queue, "", "What may wait at a port; more is dropped",
      range(Bytes::kib(16), Bytes(std::uint64_t{1} << 32)));
    f("ecmp_seed", &SwitchConfig::ecmp_seed, "",
      "Seed of the ECMP hash of every switch; auto: each its own, so that tiers do not choose "
      "alike");
    f("neighbor", &SwitchConfig::neighbor, "", "ARP and neighbour discovery");
    f("icmp", &SwitchConfig::icmp, "", "ICMP and ICMPv6");
    f("bfd", &SwitchConfig::bfd, "", "Failure detection between switches");
  }
};

enum class Idle : std::uint8_t { adaptive, busy };
constexpr auto enum_names(Idle) { return std::to_array<std::string_view>({"adaptive", "busy"}); }

enum class Pattern : std::uint8_t { pair, permutation, incast };
constexpr auto enum_names(Pattern) {
  return std::to_array<std::string_view>({"pair", "permutation", "incast"});
}

// UDP sources of a simulation.
struct TrafficConfig {
  Pattern pattern = Pattern::permutation;
  std::vector<std::string> from;
  std::string to;
  Rate rate = Rate::mbps(100);
  Bytes size = Bytes(1000);
  std::uint32_t flows = 1;
  bool ipv6 = false;
  Time start;
  std::optional<Time> stop;

  template <class F> static void fields(F& f) {
    f("pattern", &TrafficConfig::pattern, "",
      "pair: each of from to to; permutation: each to one other, by the seed; incast: all to to",
      required);
    f("from", &TrafficConfig::from, "", "Sending hosts (all)");
    f("to", &TrafficConfig::to, "", "pair, incast: the receiving host");
    f("rate", &TrafficConfig::rate, "", "Rate of each sender, IP bytes", kRateRange);
    f("size", &TrafficConfig::size, "", "IP bytes of a packet", range(Bytes(64), Bytes(kMaxMtu)));
    f("flows", &TrafficConfig::flows, "flows", "UDP source ports of each sender", range(1, 4096));
    f("ipv6", &TrafficConfig::ipv6, "", "IPv6 instead of IPv4");
    f("start", &TrafficConfig::start, "", "First packet");
    f("stop", &TrafficConfig::stop, "", "No packet from here on (the end)");
  }
};

// Something that happens to a link during a simulation.
struct EventConfig {
  Time at;
  std::string link;
  std::optional<LinkState> state;
  std::optional<link::Impairment> impair;

  template <class F> static void fields(F& f) {
    f("at", &EventConfig::at, "", "When", required);
    f("link", &EventConfig::link, "", "The link, by one of its ends: leaf1:p3", required);
    f("state", &EventConfig::state, "", "Its new state");
    f("impair", &EventConfig::impair, "", "What it does to packets from now on, both ways");
  }
};

struct FabricConfig {
  std::uint32_t version = kVersion;
  std::string name;
  std::uint64_t seed = 1;
  std::optional<TopologyConfig> topology;
  Named<NodeConfig> nodes;
  std::vector<LinkConfig> links;
  HostsConfig hosts;
  SwitchConfig switches;
  std::vector<std::uint32_t> cpus;
  Idle idle = Idle::adaptive;
  std::vector<TrafficConfig> traffic;
  std::vector<EventConfig> events;
  Time duration = Time::ms(10);

  template <class F> static void fields(F& f) {
    f("version", &FabricConfig::version, "", "Version of this format: 1", required);
    f("name", &FabricConfig::name, "", "Name of the fabric (the file's)");
    f("seed", &FabricConfig::seed, "", "Seed of everything that is drawn");
    f("topology", &FabricConfig::topology, "", "A generated topology");
    f("nodes", &FabricConfig::nodes, "", "Switches and hosts, or more about the generated ones");
    f("links", &FabricConfig::links, "", "Links, or more about the generated ones");
    f("hosts", &FabricConfig::hosts, "", "How hosts are attached");
    f("switch", &FabricConfig::switches, "", "Options of every switch");
    f("cpus", &FabricConfig::cpus, "", "CPUs for the data path, one worker each (not pinned)",
      range(0, 1023));
    f("idle", &FabricConfig::idle, "", "What a worker does without work: sleep a little, or poll");
    f("traffic", &FabricConfig::traffic, "", "frond sim: what hosts send");
    f("events", &FabricConfig::events, "", "frond sim: what happens to links");
    f("duration", &FabricConfig::duration, "", "frond sim: how long",
      range(Time::us(1), Time::s(3600)));
  }
};

}  // namespace frond::config
