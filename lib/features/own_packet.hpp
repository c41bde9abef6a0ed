// SPDX-License-Identifier: BSD-3-Clause
// Packets that a control agent makes: room for the Ethernet header, an IP header, a payload. And
// the sums over payloads that may be spread over segments.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/address.hpp"
#include "packet/packet.hpp"
#include "packet/pool.hpp"
#include "wire/checksum.hpp"
#include "wire/ethernet.hpp"
#include "wire/ipv4.hpp"
#include "wire/ipv6.hpp"

namespace frond {

inline constexpr std::uint16_t kFrameRoom = sizeof(wire::Ethernet);
inline constexpr std::uint8_t kOwnTtl = 64;            // RFC 1700; IANA's default
inline constexpr std::uint8_t kNetworkControl = 0xc0;  // CS6 (RFC 4594 3.1)

struct OwnIp {
  IpAddress src, dst;  // of one family
  std::uint8_t proto = 0;
  std::uint8_t ttl = kOwnTtl;
  std::uint8_t tos = kNetworkControl;
  std::uint16_t id = 0;  // IPv4; 0: never fragmented, DF is set (RFC 6864 4.1)
};

inline std::uint32_t ip_header_bytes(bool v6) {
  return v6 ? sizeof(wire::Ipv6) : sizeof(wire::Ipv4);
}

inline void write_ip_header(std::uint8_t* at, const OwnIp& spec, std::uint32_t payload) {
  if (spec.dst.v6) {
    wire::Ipv6 ip{};
    ip.version_class_flow = wire::be32(6U << 28 | std::uint32_t{spec.tos} << 20);
    ip.payload_length = wire::be16(static_cast<std::uint16_t>(payload));
    ip.next_header = spec.proto;
    ip.hop_limit = spec.ttl;
    ip.src = spec.src.v6_address;
    ip.dst = spec.dst.v6_address;
    std::memcpy(at, &ip, sizeof ip);
    return;
  }
  wire::Ipv4 ip{};
  ip.version_ihl = 0x45;
  ip.tos = spec.tos;
  ip.total_length = wire::be16(static_cast<std::uint16_t>(sizeof ip + payload));
  ip.id = wire::be16(spec.id);
  ip.fragment = wire::be16(spec.id == 0 ? wire::Ipv4::kDontFragment : 0);
  ip.ttl = spec.ttl;
  ip.proto = spec.proto;
  ip.src = wire::be32(spec.src.v4_address.value);
  ip.dst = wire::be32(spec.dst.v4_address.value);
  wire::fill_header_checksum(ip);
  std::memcpy(at, &ip, sizeof ip);
}

// What the pipeline would have found out.
inline void describe_own(Packet& packet, bool v6, std::uint8_t proto) {
  packet.reset_meta();
  PacketMeta& meta = packet.meta();
  meta.l3 = kFrameRoom;
  meta.l4 = static_cast<std::uint16_t>(kFrameRoom + ip_header_bytes(v6));
  meta.ether_type = v6 ? wire::kTypeIpv6 : wire::kTypeIpv4;
  meta.ip_proto = proto;
  meta.flags = PacketMeta::kControl;
}

// `payload` bytes, of value 0, follow the IP header, at meta().l4. In one segment: the caller asks
// for no more than that holds. nullptr when the pool is empty.
inline Packet* make_own(PacketPool& pool, const OwnIp& spec, std::uint32_t payload) {
  Packet* packet = pool.allocate();
  if (packet == nullptr) return nullptr;
  const std::uint32_t length = kFrameRoom + ip_header_bytes(spec.dst.v6) + payload;
  char* at = rte_pktmbuf_append(packet->mbuf(), static_cast<std::uint16_t>(length));
  if (at == nullptr) {
    packet->free();
    return nullptr;
  }
  std::memset(at, 0, length);
  describe_own(*packet, spec.dst.v6, spec.proto);
  packet->at<wire::Ethernet>(0).type = wire::be16(packet->meta().ether_type);
  write_ip_header(packet->data() + kFrameRoom, spec, payload);
  return packet;
}

// The sum of `length` bytes from `offset` on; the caller has checked that they are there. A
// segment of odd length shifts the bytes of what follows (RFC 1071 2 B).
inline wire::Sum sum_packet(const Packet& packet, std::uint32_t offset, std::uint32_t length,
                            wire::Sum sum = 0) {
  bool odd = false;
  for (const rte_mbuf* m = packet.mbuf(); m != nullptr && length > 0; m = m->next) {
    if (offset >= m->data_len) {
      offset -= m->data_len;
      continue;
    }
    const std::uint32_t n = std::min<std::uint32_t>(m->data_len - offset, length);
    const std::uint16_t part =
        wire::fold(wire::sum_bytes(rte_pktmbuf_mtod_offset(m, const std::uint8_t*, offset), n));
    sum += odd ? __builtin_bswap16(part) : part;
    odd ^= (n & 1) != 0;
    length -= n;
    offset = 0;
  }
  return sum;
}

// The pseudo header of the packet whose IP header is at meta().l3.
inline wire::Sum pseudo_sum_of(const Packet& packet, std::uint8_t proto, std::uint32_t length) {
  return packet.meta().ether_type == wire::kTypeIpv6
             ? wire::pseudo_sum(packet.at<wire::Ipv6>(packet.meta().l3), proto, length)
             : wire::pseudo_sum(packet.at<wire::Ipv4>(packet.meta().l3), proto, length);
}

inline IpAddress ip_source(const Packet& packet) {
  const PacketMeta& meta = packet.meta();
  if (meta.ether_type == wire::kTypeIpv6) return packet.at<wire::Ipv6>(meta.l3).src;
  return packet.at<wire::Ipv4>(meta.l3).source();
}

inline IpAddress ip_destination(const Packet& packet) {
  const PacketMeta& meta = packet.meta();
  if (meta.ether_type == wire::kTypeIpv6) return packet.at<wire::Ipv6>(meta.l3).dst;
  return packet.at<wire::Ipv4>(meta.l3).destination();
}

// How many bytes the transport header and its data have, as the IP header says; 0 when that
// contradicts meta() or is more than the packet holds.
inline std::uint32_t transport_bytes(const Packet& packet) {
  const PacketMeta& meta = packet.meta();
  if (meta.l3 == 0 || meta.l4 <= meta.l3 || meta.l4 > packet.head_length()) return 0;
  const std::uint32_t end =
      meta.ether_type == wire::kTypeIpv6
          ? meta.l3 + 40U + packet.at<wire::Ipv6>(meta.l3).payload_length.host()
          : meta.l3 + std::uint32_t{packet.at<wire::Ipv4>(meta.l3).total_length.host()};
  if (end <= meta.l4 || end > packet.length()) return 0;
  return end - meta.l4;
}

}  // namespace frond
