// SPDX-License-Identifier: BSD-3-Clause
#include "netdev/offload.hpp"

#include <algorithm>
#include <cstring>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>
#include <rte_udp.h>

namespace frond::netdev {
namespace {

std::uint16_t load_be16(const std::uint8_t* p) {
  return static_cast<std::uint16_t>(p[0] << 8 | p[1]);
}

void store16(std::uint8_t* p, std::uint16_t native) { std::memcpy(p, &native, 2); }
std::uint16_t load16(const std::uint8_t* p) {
  std::uint16_t v;
  std::memcpy(&v, p, 2);
  return v;
}

std::uint16_t fold(std::uint64_t sum) {
  sum = (sum & 0xffffffff) + (sum >> 32);
  sum = (sum & 0xffffffff) + (sum >> 32);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

constexpr bool is_vlan(std::uint16_t type) {
  return type == RTE_ETHER_TYPE_VLAN || type == RTE_ETHER_TYPE_QINQ || type == RTE_ETHER_TYPE_QINQ1;
}

bool find_transport_v4(std::span<const std::uint8_t> frame, Transport& t) {
  if (frame.size() < t.l3 + sizeof(rte_ipv4_hdr)) return false;
  rte_ipv4_hdr ip;
  std::memcpy(&ip, frame.data() + t.l3, sizeof ip);
  const std::uint32_t header = (ip.version_ihl & 0xfU) * 4;
  const std::uint32_t total = rte_be_to_cpu_16(ip.total_length);
  if (ip.version_ihl >> 4 != 4 || header < sizeof ip || total < header) return false;
  t.l4 = t.l3 + header;
  t.end = t.l3 + total;
  t.protocol = ip.next_proto_id;
  t.final_dst = t.l3 + 16;
  t.fragment = (rte_be_to_cpu_16(ip.fragment_offset) & 0x3fff) != 0;  // MF or an offset
  return t.end <= frame.size();
}

bool find_transport_v6(std::span<const std::uint8_t> frame, Transport& t) {
  if (frame.size() < t.l3 + sizeof(rte_ipv6_hdr)) return false;
  rte_ipv6_hdr ip;
  std::memcpy(&ip, frame.data() + t.l3, sizeof ip);
  t.l4 = t.l3 + sizeof ip;
  t.end = t.l4 + rte_be_to_cpu_16(ip.payload_len);
  t.protocol = ip.proto;
  t.final_dst = t.l3 + 24;
  t.v6 = true;
  if (frame[t.l3] >> 4 != 6 || t.end > frame.size()) return false;
  constexpr int kMostHeaders = 8;
  for (int i = 0; i < kMostHeaders; ++i) {
    const std::uint8_t* h = frame.data() + t.l4;
    const std::uint32_t left = t.end - t.l4;
    std::uint32_t length = 0;
    switch (t.protocol) {
      case IPPROTO_HOPOPTS:
      case IPPROTO_DSTOPTS:
      case IPPROTO_ROUTING:
        if (left < 8) return false;
        length = 8 + h[1] * 8U;
        // RFC 8200 8.1: the pseudo-header takes the final destination. Types 2 (RFC 6275) and 4
        // (RFC 8754) hold it first.
        if (t.protocol == IPPROTO_ROUTING && h[3] != 0) {
          if (length < 24 || (h[2] != 2 && h[2] != 4)) return false;
          t.final_dst = t.l4 + 8;
        }
        break;
      case IPPROTO_FRAGMENT:
        if (left < 8) return false;
        length = 8;
        if ((load_be16(h + 2) & 0xfff9) != 0) t.fragment = true;  // not an atomic one (RFC 6946)
        break;
      case IPPROTO_AH:
        if (left < 8) return false;
        length = (h[1] + 2U) * 4;
        break;
      default:
        return true;
    }
    if (length > left) return false;
    t.protocol = h[0];
    t.l4 += length;
    if (t.fragment) return true;
  }
  return false;
}

// Offset of the checksum in the transport header, or 0.
std::uint32_t checksum_offset(const Transport& t) {
  const std::uint32_t length = t.end - t.l4;
  if (t.protocol == IPPROTO_TCP && length >= sizeof(rte_tcp_hdr))
    return offsetof(rte_tcp_hdr, cksum);
  if (t.protocol == IPPROTO_UDP && length >= sizeof(rte_udp_hdr)) {
    return offsetof(rte_udp_hdr, dgram_cksum);
  }
  return 0;
}

}  // namespace

std::uint16_t checksum_sum(std::span<const std::uint8_t> bytes, std::uint64_t start) {
  std::uint64_t sum = start;
  const std::uint8_t* p = bytes.data();
  std::size_t n = bytes.size();
  for (; n >= 4; n -= 4, p += 4) {  // at most 2^32 words of 32 bits fit
    std::uint32_t word;
    std::memcpy(&word, p, 4);
    sum += word;
  }
  if (n >= 2) {
    sum += load16(p);
    p += 2;
    n -= 2;
  }
  if (n != 0) {
    const std::uint8_t last[2] = {*p, 0};
    sum += load16(last);
  }
  return fold(sum);
}

std::optional<Transport> find_transport(std::span<const std::uint8_t> frame) {
  Transport t;
  std::uint32_t type_at = 12;
  constexpr std::uint32_t kMostTags = 4;
  for (std::uint32_t tags = 0; tags <= kMostTags; ++tags, type_at += 4) {
    if (frame.size() < type_at + 2) return std::nullopt;
    const std::uint16_t type = load_be16(frame.data() + type_at);
    if (is_vlan(type)) continue;
    t.l3 = type_at + 2;
    const bool ok = type == RTE_ETHER_TYPE_IPV4   ? find_transport_v4(frame, t)
                    : type == RTE_ETHER_TYPE_IPV6 ? find_transport_v6(frame, t)
                                                  : false;
    if (ok) return t;
    return std::nullopt;
  }
  return std::nullopt;
}

std::uint16_t pseudo_header_sum(std::span<const std::uint8_t> frame, const Transport& t) {
  const std::uint32_t length = t.end - t.l4;
  const std::uint32_t bytes = t.v6 ? 16 : 4;
  const std::uint32_t src = t.l3 + (t.v6 ? 8 : 12);
  std::uint64_t sum = rte_cpu_to_be_16(t.protocol);
  sum += rte_cpu_to_be_16(static_cast<std::uint16_t>(length >> 16));
  sum += rte_cpu_to_be_16(static_cast<std::uint16_t>(length));
  sum = checksum_sum(frame.subspan(src, bytes), sum);
  return checksum_sum(frame.subspan(t.final_dst, bytes), sum);
}

void write_transport_checksum(std::span<std::uint8_t> frame, const Transport& t) {
  const std::uint32_t field = checksum_offset(t);
  if (field == 0) return;
  store16(frame.data() + t.l4 + field, 0);
  auto sum = static_cast<std::uint16_t>(
      ~checksum_sum(frame.subspan(t.l4, t.end - t.l4), pseudo_header_sum(frame, t)));
  // RFC 768: a computed zero is sent as all ones, since zero means "none".
  if (sum == 0 && t.protocol == IPPROTO_UDP) sum = 0xffff;
  store16(frame.data() + t.l4 + field, sum);
}

bool finish_partial_checksum(std::span<std::uint8_t> frame) {
  const std::optional<Transport> t = find_transport(frame);
  if (!t || t->fragment) return false;
  const std::uint32_t field = checksum_offset(*t);
  if (field == 0) return false;
  if (load16(frame.data() + t->l4 + field) != pseudo_header_sum(frame, *t)) return false;
  write_transport_checksum(frame, *t);
  return true;
}

bool finish_checksum_at(std::span<std::uint8_t> frame, std::uint32_t start, std::uint32_t offset) {
  if (start + offset + 2 > frame.size()) return false;
  auto sum = static_cast<std::uint16_t>(~checksum_sum(frame.subspan(start)));
  // 0 and 0xffff are the same number in one's complement; in UDP 0 means "none" (RFC 768).
  if (sum == 0) sum = 0xffff;
  store16(frame.data() + start + offset, sum);
  return true;
}

bool append(PacketPool& pool, Packet& packet, std::span<const std::uint8_t> bytes) {
  rte_mbuf* head = packet.mbuf();
  rte_mbuf* tail = rte_pktmbuf_lastseg(head);
  while (!bytes.empty()) {
    std::uint16_t room = rte_pktmbuf_tailroom(tail);
    if (room == 0) {
      rte_mbuf* next = rte_pktmbuf_alloc(pool.raw());
      if (next == nullptr) return false;
      tail->next = next;
      tail = next;
      ++head->nb_segs;
      room = rte_pktmbuf_tailroom(tail);
    }
    const auto take = static_cast<std::uint16_t>(std::min<std::size_t>(bytes.size(), room));
    std::memcpy(rte_pktmbuf_mtod_offset(tail, std::uint8_t*, tail->data_len), bytes.data(), take);
    tail->data_len = static_cast<std::uint16_t>(tail->data_len + take);
    head->pkt_len += take;
    bytes = bytes.subspan(take);
  }
  return true;
}

namespace {

constexpr std::uint8_t kFin = 0x01, kPsh = 0x08, kCwr = 0x80;

struct Piece {
  std::uint32_t offset;  // of its payload in the whole
  std::uint32_t length;
  std::uint32_t index;
  bool last;
};

void fix_ip(std::span<std::uint8_t> head, const Transport& t, const Piece& piece) {
  if (t.v6) {
    auto& ip = *reinterpret_cast<rte_ipv6_hdr*>(head.data() + t.l3);
    ip.payload_len = rte_cpu_to_be_16(static_cast<std::uint16_t>(t.end - t.l3 - sizeof ip));
    return;
  }
  auto& ip = *reinterpret_cast<rte_ipv4_hdr*>(head.data() + t.l3);
  ip.total_length = rte_cpu_to_be_16(static_cast<std::uint16_t>(t.end - t.l3));
  ip.packet_id =
      rte_cpu_to_be_16(static_cast<std::uint16_t>(rte_be_to_cpu_16(ip.packet_id) + piece.index));
  ip.hdr_checksum = 0;
  ip.hdr_checksum = static_cast<std::uint16_t>(~checksum_sum(head.subspan(t.l3, t.l4 - t.l3)));
}

// Rewrites the headers, already copied to `head`, for one piece; `payload_sum` is the sum of its
// payload. The copy's datagram ends at t.end.
void fix_headers(std::span<std::uint8_t> head, const Transport& t, const Piece& piece,
                 std::uint16_t payload_sum) {
  fix_ip(head, t, piece);
  std::uint8_t* l4 = head.data() + t.l4;
  const std::uint32_t field = checksum_offset(t);
  if (t.protocol == IPPROTO_TCP) {
    auto& tcp = *reinterpret_cast<rte_tcp_hdr*>(l4);
    tcp.sent_seq = rte_cpu_to_be_32(rte_be_to_cpu_32(tcp.sent_seq) + piece.offset);
    if (piece.index != 0) tcp.tcp_flags &= static_cast<std::uint8_t>(~kCwr);
    if (!piece.last) tcp.tcp_flags &= static_cast<std::uint8_t>(~(kFin | kPsh));
  } else {
    auto& udp = *reinterpret_cast<rte_udp_hdr*>(l4);
    udp.dgram_len = rte_cpu_to_be_16(static_cast<std::uint16_t>(t.end - t.l4));
  }
  store16(l4 + field, 0);
  const std::uint64_t sum = std::uint64_t{pseudo_header_sum(head, t)} + payload_sum;
  auto checksum = static_cast<std::uint16_t>(~checksum_sum(head.subspan(t.l4), sum));
  if (checksum == 0 && t.protocol == IPPROTO_UDP) checksum = 0xffff;
  store16(l4 + field, checksum);
}

// Bytes of the transport header; 0: malformed.
std::uint32_t transport_header(std::span<const std::uint8_t> frame, const Transport& t) {
  if (checksum_offset(t) == 0) return 0;  // shorter than its header
  if (t.protocol == IPPROTO_UDP) return sizeof(rte_udp_hdr);
  const std::uint32_t bytes = (frame[t.l4 + 12] >> 4) * 4U;
  return bytes >= sizeof(rte_tcp_hdr) && t.l4 + bytes <= t.end ? bytes : 0;
}

}  // namespace

Cut segment(std::span<const std::uint8_t> frame, std::uint32_t size, PacketPool& pool,
            std::vector<Packet*>& out) {
  const std::optional<Transport> t = find_transport(frame);
  if (!t || t->fragment || size == 0) return Cut::malformed;
  if (t->protocol != IPPROTO_TCP && t->protocol != IPPROTO_UDP) return Cut::unsupported;
  const std::uint32_t transport = transport_header(frame, *t);
  const std::uint32_t header = t->l4 + transport;
  if (transport == 0 || header > pool.data_room()) return Cut::malformed;
  const std::span<const std::uint8_t> payload = frame.subspan(header, t->end - header);

  const std::size_t before = out.size();
  Piece piece{0, 0, 0, false};
  do {
    piece.length =
        static_cast<std::uint32_t>(std::min<std::size_t>(size, payload.size() - piece.offset));
    piece.last = piece.offset + piece.length == payload.size();
    const std::span<const std::uint8_t> bytes = payload.subspan(piece.offset, piece.length);
    Packet* p = pool.allocate();
    if (p != nullptr) out.push_back(p);
    if (p == nullptr || !append(pool, *p, frame.first(header)) || !append(pool, *p, bytes)) {
      for (std::size_t i = before; i < out.size(); ++i) out[i]->free();
      out.resize(before);
      return Cut::no_buffer;
    }
    Transport part = *t;
    part.end = header + piece.length;
    fix_headers({p->data(), header}, part, piece, checksum_sum(bytes));
    piece.offset += piece.length;
    ++piece.index;
  } while (!piece.last);
  return Cut::done;
}

}  // namespace frond::netdev
