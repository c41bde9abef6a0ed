// SPDX-License-Identifier: BSD-3-Clause
#include "features/icmp/icmp.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/rng.hpp"
#include "features/icmp/fragment.hpp"
#include "features/own_packet.hpp"
#include "wire/icmp.hpp"

namespace frond::icmp {

const std::array<DropInfo, Icmp::kDropCount> Icmp::kDrops{{
    {"icmp_malformed", "for us, but its lengths contradict each other"},
    {"icmp_checksum", "for us, with a wrong ICMP checksum"},
    {"icmp_fragment", "for us, in fragments: the switch does not reassemble"},
    {"icmp_ignored", "for us, but nothing to answer: an error, a reply, an unknown type"},
    {"icmp_not_offered", "for us, but to a protocol or port that nobody listens on"},
    {"icmp_rate_limited", "an echo request above the rate of its port"},
    {"icmp_no_route", "an answer of ours that has no way back"},
    {"icmp_too_big", "an answer of ours that is longer than its way allows"},
    {"icmp_no_buffer", "no packet left in the pool for an answer"},
    {"fragment_rate_limited", "would be fragmented, above the rate of its port"},
    {"fragment_malformed", "would be fragmented, but its header contradicts itself"},
    {"fragment_no_buffer", "no packets left in the pool for the fragments"},
}};

const std::array<CounterInfo, Icmp::kEventCount> Icmp::kEvents{{
    {"icmp_errors_sent", "error messages"},
    {"icmp_errors_forbidden", "error messages that RFC 1122 3.2.2 or RFC 4443 2.4 (e) forbid"},
    {"icmp_errors_rate_limited", "error messages above the rate of the switch or of the port"},
    {"icmp_echo_replies", "echo replies"},
    {"fragments_sent", "fragments made of packets that were too long"},
}};

Icmp::Icmp(const Config& c, unsigned ports, const l3::Router& router,
           neighbor::Neighbors& neighbors)
    : router_(router),
      neighbors_(neighbors),
      errors_(c.rate, c.burst),
      buckets_(ports,
               {TokenBucket(c.port_rate, c.port_burst), TokenBucket(c.echo_rate, c.echo_burst),
                TokenBucket(c.fragment_rate, c.fragment_burst)}),
      drops_(ports, kDrops) {}

namespace {

// Somebody whom an answer would reach, and nobody else (RFC 1122 3.2.2, RFC 4443 2.4 (e.6)).
bool is_one_host(const IpAddress& a) {
  if (a.v6) {
    Ip6 loopback;
    loopback.bytes[15] = 1;
    return a.v6_address != Ip6() && a.v6_address != loopback && !a.v6_address.is_multicast();
  }
  const std::uint32_t net = a.v4_address.value >> 24;
  return net != 0 && net != 127 && net < 224;
}

bool is_multicast(const IpAddress& a) {
  return a.v6 ? a.v6_address.is_multicast() : a.v4_address.value >> 24 >= 224;
}

// Which member of an ECMP group carries it: any, but always the same.
std::uint32_t address_hash(const Packet& packet) {
  const bool v6 = packet.meta().ether_type == wire::kTypeIpv6;
  const std::uint8_t* at = packet.data() + packet.meta().l3 + (v6 ? 8 : 12);
  std::uint64_t hash = 0;
  for (unsigned i = 0; i < (v6 ? 4 : 1); ++i) {
    std::uint64_t word;
    std::memcpy(&word, at + 8 * i, 8);
    hash = mix64(hash ^ word);
  }
  return static_cast<std::uint32_t>(hash >> 32);
}

bool is_link_local(const IpAddress& a) { return a.v6 && a.v6_address.is_link_local(); }

}  // namespace

// --- For us ---

void Icmp::receive(Context& ctx, Packet* packet) {
  const PacketMeta& meta = packet->meta();
  if ((meta.flags & PacketMeta::kFragment) != 0) return drops_.drop(ctx, packet, icmp_fragment);
  const std::uint32_t length = transport_bytes(*packet);
  if (length == 0) return drops_.drop(ctx, packet, icmp_malformed);
  const bool v6 = meta.ether_type == wire::kTypeIpv6;
  if (meta.ip_proto == (v6 ? wire::kProtoIcmp6 : wire::kProtoIcmp)) {
    return receive_icmp(ctx, packet, length);
  }
  // RFC 1122 3.2.2.1, RFC 4443 3.1 and 3.4. No TCP runs here, so it is a protocol we don't have.
  if (meta.ip_proto == wire::kProtoUdp) {
    send_error(ctx, *packet,
               v6 ? Message{wire::icmp6::kUnreachable, wire::icmp6::kPort, 0}
                  : Message{wire::icmp4::kUnreachable, wire::icmp4::kPort, 0});
  } else if (v6) {
    // Which byte named the protocol: that of the IPv6 header, or of the last extension header,
    // where we do not look for it again.
    if (meta.l4 == meta.l3 + sizeof(wire::Ipv6)) {
      send_error(ctx, *packet,
                 {wire::icmp6::kParameterProblem, wire::icmp6::kUnrecognizedNextHeader, 6});
    }
  } else {
    send_error(ctx, *packet, {wire::icmp4::kUnreachable, wire::icmp4::kProtocol, 0});
  }
  drops_.drop(ctx, packet, icmp_not_offered);
}

void Icmp::receive_icmp(Context& ctx, Packet* packet, std::uint32_t length) {
  const PacketMeta& meta = packet->meta();
  const bool v6 = meta.ether_type == wire::kTypeIpv6;
  if (length < sizeof(wire::Icmp) || packet->head_length() < meta.l4 + sizeof(wire::Icmp)) {
    return drops_.drop(ctx, packet, icmp_malformed);
  }
  const wire::Sum pseudo = v6 ? pseudo_sum_of(*packet, wire::kProtoIcmp6, length) : 0;
  if (wire::fold(sum_packet(*packet, meta.l4, length, pseudo)) != 0xffff) {
    return drops_.drop(ctx, packet, icmp_checksum);
  }
  const auto& icmp = packet->at<wire::Icmp>(meta.l4);
  const std::uint8_t request = v6 ? +wire::icmp6::kEchoRequest : +wire::icmp4::kEchoRequest;
  const IpAddress to = ip_destination(*packet);
  if (icmp.type != request || icmp.code != 0 || !is_one_host(ip_source(*packet)) ||
      !is_one_host(to) || (meta.flags & PacketMeta::kGroupAddress) != 0) {
    return drops_.drop(ctx, packet, icmp_ignored);
  }
  TokenBucket& bucket = buckets_[meta.ingress].echo;
  if (!bucket.ready(ctx.now)) return drops_.drop(ctx, packet, icmp_rate_limited);
  bucket.take(ctx.now);
  reply(ctx, packet, length);
}

// The request becomes the reply: link headers, options and extension headers go, data stays
// (RFC 792, RFC 4443 4.2).
void Icmp::reply(Context& ctx, Packet* packet, std::uint32_t length) {
  const PacketMeta meta = packet->meta();
  const bool v6 = meta.ether_type == wire::kTypeIpv6;
  OwnIp ip{.src = ip_destination(*packet), .dst = ip_source(*packet), .proto = meta.ip_proto};
  ip.tos =
      v6 ? packet->at<wire::Ipv6>(meta.l3).traffic_class() : packet->at<wire::Ipv4>(meta.l3).tos;
  if (!v6) ip.id = static_cast<std::uint16_t>(ctx.rng.below(0xffff) + 1);
  const std::uint32_t before = kFrameRoom + ip_header_bytes(v6);
  if (meta.l4 < before) return drops_.drop(ctx, packet, icmp_malformed);
  rte_pktmbuf_adj(packet->mbuf(), static_cast<std::uint16_t>(meta.l4 - before));
  // What follows the datagram is Ethernet's padding, and may be left where it is.
  const std::uint32_t padding = packet->length() - before - length;
  if (padding > 0 && padding < rte_pktmbuf_lastseg(packet->mbuf())->data_len) {
    rte_pktmbuf_trim(packet->mbuf(), static_cast<std::uint16_t>(padding));
  }
  describe_own(*packet, v6, meta.ip_proto);
  packet->at<wire::Ethernet>(0).type = wire::be16(meta.ether_type);
  write_ip_header(packet->data() + kFrameRoom, ip, length);
  const std::uint16_t l4 = packet->meta().l4;
  auto& icmp = packet->at<wire::Icmp>(l4);
  icmp.type = v6 ? +wire::icmp6::kEchoReply : +wire::icmp4::kEchoReply;
  icmp.checksum = wire::be16();
  const wire::Sum pseudo = v6 ? pseudo_sum_of(*packet, wire::kProtoIcmp6, length) : 0;
  icmp.checksum = wire::complement(sum_packet(*packet, l4, length, pseudo));
  ++events_[echo_replies];
  route(ctx, packet, meta.ingress);
}

// --- About a packet that is dropped ---

void Icmp::answer(Context& ctx, const Packet& packet, PuntCode code) {
  const PacketMeta& meta = packet.meta();
  const bool v6 = meta.ether_type == wire::kTypeIpv6;
  if (!v6 && meta.ether_type != wire::kTypeIpv4) return;
  const auto say = [&](Message m4, Message m6) { send_error(ctx, packet, v6 ? m6 : m4); };
  switch (code) {
    case kAnswerTtlExpired:
      return say({wire::icmp4::kTimeExceeded, 0, 0}, {wire::icmp6::kTimeExceeded, 0, 0});
    case kAnswerTooBig: {
      const std::uint32_t mtu = meta.egress < router_.ports() ? router_.mtu(meta.egress) : 0;
      // RFC 1191 4, RFC 4443 3.2.
      return say({wire::icmp4::kUnreachable, wire::icmp4::kFragmentationNeeded, mtu & 0xffff},
                 {wire::icmp6::kPacketTooBig, 0, mtu});
    }
    case kAnswerNetUnreachable:
      return say({wire::icmp4::kUnreachable, wire::icmp4::kNet, 0},
                 {wire::icmp6::kUnreachable, wire::icmp6::kNoRoute, 0});
    case kAnswerHostUnreachable:
      return say({wire::icmp4::kUnreachable, wire::icmp4::kHost, 0},
                 {wire::icmp6::kUnreachable, wire::icmp6::kAddress, 0});
    case kAnswerBeyondScope:
      if (v6) send_error(ctx, packet, {wire::icmp6::kUnreachable, wire::icmp6::kBeyondScope, 0});
      return;
    default:
      return;
  }
}

// RFC 1122 3.2.2, RFC 1812 4.3.2.7, RFC 4443 2.4 (e).
bool Icmp::may_answer(const Packet& packet, bool too_big) const {
  const PacketMeta& meta = packet.meta();
  const bool v6 = meta.ether_type == wire::kTypeIpv6;
  if (meta.l3 == 0 || packet.head_length() < meta.l3 + ip_header_bytes(v6)) return false;
  const IpAddress from = ip_source(packet);
  const IpAddress to = ip_destination(packet);
  if (!is_one_host(from) || router_.is_local(from)) return false;
  // (e.3), (e.4): one packet to a group could bring the answers of all its members.
  const bool group = is_multicast(to) || (meta.flags & PacketMeta::kGroupAddress) != 0;
  if (group && !(v6 && too_big)) return false;
  if (!v6) {
    if (packet.at<wire::Ipv4>(meta.l3).fragment_offset() != 0) return false;
    for (const IpPrefix& link : router_.interface(meta.ingress).addresses) {
      if (neighbor::is_broadcast(link, from) || neighbor::is_broadcast(link, to)) return false;
    }
  }
  // Without a transport header nobody can tell that it is no error itself.
  if (meta.l4 == 0) return false;
  if (meta.ip_proto != (v6 ? wire::kProtoIcmp6 : wire::kProtoIcmp)) return true;
  if (packet.head_length() <= meta.l4) return false;
  const std::uint8_t type = packet.data()[meta.l4];
  return v6 ? !wire::icmp6::is_error(type) : !wire::icmp4::is_error(type);
}

void Icmp::send_error(Context& ctx, const Packet& packet, const Message& message) {
  const PacketMeta& meta = packet.meta();
  const std::uint16_t port = meta.ingress;
  const bool v6 = meta.ether_type == wire::kTypeIpv6;
  const bool too_big = v6 && message.type == wire::icmp6::kPacketTooBig;
  if (port >= buckets_.size() || !may_answer(packet, too_big)) {
    ++events_[errors_forbidden];
    return;
  }
  TokenBucket& bucket = buckets_[port].errors;
  if (!errors_.ready(ctx.now) || !bucket.ready(ctx.now)) {
    ++events_[errors_rate_limited];
    return;
  }
  // From the interface where the packet came in (RFC 1812 4.3.2.4): a traceroute shows the way.
  const IpAddress to = ip_source(packet);
  std::optional<IpAddress> from = router_.source_address(port, v6);
  if (is_link_local(to)) from = Ip6::link_local(router_.interface(port).mac);
  if (!from) return drops_.count(port, icmp_no_route);
  errors_.take(ctx.now);
  bucket.take(ctx.now);

  // As much as fits: 576 bytes (RFC 1812 4.3.2.3), 1280 (RFC 4443 2.4 (c)); no padding of the
  // frame, and nothing that was never there.
  const std::uint32_t limit = v6 ? 1280 : 576;
  const std::uint32_t datagram =
      v6 ? 40U + packet.at<wire::Ipv6>(meta.l3).payload_length.host()
         : std::uint32_t{packet.at<wire::Ipv4>(meta.l3).total_length.host()};
  const std::uint32_t quote =
      std::min({limit - ip_header_bytes(v6) - static_cast<std::uint32_t>(sizeof(wire::Icmp)),
                datagram, packet.length() - meta.l3});
  const std::uint32_t length = sizeof(wire::Icmp) + quote;
  const std::uint8_t proto = v6 ? wire::kProtoIcmp6 : wire::kProtoIcmp;
  Packet* error = make_own(ctx.pool, {.src = *from, .dst = to, .proto = proto}, length);
  if (error == nullptr) return drops_.count(port, icmp_no_buffer);
  const std::uint16_t l4 = error->meta().l4;
  auto& icmp = error->at<wire::Icmp>(l4);
  icmp = {message.type, message.code, wire::be16(), wire::be32(message.rest)};
  std::uint8_t* room = error->data() + l4 + sizeof icmp;
  const void* bytes = rte_pktmbuf_read(packet.mbuf(), meta.l3, quote, room);
  if (bytes != room) std::memcpy(room, bytes, quote);
  const wire::Sum pseudo = v6 ? pseudo_sum_of(*error, proto, length) : 0;
  icmp.checksum = wire::complement(sum_packet(*error, l4, length, pseudo));
  ++events_[errors_sent];
  route(ctx, error, port);
}

// --- The way back ---

void Icmp::route(Context& ctx, Packet* packet, std::uint16_t ingress) {
  const IpAddress to = ip_destination(*packet);
  packet->meta().egress = ingress;  // where a drop is counted, until the way is known
  // A link-local address means nothing beyond the link that it came from (RFC 4291 2.5.6).
  if (is_link_local(to)) return send_split(ctx, packet, ingress, to);
  const auto way = router_.way(to, address_hash(*packet));
  if (!way) return drops_.drop(ctx, packet, icmp_no_route);
  send_split(ctx, packet, way->port, way->next_hop);
}

void Icmp::send_split(Context& ctx, Packet* packet, std::uint16_t port, const IpAddress& next_hop) {
  if (packet->length() - kFrameRoom <= router_.mtu(port)) {
    return neighbors_.send(ctx, packet, port, next_hop);
  }
  // An IPv6 source would fragment (RFC 8200 5); this one has nothing that long to say.
  if (next_hop.v6) return drops_.drop(ctx, packet, icmp_too_big);
  pieces_.clear();
  if (icmp::fragment(ctx.pool, *packet, router_.mtu(port), pieces_) != Fragmented::done) {
    return drops_.drop(ctx, packet, icmp_no_buffer);
  }
  packet->free();
  events_[fragments_sent].add(pieces_.size());
  for (Packet* piece : pieces_) neighbors_.send(ctx, piece, port, next_hop);
}

void Icmp::fragment(Context& ctx, Packet* packet) {
  const PacketMeta& meta = packet->meta();
  if (meta.ingress >= buckets_.size() || meta.egress >= router_.ports() ||
      meta.ether_type != wire::kTypeIpv4) {
    return drops_.drop(ctx, packet, fragment_malformed);
  }
  TokenBucket& bucket = buckets_[meta.ingress].fragments;
  if (!bucket.ready(ctx.now)) return drops_.drop(ctx, packet, fragment_rate_limited);
  bucket.take(ctx.now);
  pieces_.clear();
  switch (icmp::fragment(ctx.pool, *packet, router_.mtu(meta.egress), pieces_)) {
    case Fragmented::malformed:
      return drops_.drop(ctx, packet, fragment_malformed);
    case Fragmented::no_buffer:
      return drops_.drop(ctx, packet, fragment_no_buffer);
    case Fragmented::done:
      break;
  }
  packet->free();
  events_[fragments_sent].add(pieces_.size());
  for (Packet* piece : pieces_) neighbors_.resolve(ctx, piece);
}

}  // namespace frond::icmp
