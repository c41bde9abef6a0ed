// SPDX-License-Identifier: BSD-3-Clause
// Which address each port has: a pure function of the topology.
//
//   leaf i            10.0.i.0/24 (10.(i / 256).(i % 256).0) and fd00:0:0:i::/64; host port pN has
//                     the /31 (/127) at 2(N-1): the leaf the even address, the host the odd one
//   leaf i, port pN   10.254.i.2(N-1)/31 to the spine above; spine i, port pN: 10.255.i.2(N-1)/31
//   to
//                     the core above; fd00:ffff:T:i::2(N-1)/127, T the tier (0 leaf, 1 spine);
//                     the lower switch has the even address. Where ids pass 255: counted through.
//   loopbacks         10.253.(64 T + i / 256).(i % 256)/32 and fd00:fffe:0:T::i/128
//   MACs              02 and 40 bits of hash(fabric, node, port)
//
// Nothing depends on the order of the file or on other nodes, so adding or removing one readdresses
// nobody.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/address.hpp"
#include "base/result.hpp"
#include "topology/topology.hpp"

namespace frond::topology {

struct Interface {
  MacAddress mac;
  std::uint32_t mtu = kDefaultMtu;
  std::vector<IpPrefix> addresses;  // with host bits: 10.0.1.1/31
};

struct Addressing {
  std::vector<std::vector<Interface>> interfaces;  // [node][port]; unused ports have none
  std::vector<std::vector<IpPrefix>> loopbacks;    // [node]; switches
  std::vector<std::vector<IpPrefix>> blocks;       // [node]; switches that hosts hang on

  const Interface& at(End e) const { return interfaces[e.node][e.port]; }
  // The address of that family on the port, or nothing.
  std::optional<IpPrefix> address(End e, bool v6) const;
};

// Fails when the fabric is too big for the plan.
Result<Addressing> assign_addresses(const Topology& topology);

// What the far end of a port is called: the gateway of a route through it. Nothing when no link is
// there or the peer has no address of that family.
std::optional<IpAddress> gateway(const Topology& topology, const Addressing& addressing, End port,
                                 bool v6);

}  // namespace frond::topology
