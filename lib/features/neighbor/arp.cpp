// SPDX-License-Identifier: BSD-3-Clause
// ARP for IPv4 over Ethernet (RFC 826), with probes and announcements (RFC 5227).
#include "wire/arp.hpp"

#include <algorithm>
#include <cstring>

#include "engine/serialiser.hpp"
#include "features/neighbor/neighbor.hpp"
#include "features/own_packet.hpp"
#include "wire/ethernet.hpp"

namespace frond::neighbor {
namespace {

// RFC 826, packet reception; a group or zero sender MAC is nobody.
bool valid(const wire::Arp& arp) {
  return arp.hardware.host() == wire::Arp::kHardwareEthernet &&
         arp.protocol.host() == wire::kTypeIpv4 && arp.hardware_length == 6 &&
         arp.protocol_length == 4 &&
         (arp.operation.host() == wire::Arp::kRequest ||
          arp.operation.host() == wire::Arp::kReply) &&
         !arp.sender_mac.is_group() && arp.sender_mac != MacAddress();
}

}  // namespace

void Neighbors::receive_arp(Context& ctx, Packet* packet) {
  const PacketMeta& meta = packet->meta();
  if (meta.l3 == 0 || packet->head_length() < meta.l3 + sizeof(wire::Arp)) {
    return drops_.drop(ctx, packet, arp_malformed);
  }
  const wire::Arp arp = packet->at<wire::Arp>(meta.l3);
  if (!valid(arp)) return drops_.drop(ctx, packet, arp_malformed);
  const std::uint16_t port = meta.ingress;
  const Ip4 sender{arp.sender_ip.host()};
  const Ip4 target{arp.target_ip.host()};
  const bool request = arp.operation.host() == wire::Arp::kRequest;
  const MacAddress& own_mac = router_.interface(port).mac;

  if (ours(port, sender)) {
    // Our own frame that came back tells nothing; another's is a conflict (RFC 5227 2.4).
    if (arp.sender_mac != own_mac) defend(ctx, port, sender);
    return drops_.drop(ctx, packet, neighbor_conflict);
  }
  const bool for_us = ours(port, target);
  if (sender == Ip4() && request && for_us) {
    // A probe (RFC 5227 2.1.1): answered, but its sender has no address yet.
    send_arp(ctx, port, wire::Arp::kReply, target, arp.sender_mac, sender, arp.sender_mac);
    return packet->free();
  }
  const bool announcement = sender == target;
  if (!for_us && !announcement) return drops_.drop(ctx, packet, arp_not_for_us);
  if (!on_link(port, sender)) return drops_.drop(ctx, packet, neighbor_off_link);

  const Update result = update(ctx, port, sender,
                               {.mac = arp.sender_mac,
                                .confirms = !request && for_us && arp.target_mac == own_mac,
                                .overrides = true,
                                .creates = request && for_us});
  if (request && for_us) {
    send_arp(ctx, port, wire::Arp::kReply, target, arp.sender_mac, sender, arp.sender_mac);
  }
  finish(ctx, packet, result);
}

void Neighbors::solicit_arp(Context& ctx, const Entry& entry, bool unicast) {
  // From our address on the neighbour's link, so that it knows us as on its own.
  Ip4 from;
  for (const IpPrefix& own : router_.interface(entry.port).addresses) {
    if (own.address.v6) continue;
    if (from == Ip4() || own.contains(entry.address)) from = own.address.v4_address;
  }
  send_arp(ctx, entry.port, wire::Arp::kRequest, from, unicast ? entry.mac : MacAddress(),
           entry.address.v4_address, unicast ? entry.mac : wire::kBroadcastMac);
}

void Neighbors::send_arp(Context& ctx, std::uint16_t port, std::uint16_t operation, Ip4 sender,
                         const MacAddress& target_mac, Ip4 target, const MacAddress& to) {
  Packet* packet = ctx.pool.allocate();
  if (packet == nullptr) return drops_.count(port, neighbor_no_buffer);
  // Padded: not every medium does it.
  char* room = rte_pktmbuf_append(packet->mbuf(), kMinFrame);
  std::memset(room, 0, kMinFrame);
  const MacAddress& own_mac = router_.interface(port).mac;
  packet->at<wire::Ethernet>(0) = {to, own_mac, wire::be16(wire::kTypeArp)};
  packet->at<wire::Arp>(sizeof(wire::Ethernet)) = {
      .hardware = wire::be16(wire::Arp::kHardwareEthernet),
      .protocol = wire::be16(wire::kTypeIpv4),
      .hardware_length = 6,
      .protocol_length = 4,
      .operation = wire::be16(operation),
      .sender_mac = own_mac,
      .sender_ip = wire::be32(sender.value),
      .target_mac = target_mac,
      .target_ip = wire::be32(target.value)};
  packet->meta().l3 = sizeof(wire::Ethernet);
  packet->meta().ether_type = wire::kTypeArp;
  ctx.send(packet, port);
}

void Neighbors::finish(Context& ctx, Packet* packet, Update update) {
  switch (update) {
    case Update::done:
      return packet->free();
    case Update::unsolicited:
      return drops_.drop(ctx, packet, neighbor_unsolicited);
    case Update::is_static:
      return drops_.drop(ctx, packet, neighbor_static);
    case Update::full:
      return drops_.drop(ctx, packet, neighbor_table_full);
  }
}

}  // namespace frond::neighbor
