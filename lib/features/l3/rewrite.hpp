// SPDX-License-Identifier: BSD-3-Clause
// The last stage of routing: the neighbour's MAC address, ours, and one hop less.
#pragma once

#include <array>
#include <cstring>
#include <string_view>

#include "engine/pipeline.hpp"
#include "engine/verdict.hpp"
#include "features/l3/router.hpp"
#include "features/punt.hpp"
#include "wire/checksum.hpp"
#include "wire/ethernet.hpp"
#include "wire/ipv6.hpp"

namespace frond::l3 {

// VLAN tags stay between the addresses and the IP header, as they came.
inline void rewrite_headers(Packet& packet, const Adjacency& adjacency) {
  static_assert(offsetof(Adjacency, src) == 6 && offsetof(wire::Ethernet, src) == 6);
  std::memcpy(packet.data(), &adjacency, 12);
  if (packet.meta().ether_type == wire::kTypeIpv4) [[likely]] {
    wire::decrement_ttl(packet.at<wire::Ipv4>(packet.meta().l3));
  } else {
    auto& ip = packet.at<wire::Ipv6>(packet.meta().l3);
    ip.hop_limit = static_cast<std::uint8_t>(ip.hop_limit - 1);
  }
}

class Rewrite {
 public:
  static constexpr std::string_view kName = "rewrite";
  static constexpr std::array<DropInfo, 0> kDrops{};

  explicit Rewrite(const Router& router) : router_(&router) {}

  template <class Why> Verdict decide(Packet& packet, Why& why) const {
    const NextHop next = NextHop::from_bits(packet.meta().next_hop);
    if (next.kind() != NextHop::Kind::adjacency) [[unlikely]] {
      if constexpr (Why::kOn) why("rewrite  no neighbour yet on port {}", packet.meta().egress);
      return Verdict::punt(kPuntNoNeighbor);
    }
    const Adjacency& adjacency = router_->adjacency(next.index());
    if (!adjacency.resolved) [[unlikely]] {
      if constexpr (Why::kOn) {
        why("rewrite  {} has not answered yet",
            router_->neighbor(next.index()).address.to_string());
      }
      return Verdict::punt(kPuntNoNeighbor);
    }
    rewrite_headers(packet, adjacency);
    if constexpr (Why::kOn) {
      why("rewrite  {} -> {}, one hop less", adjacency.src.to_string(), adjacency.dst.to_string());
    }
    return Verdict::next();
  }

 private:
  const Router* router_;
};

}  // namespace frond::l3
