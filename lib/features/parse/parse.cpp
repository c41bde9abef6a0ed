// SPDX-License-Identifier: BSD-3-Clause
#include "features/parse/parse.hpp"

#include <algorithm>

#include "wire/ipv6.hpp"

namespace frond::parse {
namespace {

using M = PacketMeta;

void flag(PacketMeta& meta, unsigned flags) {
  meta.flags = static_cast<std::uint8_t>(meta.flags | flags);
}

// The transport header is where `at` says, and `end` bytes of the frame are the datagram's. One
// that is cut short is the receiver's to judge: a router forwards it, without ports.
void transport(Packet& packet, std::uint32_t at, std::uint32_t end) {
  PacketMeta& meta = packet.meta();
  if (at >= std::min(end, packet.head_length())) return;
  meta.l4 = static_cast<std::uint16_t>(at);
  const bool has_ports = meta.ip_proto == wire::kProtoUdp || meta.ip_proto == wire::kProtoTcp ||
                         meta.ip_proto == wire::kProtoSctp;
  if (!has_ports || (meta.flags & M::kFragment) != 0) return;
  if (at + sizeof(wire::Ports) > std::min(end, packet.head_length())) return;
  const auto& ports = packet.at<wire::Ports>(at);
  meta.src_port = ports.src.host();
  meta.dst_port = ports.dst.host();
}

}  // namespace

Verdict Parse::slow(Packet& packet) {
  const std::uint32_t head = packet.head_length();
  if (head < sizeof(wire::Ethernet)) return Verdict::drop(parse_runt);
  PacketMeta& meta = packet.meta();
  const auto& ethernet = packet.at<wire::Ethernet>(0);
  if (ethernet.dst.is_group()) flag(meta, M::kGroupAddress);
  std::uint16_t type = ethernet.type.host();
  std::uint32_t at = sizeof(wire::Ethernet);
  for (unsigned tags = 0; wire::is_vlan_type(type); ++tags) {
    if (tags == kMaxTags) return Verdict::drop(parse_too_many_tags);
    if (head < at + sizeof(wire::VlanTag)) return Verdict::drop(parse_runt);
    const auto& tag = packet.at<wire::VlanTag>(at);
    if (tags == 0) meta.vlan_tci = tag.tci.host();
    flag(meta, M::kTagged);
    type = tag.type.host();
    at += sizeof(wire::VlanTag);
  }
  meta.l3 = static_cast<std::uint16_t>(at);
  meta.ether_type = type;
  if (type == wire::kTypeIpv4) return ipv4(packet);
  if (type == wire::kTypeIpv6) return ipv6(packet);
  return Verdict::next();
}

Verdict Parse::ipv4(Packet& packet) {
  PacketMeta& meta = packet.meta();
  const std::uint32_t l3 = meta.l3;
  if (packet.head_length() < l3 + sizeof(wire::Ipv4)) return Verdict::drop(parse_truncated);
  const auto& ip = packet.at<wire::Ipv4>(l3);
  const std::uint32_t header = ip.header_bytes();
  const std::uint32_t total = ip.total_length.host();
  // RFC 1812 5.2.2 (2), (4), (5): IHL at least 5, version 4, total length at least the header's.
  if (ip.version() != 4 || header < sizeof(wire::Ipv4) || total < header) {
    return Verdict::drop(parse_ipv4_malformed);
  }
  // (1): more bytes than the datagram has are padding, fewer are not enough.
  if (packet.head_length() < l3 + header || packet.frame_length() < l3 + total) {
    return Verdict::drop(parse_truncated);
  }
  meta.ip_proto = ip.proto;
  if (header > sizeof(wire::Ipv4)) flag(meta, M::kOptions);
  if (ip.is_fragment()) flag(meta, M::kFragment);
  if (ip.fragment_offset() == 0) transport(packet, l3 + header, l3 + total);
  return Verdict::next();
}

Verdict Parse::ipv6(Packet& packet) {
  PacketMeta& meta = packet.meta();
  const std::uint32_t l3 = meta.l3;
  const std::uint32_t first = l3 + static_cast<std::uint32_t>(sizeof(wire::Ipv6));
  if (packet.head_length() < first) return Verdict::drop(parse_truncated);
  const auto& ip = packet.at<wire::Ipv6>(l3);
  if (ip.version() != 6) return Verdict::drop(parse_ipv6_malformed);
  const std::uint32_t payload = ip.payload_length.host();
  if (packet.frame_length() < first + payload) return Verdict::drop(parse_truncated);
  const std::uint32_t readable = std::min(payload, packet.head_length() - first);
  const wire::Ipv6Walk walk =
      wire::walk_extensions(ip.next_header, packet.data() + first, readable);
  meta.ip_proto = walk.proto;
  if (walk.proto != ip.next_header || walk.offset != 0) flag(meta, M::kOptions);
  if (walk.fragment) flag(meta, M::kFragment);
  switch (walk.end) {
    case wire::Ipv6Walk::End::transport:
      transport(packet, first + walk.offset, first + payload);
      break;
    case wire::Ipv6Walk::End::payload:
      break;
    case wire::Ipv6Walk::End::truncated:
      // Where only the first segment ends, the chain is not wrong, just longer than we look.
      if (readable == payload) return Verdict::drop(parse_ipv6_malformed);
      flag(meta, M::kOptions);
      break;
    case wire::Ipv6Walk::End::too_long:
      break;
  }
  return Verdict::next();
}

}  // namespace frond::parse
