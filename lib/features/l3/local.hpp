// SPDX-License-Identifier: BSD-3-Clause
// Which slow path takes a packet that is addressed to us.
#pragma once

#include "features/punt.hpp"
#include "packet/packet.hpp"
#include "wire/ethernet.hpp"
#include "wire/ipv4.hpp"
#include "wire/ipv6.hpp"

namespace frond::l3 {

inline constexpr std::uint16_t kBfdUdpPort = 3784;  // RFC 5881 4

inline PuntCode local_punt(const Packet& packet) {
  const PacketMeta& meta = packet.meta();
  const bool fragment = (meta.flags & PacketMeta::kFragment) != 0;
  if (meta.ip_proto == wire::kProtoUdp && meta.dst_port == kBfdUdpPort && !fragment) {
    return kPuntBfd;
  }
  if (meta.ip_proto == wire::kProtoIcmp6 && meta.ether_type == wire::kTypeIpv6 && meta.l4 != 0) {
    // Fragmented ones too: neighbour discovery refuses them itself (RFC 6980).
    const std::uint8_t type = packet.data()[meta.l4];
    if (type >= 133 && type <= 137) return kPuntNd;
  }
  return kPuntLocal;
}

}  // namespace frond::l3
