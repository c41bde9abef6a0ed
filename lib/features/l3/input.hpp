// SPDX-License-Identifier: BSD-3-Clause
// Input: may this datagram be routed at all? RFC 1812 5.2.2 and 5.3.7, RFC 4291 2.5 and 2.7.
#pragma once

#include <array>
#include <string_view>

#include "engine/pipeline.hpp"
#include "engine/verdict.hpp"
#include "features/l3/router.hpp"
#include "features/punt.hpp"
#include "wire/checksum.hpp"
#include "wire/ethernet.hpp"
#include "wire/ipv6.hpp"

namespace frond::l3 {

class Input {
 public:
  static constexpr std::string_view kName = "input";
  enum Drop : std::uint8_t {
    ipv4_checksum,
    ipv4_martian_source,
    ipv4_martian_destination,
    ipv4_multicast,
    ipv6_martian_source,
    ipv6_martian_destination,
    ipv6_multicast,
    ipv6_beyond_scope,
    ip_link_group,
    kDropCount
  };
  static constexpr std::array<DropInfo, kDropCount> kDrops{{
      {"ipv4_checksum", "wrong header checksum (RFC 1812 5.2.2)"},
      {"ipv4_martian_source",
       "source in 0/8, 127/8, multicast, class E or broadcast (RFC 1812 5.3.7)"},
      {"ipv4_martian_destination", "destination in 0/8, 127/8 or class E (RFC 1812 5.3.7)"},
      {"ipv4_multicast", "multicast or limited broadcast: not routed here (RFC 1812 5.3.5.1)"},
      {"ipv6_martian_source", "source is unspecified, loopback or multicast (RFC 4291 2.5, 2.7)"},
      {"ipv6_martian_destination", "destination is unspecified or loopback (RFC 4291 2.5)"},
      {"ipv6_multicast", "multicast that we don't listen to: not routed here"},
      {"ipv6_beyond_scope", "a link-local source, to be routed off its link (RFC 4291 2.5.6)",
       kAnswerBeyondScope},
      {"ip_link_group", "unicast in a link-layer broadcast or multicast (RFC 1812 5.3.4)"},
  }};

  explicit Input(const Router& router) : router_(&router) {}

  template <class Why> Verdict decide(Packet& packet, Why& why) const {
    Verdict verdict;
    if (packet.meta().ether_type == wire::kTypeIpv4) [[likely]] {
      verdict = ipv4(packet);
    } else {
      verdict = ipv6(packet);
    }
    if constexpr (Why::kOn) {
      if (verdict.is_next()) why("input    header, source and destination are sound");
    }
    return verdict;
  }

 private:
  static bool usual_v4(std::uint32_t address) {
    const std::uint32_t top = address >> 24;
    return top - 1 < 223 && top != 127;
  }

  static Verdict ipv4(const Packet& packet) {
    const PacketMeta& meta = packet.meta();
    const auto& ip = packet.at<wire::Ipv4>(meta.l3);
    wire::Sum sum = wire::sum_bytes(&ip, sizeof ip);
    if ((meta.flags & PacketMeta::kOptions) != 0) [[unlikely]] {
      sum = wire::sum_bytes(&ip + 1, ip.header_bytes() - sizeof ip, sum);
    }
    if (wire::fold(sum) != 0xffff) [[unlikely]]
      return Verdict::drop(ipv4_checksum);
    // One branch for all three.
    const unsigned usual = unsigned{usual_v4(ip.src.host())} & unsigned{usual_v4(ip.dst.host())} &
                           unsigned{(meta.flags & PacketMeta::kGroupAddress) == 0};
    return usual != 0 ? Verdict::next() : unusual_v4(packet);
  }

  [[gnu::noinline]] static Verdict unusual_v4(const Packet& packet) {
    const auto& ip = packet.at<wire::Ipv4>(packet.meta().l3);
    const std::uint32_t dst = ip.dst.host();
    if (!usual_v4(ip.src.host())) return Verdict::drop(ipv4_martian_source);
    if (dst >> 28 == 0xe || dst == 0xffffffff) return Verdict::drop(ipv4_multicast);
    if (!usual_v4(dst)) return Verdict::drop(ipv4_martian_destination);
    return Verdict::drop(ip_link_group);
  }

  static bool usual_v6(const Ip6& a) {
    // Neither ::/8 (unspecified, loopback, mapped) nor fe80::/10 nor multicast.
    return static_cast<std::uint8_t>(a.bytes[0] - 1) < 0xfd;
  }

  Verdict ipv6(const Packet& packet) const {
    const PacketMeta& meta = packet.meta();
    const auto& ip = packet.at<wire::Ipv6>(meta.l3);
    const bool usual =
        usual_v6(ip.src) && usual_v6(ip.dst) && (meta.flags & PacketMeta::kGroupAddress) == 0;
    return usual ? Verdict::next() : unusual_v6(packet);
  }

  Verdict unusual_v6(const Packet& packet) const;

  const Router* router_;
};

}  // namespace frond::l3
