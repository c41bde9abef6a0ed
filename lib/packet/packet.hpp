// SPDX-License-Identifier: BSD-3-Clause
// Packet: an rte_mbuf and, in its private area, one cache line of what the pipeline knows.
//
// A Packet is never constructed: pools hand out rte_mbufs whose private area is a PacketMeta
// (PacketPool makes such pools), and Packet is a view of that memory. DPDK's own clone and copy do
// not carry the private area, so nobody calls rte_pktmbuf_clone or rte_pktmbuf_copy: see clone().
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include <rte_mbuf.h>

#include "base/time.hpp"

namespace frond {

// No next hop yet; see features/l3/next_hop.hpp for the values.
inline constexpr std::uint32_t kNoNextHop = 0xffffffff;
inline constexpr std::uint16_t kNoPort = 0xffff;

// Written by the device that holds the packet, and by nobody else. A Port resets all of it on
// receive (Packet::reset_meta), except time and id where a Wire carries them.
struct alignas(64) PacketMeta {
  enum Flag : std::uint8_t {
    kTagged = 1,        // vlan_tci is the outermost 802.1Q tag, still in the frame
    kFragment = 2,      // part of a fragmented datagram: the ports must not be read
    kOptions = 4,       // IPv4 options or IPv6 extension headers are there
    kGroupAddress = 8,  // destination MAC is multicast or broadcast
    kControl = 16,      // made by a control agent of this device
  };

  Time time;                 // received: ideal arrival of the last bit; sent: ideal departure of it
  std::uint64_t id = 0;      // given by the source; kept across hops, 0 from a real device
  std::uint32_t elided = 0;  // payload bytes that the frame has on the wire but not in memory
  std::uint32_t flow_hash = 0;
  std::uint32_t next_hop = kNoNextHop;
  std::uint16_t ingress = kNoPort;
  std::uint16_t egress = kNoPort;
  std::uint16_t l3 = 0;          // offset of the network header; 0: not parsed
  std::uint16_t l4 = 0;          // offset of the transport header; 0: none in this packet
  std::uint16_t ether_type = 0;  // of what is at l3, host order
  std::uint16_t vlan_tci = 0;    // host order
  std::uint16_t src_port = 0;    // of TCP, UDP and SCTP, host order; 0 for fragments
  std::uint16_t dst_port = 0;
  std::uint8_t ip_proto = 0;  // transport protocol, after IPv6 extension headers
  std::uint8_t flags = 0;
  std::uint8_t traffic_class = 0;
  std::uint8_t priority_group = 0;
  std::uint8_t queue = 0;
  std::uint8_t stage = 0;    // where the verdict was given
  std::uint8_t verdict = 0;  // see engine/verdict.hpp
  std::uint8_t spare = 0;
};
static_assert(sizeof(PacketMeta) == 64);

class Packet {
 public:
  static Packet* from(rte_mbuf* m) { return reinterpret_cast<Packet*>(m); }
  rte_mbuf* mbuf() { return &mbuf_; }
  const rte_mbuf* mbuf() const { return &mbuf_; }

  PacketMeta& meta() { return meta_; }
  const PacketMeta& meta() const { return meta_; }
  // Field by field: assigning a PacketMeta{} goes through the stack, where gcc reads 16 bytes that
  // it has just written in two pieces, a failed store forwarding a packet.
  void reset_meta() {
    std::memset(static_cast<void*>(&meta_), 0, sizeof meta_);
    meta_.next_hop = kNoNextHop;
    meta_.ingress = kNoPort;
    meta_.egress = kNoPort;
  }

  // The first segment. Headers are always within it.
  std::uint8_t* data() { return rte_pktmbuf_mtod(&mbuf_, std::uint8_t*); }
  const std::uint8_t* data() const { return rte_pktmbuf_mtod(&mbuf_, const std::uint8_t*); }
  std::uint32_t head_length() const { return mbuf_.data_len; }
  // Bytes present, all segments, without FCS.
  std::uint32_t length() const { return mbuf_.pkt_len; }
  // Bytes that the frame has on a wire, without FCS, preamble and gap.
  std::uint32_t frame_length() const { return mbuf_.pkt_len + meta_.elided; }

  template <class Header> Header& at(std::uint32_t offset) {
    return *reinterpret_cast<Header*>(data() + offset);
  }
  template <class Header> const Header& at(std::uint32_t offset) const {
    return *reinterpret_cast<const Header*>(data() + offset);
  }
  std::span<const std::uint8_t> head() const { return {data(), head_length()}; }

  void prefetch() const { __builtin_prefetch(data()); }
  void free() { rte_pktmbuf_free(&mbuf_); }

 private:
  Packet() = delete;
  rte_mbuf mbuf_;
  PacketMeta meta_;
};
static_assert(sizeof(Packet) == sizeof(rte_mbuf) + sizeof(PacketMeta));

struct PacketFree {
  void operator()(Packet* p) const { p->free(); }
};
using PacketPtr = std::unique_ptr<Packet, PacketFree>;

}  // namespace frond
