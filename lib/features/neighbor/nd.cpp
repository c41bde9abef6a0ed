// SPDX-License-Identifier: BSD-3-Clause
// Neighbour solicitation and advertisement (RFC 4861 7.2). This router neither sends nor takes
// router advertisements and redirects: hosts are configured, and routes come from control.
#include "wire/nd.hpp"

#include <cstring>

#include "features/neighbor/neighbor.hpp"
#include "features/own_packet.hpp"
#include "wire/icmp.hpp"

namespace frond::neighbor {
namespace {

constexpr std::uint8_t kLinkHops = 255;  // RFC 4861 3.1: it cannot have passed a router
constexpr Ip6 kAllNodes{{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};

// RFC 2464 7.
MacAddress multicast_mac(const Ip6& group) {
  const auto& b = group.bytes;
  return {{0x33, 0x33, b[12], b[13], b[14], b[15]}};
}

}  // namespace

void Neighbors::receive_nd(Context& ctx, Packet* packet) {
  const PacketMeta& meta = packet->meta();
  const std::uint32_t length = transport_bytes(*packet);
  // RFC 6980 5: neighbour discovery is never fragmented. All of it stands in the first segment.
  if (meta.ether_type != wire::kTypeIpv6 || length < sizeof(wire::Icmp) ||
      (meta.flags & PacketMeta::kFragment) != 0 || meta.l4 + length > packet->head_length()) {
    return drops_.drop(ctx, packet, nd_malformed);
  }
  const auto& ip = packet->at<wire::Ipv6>(meta.l3);
  if (ip.hop_limit != kLinkHops) return drops_.drop(ctx, packet, nd_hop_limit);
  const wire::Sum sum = wire::pseudo_sum(ip, wire::kProtoIcmp6, length);
  if (wire::fold(sum_packet(*packet, meta.l4, length, sum)) != 0xffff) {
    return drops_.drop(ctx, packet, nd_checksum);
  }
  const std::uint8_t type = packet->at<wire::Icmp>(meta.l4).type;
  if (type != wire::icmp6::kNeighborSolicitation && type != wire::icmp6::kNeighborAdvertisement) {
    return drops_.drop(ctx, packet, nd_ignored);
  }
  if (length < sizeof(wire::NeighborMessage)) return drops_.drop(ctx, packet, nd_malformed);
  const auto& message = packet->at<wire::NeighborMessage>(meta.l4);
  const auto options = wire::parse_nd_options(packet->head().subspan(
      meta.l4 + sizeof(wire::NeighborMessage), length - sizeof(wire::NeighborMessage)));
  if (message.code != 0 || message.target.is_multicast() || !options) {
    return drops_.drop(ctx, packet, nd_malformed);
  }
  type == wire::icmp6::kNeighborSolicitation ? receive_solicitation(ctx, packet, *options)
                                             : receive_advertisement(ctx, packet, *options);
}

// RFC 4861 7.1.1, 7.2.3, 7.2.4.
void Neighbors::receive_solicitation(Context& ctx, Packet* packet, const wire::NdOptions& options) {
  const PacketMeta& meta = packet->meta();
  const std::uint16_t port = meta.ingress;
  const Ip6 from = packet->at<wire::Ipv6>(meta.l3).src;
  const Ip6 to = packet->at<wire::Ipv6>(meta.l3).dst;
  const Ip6 target = packet->at<wire::NeighborMessage>(meta.l4).target;
  const MacAddress frame_source = packet->at<wire::Ethernet>(0).src;
  const bool detects_duplicates = from == Ip6();
  if (detects_duplicates && (to != target.solicited_node() || options.source)) {
    return drops_.drop(ctx, packet, nd_malformed);
  }
  if (options.source && (options.source->is_group() || *options.source == MacAddress())) {
    return drops_.drop(ctx, packet, nd_malformed);
  }
  if (!ours(port, target)) return drops_.drop(ctx, packet, nd_not_for_us);
  if (detects_duplicates) {
    // Somebody wants our address (RFC 4862 5.4.3): all nodes hear that it is taken.
    advertise(ctx, port, target, kAllNodes, multicast_mac(kAllNodes), false);
    return packet->free();
  }
  if (ours(port, from)) return drops_.drop(ctx, packet, neighbor_conflict);
  if (!on_link(port, from)) return drops_.drop(ctx, packet, neighbor_off_link);
  // Without the option (7.2.2 allows that in unicast) the frame tells where to answer; that is
  // not learned.
  Update result = Update::done;
  if (options.source) {
    result =
        update(ctx, port, from,
               {.mac = *options.source, .confirms = false, .overrides = true, .creates = true});
  }
  if (!frame_source.is_group()) {
    advertise(ctx, port, target, from, options.source.value_or(frame_source), true);
  }
  finish(ctx, packet, result);
}

// RFC 4861 7.1.2, 7.2.5.
void Neighbors::receive_advertisement(Context& ctx, Packet* packet,
                                      const wire::NdOptions& options) {
  const PacketMeta& meta = packet->meta();
  const std::uint16_t port = meta.ingress;
  const Ip6 to = packet->at<wire::Ipv6>(meta.l3).dst;
  const auto& message = packet->at<wire::NeighborMessage>(meta.l4);
  const std::uint32_t flags = message.flags.host();
  const bool solicited = (flags & wire::NeighborMessage::kSolicited) != 0;
  const Ip6 target = message.target;
  if (solicited && to.is_multicast()) return drops_.drop(ctx, packet, nd_malformed);
  if (ours(port, target)) {
    if (options.target != router_.interface(port).mac) defend(ctx, port, target);
    return drops_.drop(ctx, packet, neighbor_conflict);
  }
  if (!on_link(port, target)) return drops_.drop(ctx, packet, neighbor_off_link);
  const Entry* entry = cache_.find(port, target);
  std::optional<MacAddress> mac = options.target;
  // The answer to a unicast probe may leave the option out: nothing has changed.
  if (!mac && entry != nullptr && entry->usable()) mac = entry->mac;
  if (!mac) return drops_.drop(ctx, packet, neighbor_unsolicited);
  if (mac->is_group() || *mac == MacAddress()) return drops_.drop(ctx, packet, nd_malformed);
  const Update result = update(ctx, port, target,
                               {.mac = *mac,
                                .confirms = solicited,
                                .overrides = (flags & wire::NeighborMessage::kOverride) != 0,
                                .creates = false});
  finish(ctx, packet, result);
}

// RFC 4861 4.3, 7.2.2.
void Neighbors::solicit_nd(Context& ctx, const Entry& entry, bool unicast) {
  const l3::Interface& interface = router_.interface(entry.port);
  const Ip6 target = entry.address.v6_address;
  Ip6 from = Ip6::link_local(interface.mac);
  for (const IpPrefix& own : interface.addresses) {
    if (own.address.v6 && own.contains(entry.address)) from = own.address.v6_address;
  }
  const Ip6 to = unicast ? target : target.solicited_node();
  constexpr std::uint32_t kLength = sizeof(wire::NeighborMessage) + sizeof(wire::LinkLayerOption);
  Packet* packet = make_own(
      ctx.pool, {.src = from, .dst = to, .proto = wire::kProtoIcmp6, .ttl = kLinkHops}, kLength);
  if (packet == nullptr) return drops_.count(entry.port, neighbor_no_buffer);
  const std::uint16_t l4 = packet->meta().l4;
  auto& message = packet->at<wire::NeighborMessage>(l4);
  message.type = wire::icmp6::kNeighborSolicitation;
  message.target = target;
  packet->at<wire::LinkLayerOption>(l4 + sizeof message) = {wire::LinkLayerOption::kSource, 1,
                                                            interface.mac};
  send_nd(ctx, packet, entry.port, unicast ? entry.mac : multicast_mac(to));
}

void Neighbors::announce_nd(Context& ctx, std::uint16_t port, const Ip6& address) {
  advertise(ctx, port, address, kAllNodes, multicast_mac(kAllNodes), false);
}

// RFC 4861 4.4, 7.2.4: we are a router, and no proxy, so what we say overrides.
void Neighbors::advertise(Context& ctx, std::uint16_t port, const Ip6& target, const Ip6& to,
                          const MacAddress& mac, bool solicited) {
  constexpr std::uint32_t kLength = sizeof(wire::NeighborMessage) + sizeof(wire::LinkLayerOption);
  Packet* packet = make_own(
      ctx.pool, {.src = target, .dst = to, .proto = wire::kProtoIcmp6, .ttl = kLinkHops}, kLength);
  if (packet == nullptr) return drops_.count(port, neighbor_no_buffer);
  const std::uint16_t l4 = packet->meta().l4;
  auto& message = packet->at<wire::NeighborMessage>(l4);
  message.type = wire::icmp6::kNeighborAdvertisement;
  message.flags = wire::be32(wire::NeighborMessage::kRouter | wire::NeighborMessage::kOverride |
                             (solicited ? wire::NeighborMessage::kSolicited : 0U));
  message.target = target;
  packet->at<wire::LinkLayerOption>(l4 + sizeof message) = {wire::LinkLayerOption::kTarget, 1,
                                                            router_.interface(port).mac};
  send_nd(ctx, packet, port, mac);
}

void Neighbors::send_nd(Context& ctx, Packet* packet, std::uint16_t port, const MacAddress& to) {
  const std::uint16_t l4 = packet->meta().l4;
  const std::uint32_t length = packet->length() - l4;
  const wire::Sum sum = pseudo_sum_of(*packet, wire::kProtoIcmp6, length);
  packet->at<wire::Icmp>(l4).checksum = wire::complement(sum_packet(*packet, l4, length, sum));
  packet->at<wire::Ethernet>(0) = {to, router_.interface(port).mac, wire::be16(wire::kTypeIpv6)};
  ctx.send(packet, port);
}

}  // namespace frond::neighbor
