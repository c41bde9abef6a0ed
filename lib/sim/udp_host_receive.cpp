// SPDX-License-Identifier: BSD-3-Clause
// UdpHost: what becomes of a packet that has arrived.
#include <algorithm>

#include "sim/host_reply.hpp"
#include "sim/probe.hpp"
#include "sim/udp_host.hpp"
#include "wire/arp.hpp"
#include "wire/checksum.hpp"
#include "wire/ethernet.hpp"
#include "wire/nd.hpp"
#include "wire/transport.hpp"

namespace frond::sim {

namespace {

constexpr std::uint32_t kL3 = sizeof(wire::Ethernet);

// Of `length` bytes from `offset`, over all segments. Bytes beyond those present are elided zeros.
wire::Sum sum_packet(const Packet& packet, std::uint32_t offset, std::uint32_t length,
                     wire::Sum sum) {
  bool odd = false;  // bytes so far: then the next byte is the second of its word
  for (const rte_mbuf* m = packet.mbuf(); m != nullptr && length != 0; m = m->next) {
    const std::uint32_t n =
        std::min<std::uint32_t>(m->data_len > offset ? m->data_len - offset : 0, length);
    if (n != 0) {
      const std::uint16_t part =
          wire::fold(wire::sum_bytes(rte_pktmbuf_mtod_offset(m, const std::uint8_t*, offset), n));
      sum += odd ? __builtin_bswap16(part) : part;
      odd = odd != (n % 2 != 0);
      length -= n;
    }
    offset -= std::min<std::uint32_t>(offset, m->data_len);
  }
  return sum;
}

// RFC 2464 7.
bool is_ipv6_group(const MacAddress& mac) { return mac.bytes[0] == 0x33 && mac.bytes[1] == 0x33; }

}  // namespace

void UdpHost::handle(Context& ctx, Packet* packet) {
  if (packet->head_length() < kL3) return drop(ctx, packet, host_malformed);
  const auto& ethernet = packet->at<wire::Ethernet>(0);
  if (ethernet.dst != config_.mac && ethernet.dst != wire::kBroadcastMac &&
      !is_ipv6_group(ethernet.dst)) {
    return drop(ctx, packet, host_other_mac);
  }
  switch (ethernet.type.host()) {
    case wire::kTypeIpv4:
      return handle_ipv4(ctx, packet);
    case wire::kTypeIpv6:
      return handle_ipv6(ctx, packet);
    case wire::kTypeArp:
      if (packet->head_length() < kL3 + sizeof(wire::Arp)) {
        return drop(ctx, packet, host_malformed);
      }
      if (answer_arp(*packet, kL3, config_.mac, addresses_)) return reply(ctx, packet);
      return drop(ctx, packet, host_unhandled);
    default:
      return drop(ctx, packet, host_unhandled);
  }
}

void UdpHost::handle_ipv4(Context& ctx, Packet* packet) {
  if (packet->head_length() < kL3 + sizeof(wire::Ipv4)) return drop(ctx, packet, host_malformed);
  const auto& ip = packet->at<wire::Ipv4>(kL3);
  const std::uint32_t header = ip.header_bytes(), total = ip.total_length.host();
  if (ip.version() != 4 || header < sizeof ip || total < header ||
      packet->head_length() < kL3 + header || packet->frame_length() < kL3 + total) {
    return drop(ctx, packet, host_malformed);
  }
  if (!header_valid(ip)) return drop(ctx, packet, host_bad_checksum);
  if (!owns(addresses_, ip.destination())) return drop(ctx, packet, host_other_ip);
  if (ip.is_fragment() || header != sizeof ip) return drop(ctx, packet, host_unhandled);
  const std::uint32_t length = total - header;
  if (ip.proto == wire::kProtoUdp) [[likely]] {
    return deliver(ctx, packet, pseudo_sum(ip, wire::kProtoUdp, length), kL3 + header, length);
  }
  if (ip.proto == wire::kProtoIcmp) return handle_icmp(ctx, packet);
  drop(ctx, packet, host_unhandled);
}

void UdpHost::handle_ipv6(Context& ctx, Packet* packet) {
  if (packet->head_length() < kL3 + sizeof(wire::Ipv6)) return drop(ctx, packet, host_malformed);
  const auto& ip = packet->at<wire::Ipv6>(kL3);
  const std::uint32_t length = ip.payload_length.host();
  if (ip.version() != 6 || packet->frame_length() < kL3 + sizeof ip + length) {
    return drop(ctx, packet, host_malformed);
  }
  const bool solicited = ip.dst.is_multicast() &&
                         std::any_of(addresses_.begin(), addresses_.end(), [&](const auto& a) {
                           return a.v6 && a.v6_address.solicited_node() == ip.dst;
                         });
  if (!solicited && !owns(addresses_, ip.dst)) return drop(ctx, packet, host_other_ip);
  if (ip.next_header == wire::kProtoUdp) [[likely]] {
    return deliver(ctx, packet, pseudo_sum(ip, wire::kProtoUdp, length), kL3 + sizeof ip, length);
  }
  if (ip.next_header == wire::kProtoIcmp6) return handle_icmp6(ctx, packet, length);
  drop(ctx, packet, host_unhandled);
}

void UdpHost::handle_icmp(Context& ctx, Packet* packet) {
  auto& ip = packet->at<wire::Ipv4>(kL3);
  constexpr std::uint32_t kHeader = sizeof ip, l4 = kL3 + kHeader;
  const std::uint32_t length = ip.total_length.host() - kHeader;
  if (length < sizeof(wire::Icmp) || packet->head_length() < l4 + sizeof(wire::Icmp)) {
    return drop(ctx, packet, host_malformed);
  }
  if (wire::fold(sum_packet(*packet, l4, length, 0)) != 0xffff) {
    return drop(ctx, packet, host_bad_checksum);
  }
  auto& icmp = packet->at<wire::Icmp>(l4);
  if (wire::icmp4::is_error(icmp.type)) return drop(ctx, packet, host_icmp_error);
  if (answer_echo(*packet, ip, icmp, config_.mac)) return reply(ctx, packet);
  drop(ctx, packet, host_unhandled);
}

void UdpHost::handle_icmp6(Context& ctx, Packet* packet, std::uint32_t length) {
  auto& ip = packet->at<wire::Ipv6>(kL3);
  const std::uint32_t l4 = kL3 + sizeof ip;
  if (length < sizeof(wire::Icmp) || packet->head_length() < l4 + sizeof(wire::Icmp)) {
    return drop(ctx, packet, host_malformed);
  }
  const wire::Sum pseudo = pseudo_sum(ip, wire::kProtoIcmp6, length);
  if (wire::fold(sum_packet(*packet, l4, length, pseudo)) != 0xffff) {
    return drop(ctx, packet, host_bad_checksum);
  }
  auto& icmp = packet->at<wire::Icmp>(l4);
  if (wire::icmp6::is_error(icmp.type)) return drop(ctx, packet, host_icmp_error);
  bool answered = false;
  if (icmp.type == wire::icmp6::kNeighborSolicitation && packet->head_length() >= l4 + length) {
    answered = answer_solicitation(*packet, ip, length, config_.mac, addresses_);
  } else if (!ip.dst.is_multicast()) {
    answered = answer_echo(*packet, ip, icmp, config_.mac);
  }
  if (answered) return reply(ctx, packet);
  drop(ctx, packet, host_unhandled);
}

// A UDP datagram of `available` bytes, header included.
void UdpHost::deliver(Context& ctx, Packet* packet, wire::Sum pseudo, std::uint32_t l4,
                      std::uint32_t available) {
  if (available < sizeof(wire::Udp) || packet->head_length() < l4 + sizeof(wire::Udp)) {
    return drop(ctx, packet, host_malformed);
  }
  const auto& udp = packet->at<wire::Udp>(l4);
  if (udp.length.host() != available) return drop(ctx, packet, host_malformed);
  if (wire::fold(sum_packet(*packet, l4, available, pseudo)) != 0xffff) {
    return drop(ctx, packet, host_bad_checksum);
  }
  const std::uint32_t at = l4 + sizeof(wire::Udp);
  if (packet->head_length() < at + sizeof(Probe)) return drop(ctx, packet, host_unhandled);
  const auto& probe = packet->at<Probe>(at);
  if (probe.magic.host() != Probe::kMagic) return drop(ctx, packet, host_unhandled);
  meter(probe.flow.host())
      .add(probe.sequence.host(), std::max(packet->frame_length(), kMinFrame) + kFcsBytes,
           Time::ns(static_cast<std::int64_t>(probe.sent.host())), packet->meta().time);
  if (ctx.hops != nullptr) {
    ctx.hops->record(packet->meta().time, id(), 0, *packet, "delivered");
  }
  packet->free();
}

}  // namespace frond::sim
