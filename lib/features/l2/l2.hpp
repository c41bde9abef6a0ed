// SPDX-License-Identifier: BSD-3-Clause
// L2: is the frame for us? A router takes what is sent to its own MAC address, and of what is sent
// to groups only what concerns control: ARP, neighbour discovery.
#pragma once

#include <array>
#include <cstring>
#include <string_view>

#include "engine/pipeline.hpp"
#include "engine/verdict.hpp"
#include "features/l3/router.hpp"
#include "features/punt.hpp"
#include "wire/ethernet.hpp"

namespace frond::l2 {

class L2 {
 public:
  static constexpr std::string_view kName = "l2";
  enum Drop : std::uint8_t {
    l2_not_for_us,
    l2_group_source,
    l2_reserved_group,
    l2_unknown_type,
    kDropCount
  };
  static constexpr std::array<DropInfo, kDropCount> kDrops{{
      {"l2_not_for_us", "sent to another station's MAC address"},
      {"l2_group_source", "the source is a group address (IEEE 802.3 3.2.3)"},
      {"l2_reserved_group",
       "sent to 01:80:c2:00:00:0x, pause frames among them: never forwarded (IEEE 802.1Q 8.6.3)"},
      {"l2_unknown_type", "neither IP nor ARP"},
  }};

  explicit L2(const l3::Router& router) : router_(&router) {}

  template <class Why> Verdict decide(Packet& packet, Why& why) const {
    const PacketMeta& meta = packet.meta();
    std::uint64_t dst;
    std::memcpy(&dst, packet.data(), sizeof dst);
    const std::uint64_t src_group = dst >> 48 & 1;  // the byte after dst
    // The two highest bytes are the source's.
    const bool ours = ((dst ^ router_->mac_bits(meta.ingress)) << 16) == 0;
    const bool ip = meta.ether_type == wire::kTypeIpv4 || meta.ether_type == wire::kTypeIpv6;
    const Verdict verdict = ours && ip && src_group == 0 ? Verdict::next() : other(packet, ours);
    if constexpr (Why::kOn) {
      why("l2       to {}: {}", packet.at<wire::Ethernet>(0).dst.to_string(),
          ours                                     ? "ours"
          : meta.flags & PacketMeta::kGroupAddress ? "a group"
                                                   : "somebody else");
    }
    return verdict;
  }

 private:
  [[gnu::noinline]] static Verdict other(const Packet& packet, bool ours) {
    const PacketMeta& meta = packet.meta();
    const auto& ethernet = packet.at<wire::Ethernet>(0);
    if (ethernet.src.is_group()) return Verdict::drop(l2_group_source);
    const bool group = (meta.flags & PacketMeta::kGroupAddress) != 0;
    if (!ours && !group) return Verdict::drop(l2_not_for_us);
    static constexpr std::uint8_t kReserved[5] = {0x01, 0x80, 0xc2, 0, 0};
    if (std::memcmp(ethernet.dst.bytes.data(), kReserved, 5) == 0 && ethernet.dst.bytes[5] < 16) {
      return Verdict::drop(l2_reserved_group);
    }
    switch (meta.ether_type) {
      case wire::kTypeIpv4:
      case wire::kTypeIpv6:
        return Verdict::next();
      case wire::kTypeArp:
        return Verdict::punt(kPuntArp);
      default:
        return Verdict::drop(l2_unknown_type);
    }
  }

  const l3::Router* router_;
};

}  // namespace frond::l2
