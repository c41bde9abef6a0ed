// SPDX-License-Identifier: BSD-3-Clause
// Topology: the nodes of a fabric, their ports and the links between them, as a value. Nothing here
// opens, sends or reads anything; addresses (addressing.hpp) and routes (routes.hpp) are pure
// functions of it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/address.hpp"
#include "base/rate.hpp"
#include "base/time.hpp"

namespace frond::topology {

// From the bottom up. A tier-0 switch is usually a leaf, but any switch may have hosts.
enum class Role : std::uint8_t { host, leaf, spine, core };
constexpr auto enum_names(Role) {
  return std::to_array<std::string_view>({"host", "leaf", "spine", "core"});
}
constexpr std::string_view role_name(Role r) { return enum_names(r)[static_cast<std::size_t>(r)]; }

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};
inline constexpr unsigned kMaxPorts = 128;  // of a switch
inline constexpr unsigned kMaxHostPorts = 8;
inline constexpr unsigned kMaxNodeId = (1U << 14) - 1;
inline constexpr std::uint32_t kDefaultMtu = 9000;  // of a link, in IP bytes

// Index N-1 is port pN of a switch, or eth(N-1) of a host, whatever else there is: adding a port
// renumbers none. So there may be gaps: ports that nothing uses.
struct Port {
  std::string name;
  std::uint32_t link = kNone;       // in Topology::links
  bool external = false;            // attached to something outside of the fabric
  std::vector<IpPrefix> addresses;  // asked for; empty: given by addressing.hpp
  std::optional<MacAddress> mac;    // the same
  std::uint32_t mtu = kDefaultMtu;  // the link's
  bool used() const { return link != kNone || external; }
};

struct Node {
  std::string name;
  Role role = Role::host;
  std::uint32_t id = 0;  // 1-based among its role; decides addresses, so it is stable (see finish)
  std::vector<Port> ports;
  bool is_switch() const { return role != Role::host; }
};

struct End {
  std::uint32_t node = kNone;
  std::uint16_t port = 0;  // index in Node::ports
  auto operator<=>(const End&) const = default;
};

struct Link {
  End a;
  End b;
  Rate rate = Rate::gbps(1);
  Time delay;
  std::uint32_t mtu = kDefaultMtu;
};

struct Topology {
  std::string name;
  std::vector<Node> nodes;
  std::vector<Link> links;

  std::uint32_t find(std::string_view node) const;  // kNone when there is none; looks at each
  // `leaf1:p3`, or `h1` for a host's first port. Only ports that are used.
  std::optional<End> find_end(std::string_view text) const;
  std::string end_name(End e) const;  // leaf1:p3
  std::string link_name(const Link& l) const { return end_name(l.a) + "-" + end_name(l.b); }
  const Port& port(End e) const { return nodes[e.node].ports[e.port]; }
  Port& port(End e) { return nodes[e.node].ports[e.port]; }
  std::optional<End> peer(End e) const;  // across the link
  unsigned count(Role role) const;

  std::uint32_t add_node(std::string node_name, Role role, std::uint32_t id = 0);
  // Makes the ports up to that name; nothing when the name is not one for that role.
  std::optional<std::uint16_t> add_port(std::uint32_t node, std::string_view port_text);
  std::uint32_t add_link(End a, End b, Rate rate, Time delay, std::uint32_t mtu);
  // Gives an id to each node that has none: the number its name ends in when free in its role,
  // else the lowest free one. So leaf3 stays 3 when leaf2 goes. Call once, after the last node.
  void finish();
};

// p1..p128 of a switch, eth0..eth7 of a host: the index, or nothing.
std::optional<std::uint16_t> port_index(Role role, std::string_view name);
std::string port_name(Role role, std::uint16_t index);

// The seed of a switch's ECMP hash: its own, so that the tiers do not choose alike.
std::uint64_t ecmp_seed(std::uint64_t fabric_seed, std::string_view switch_name);

struct LeafSpine {
  unsigned leaves = 2;
  unsigned spines = 2;
  unsigned hosts_per_leaf = 2;
  Rate host_rate = Rate::gbps(1);
  Rate uplink_rate = Rate::gbps(1);
  Time delay;
  std::uint32_t mtu = kDefaultMtu;
};

// Leaf ports: hosts first, then one uplink a spine. Spine ports: one a leaf, in order.
Topology leaf_spine(std::string name, const LeafSpine& shape);

struct FatTree {
  unsigned k = 4;  // even: ports of a switch; k pods of k/2 leaves and k/2 spines, k^3/4 hosts
  Rate host_rate = Rate::gbps(1);
  Rate uplink_rate = Rate::gbps(1);
  Time delay;
  std::uint32_t mtu = kDefaultMtu;
};

// Al-Fares, Loukissas, Vahdat 2008. Numbered through: leaf1..leaf(k/2) are the first pod's.
Topology fat_tree(std::string name, const FatTree& shape);

// Of the leaf tier: host rate over uplink rate, as 2.0 for 2:1; 0 without uplinks. The worst leaf.
double oversubscription(const Topology& topology);

}  // namespace frond::topology
