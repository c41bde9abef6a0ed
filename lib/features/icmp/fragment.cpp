// SPDX-License-Identifier: BSD-3-Clause
#include "features/icmp/fragment.hpp"

#include <algorithm>
#include <cstring>

#include "wire/checksum.hpp"
#include "wire/ipv4.hpp"

namespace frond::icmp {
namespace {

constexpr std::uint8_t kOptionEnd = 0;
constexpr std::uint8_t kOptionNop = 1;
constexpr std::uint8_t kOptionCopied = 0x80;

// RFC 791 3.1: only options whose copied flag is set go into later fragments. Returns the length
// of the header without the others, padded; at most that of the first header.
std::uint32_t later_header(const std::uint8_t* first, std::uint32_t first_bytes,
                           std::uint8_t* later) {
  std::memcpy(later, first, sizeof(wire::Ipv4));
  std::uint32_t n = sizeof(wire::Ipv4);
  std::uint32_t at = sizeof(wire::Ipv4);
  while (at < first_bytes && first[at] != kOptionEnd) {
    if (first[at] == kOptionNop) {
      ++at;
      continue;
    }
    if (at + 2 > first_bytes) break;
    const std::uint32_t length = first[at + 1];
    if (length < 2 || at + length > first_bytes) break;  // not walked any further
    if ((first[at] & kOptionCopied) != 0) {
      std::memcpy(later + n, first + at, length);
      n += length;
    }
    at += length;
  }
  while (n % 4 != 0) later[n++] = kOptionEnd;
  return n;
}

// Copies [from, from + length) of the chain to the end of `to`, as far as it is there; the rest
// is elided.
bool append_payload(Packet& to, PacketPool& pool, const Packet& packet, std::uint32_t from,
                    std::uint32_t length) {
  const std::uint32_t there = packet.length() > from ? packet.length() - from : 0;
  const std::uint32_t copied = std::min(there, length);
  rte_mbuf* head = to.mbuf();
  for (std::uint32_t done = 0; done < copied;) {
    rte_mbuf* tail = rte_pktmbuf_lastseg(head);
    if (rte_pktmbuf_tailroom(tail) == 0) {
      rte_mbuf* next = rte_pktmbuf_alloc(pool.raw());
      if (next == nullptr) return false;
      tail->next = next;
      ++head->nb_segs;
      tail = next;
    }
    const std::uint32_t n = std::min<std::uint32_t>(copied - done, rte_pktmbuf_tailroom(tail));
    auto* at = rte_pktmbuf_mtod_offset(tail, std::uint8_t*, tail->data_len);
    const void* bytes = rte_pktmbuf_read(packet.mbuf(), from + done, n, at);
    if (bytes == nullptr) return false;
    if (bytes != at) std::memcpy(at, bytes, n);
    tail->data_len = static_cast<std::uint16_t>(tail->data_len + n);
    head->pkt_len += n;
    done += n;
  }
  to.meta().elided = length - copied;
  return true;
}

}  // namespace

Fragmented fragment(PacketPool& pool, const Packet& packet, std::uint32_t mtu,
                    std::vector<Packet*>& out) {
  const std::uint32_t l3 = packet.meta().l3;
  if (l3 == 0 || packet.head_length() < l3 + sizeof(wire::Ipv4)) return Fragmented::malformed;
  const auto& ip = packet.at<wire::Ipv4>(l3);
  const std::uint32_t header = ip.header_bytes();
  const std::uint32_t total = ip.total_length.host();
  if (header < sizeof ip || packet.head_length() < l3 + header || total <= header ||
      l3 + total > packet.frame_length() || mtu < header + 8) {
    return Fragmented::malformed;
  }
  const std::uint32_t first_offset = ip.fragment_offset();
  if (first_offset + (total - header) > 65535) return Fragmented::malformed;
  std::uint8_t later[60];
  const std::uint32_t later_bytes = later_header(packet.data() + l3, header, later);

  const std::size_t before = out.size();
  Fragmented result = Fragmented::done;
  for (std::uint32_t at = header; at < total && result == Fragmented::done;) {
    const bool first = at == header;
    const std::uint32_t header_bytes = first ? header : later_bytes;
    const std::uint32_t room = (mtu - header_bytes) / 8 * 8;
    const bool last = total - at <= mtu - header_bytes;
    const std::uint32_t n = last ? total - at : room;
    Packet* piece = pool.allocate();
    if (piece == nullptr) {
      result = Fragmented::no_buffer;
      break;
    }
    out.push_back(piece);
    piece->meta() = packet.meta();
    piece->meta().elided = 0;
    piece->meta().flags |= PacketMeta::kFragment;
    if (!first) piece->meta().l4 = 0;
    auto* bytes = reinterpret_cast<std::uint8_t*>(
        rte_pktmbuf_append(piece->mbuf(), static_cast<std::uint16_t>(l3 + header_bytes)));
    if (bytes == nullptr) {
      result = Fragmented::malformed;  // headers longer than a segment
      break;
    }
    std::memcpy(bytes, packet.data(), l3);
    std::memcpy(bytes + l3, first ? packet.data() + l3 : later, header_bytes);
    auto& h = piece->at<wire::Ipv4>(l3);
    const std::uint32_t offset = (first_offset + (at - header)) / 8;
    const bool more = !last || ip.more_fragments();
    h.version_ihl = static_cast<std::uint8_t>(0x40 | header_bytes / 4);
    h.total_length = wire::be16(static_cast<std::uint16_t>(header_bytes + n));
    h.fragment =
        wire::be16(static_cast<std::uint16_t>((more ? wire::Ipv4::kMoreFragments : 0U) | offset));
    wire::fill_header_checksum(h);
    if (!append_payload(*piece, pool, packet, l3 + at, n)) result = Fragmented::no_buffer;
    at += n;
  }
  if (result != Fragmented::done) {
    while (out.size() > before) {
      out.back()->free();
      out.pop_back();
    }
  }
  return result;
}

}  // namespace frond::icmp
