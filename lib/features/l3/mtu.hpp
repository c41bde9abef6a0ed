// SPDX-License-Identifier: BSD-3-Clause
// Mtu: does the datagram fit the link it leaves by? IPv4 that may be fragmented goes to the control
// agent; the rest is dropped and its sender told (RFC 1191 4, RFC 8201).
#pragma once

#include <array>
#include <string_view>

#include "engine/pipeline.hpp"
#include "engine/verdict.hpp"
#include "features/l3/router.hpp"
#include "features/punt.hpp"
#include "wire/ethernet.hpp"
#include "wire/ipv4.hpp"
#include "wire/ipv6.hpp"

namespace frond::l3 {

class Mtu {
 public:
  static constexpr std::string_view kName = "mtu";
  enum Drop : std::uint8_t { ipv4_too_big, ipv6_too_big, kDropCount };
  static constexpr std::array<DropInfo, kDropCount> kDrops{{
      {"ipv4_too_big", "longer than the egress MTU, and DF is set (RFC 791, RFC 1191)",
       kAnswerTooBig},
      {"ipv6_too_big", "longer than the egress MTU (RFC 8200 5)", kAnswerTooBig},
  }};

  explicit Mtu(const Router& router) : router_(&router) {}

  template <class Why> Verdict decide(Packet& packet, Why& why) const {
    const PacketMeta& meta = packet.meta();
    const std::uint32_t mtu = router_->mtu(meta.egress);
    // With padding and Ethernet header it is at least as long as the datagram: cheaper to ask.
    if (packet.frame_length() <= mtu) [[likely]]
      return Verdict::next();
    const bool v6 = meta.ether_type == wire::kTypeIpv6;
    const std::uint32_t length = v6 ? std::uint32_t{sizeof(wire::Ipv6)} +
                                          packet.at<wire::Ipv6>(meta.l3).payload_length.host()
                                    : packet.at<wire::Ipv4>(meta.l3).total_length.host();
    if (length <= mtu) return Verdict::next();
    if constexpr (Why::kOn) why("mtu      {} bytes, the link takes {}", length, mtu);
    if (v6) return Verdict::drop(ipv6_too_big);
    return packet.at<wire::Ipv4>(meta.l3).dont_fragment() ? Verdict::drop(ipv4_too_big)
                                                          : Verdict::punt(kPuntFragment);
  }

 private:
  const Router* router_;
};

}  // namespace frond::l3
