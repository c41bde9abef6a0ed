// SPDX-License-Identifier: BSD-3-Clause
// Parse: finds the headers of a frame and writes down where they are. Checks only what is needed to
// read them: that they are there. Whether they make sense is l3's to say.
#pragma once

#include <array>
#include <string_view>

#include "engine/pipeline.hpp"
#include "engine/verdict.hpp"
#include "packet/packet.hpp"
#include "wire/ethernet.hpp"
#include "wire/ipv4.hpp"
#include "wire/transport.hpp"

namespace frond::parse {

inline constexpr unsigned kMaxTags = 4;

class Parse {
 public:
  static constexpr std::string_view kName = "parse";
  enum Drop : std::uint8_t {
    parse_runt,
    parse_too_many_tags,
    parse_truncated,
    parse_ipv4_malformed,
    parse_ipv6_malformed,
    kDropCount
  };
  static constexpr std::array<DropInfo, kDropCount> kDrops{{
      {"parse_runt", "shorter than an Ethernet header and its tags"},
      {"parse_too_many_tags", "more than four VLAN tags"},
      {"parse_truncated", "the frame ends before the IP header or datagram does"},
      {"parse_ipv4_malformed", "not version 4, or a header length that cannot be (RFC 1812 5.2.2)"},
      {"parse_ipv6_malformed",
       "not version 6, or extension headers that run out of the datagram (RFC 8200 4)"},
  }};

  template <class Why> Verdict decide(Packet& packet, Why& why) const {
    const Verdict verdict = fast(packet) ? Verdict::next() : slow(packet);
    if constexpr (Why::kOn) {
      const PacketMeta& m = packet.meta();
      if (m.flags & PacketMeta::kTagged)
        why("parse    vlan {}, priority {}", m.vlan_tci & 0xfff, m.vlan_tci >> 13);
      if (verdict.is_next()) {
        why("parse    type {:04x}, protocol {}, ports {} {}{}", m.ether_type, m.ip_proto,
            m.src_port, m.dst_port, m.flags & PacketMeta::kFragment ? ", fragment" : "");
      }
    }
    return verdict;
  }

 private:
  // What nearly every packet is: IPv4 without tags, options or fragments, over UDP or TCP.
  static bool fast(Packet& packet) {
    constexpr unsigned kL3 = sizeof(wire::Ethernet);
    constexpr unsigned kL4 = kL3 + sizeof(wire::Ipv4);
    if (packet.head_length() < kL4 + sizeof(wire::Ports)) [[unlikely]]
      return false;
    const std::uint8_t* data = packet.data();
    const auto& ip = packet.at<wire::Ipv4>(kL3);
    const unsigned total = ip.total_length.host();
    const bool usual = packet.at<wire::Ethernet>(0).type == wire::be16(wire::kTypeIpv4) &&
                       ip.version_ihl == 0x45 && !ip.is_fragment() &&
                       (ip.proto == wire::kProtoUdp || ip.proto == wire::kProtoTcp) &&
                       total >= sizeof(wire::Ipv4) + sizeof(wire::Ports) &&
                       total + kL3 <= packet.frame_length();
    if (!usual) [[unlikely]]
      return false;
    const auto& ports = packet.at<wire::Ports>(kL4);
    PacketMeta& meta = packet.meta();
    meta.l3 = kL3;
    meta.l4 = kL4;
    meta.ether_type = wire::kTypeIpv4;
    meta.src_port = ports.src.host();
    meta.dst_port = ports.dst.host();
    meta.ip_proto = ip.proto;
    meta.flags = static_cast<std::uint8_t>(data[0] & 1 ? PacketMeta::kGroupAddress : 0);
    return true;
  }

  static Verdict slow(Packet& packet);
  static Verdict ipv4(Packet& packet);
  static Verdict ipv6(Packet& packet);
};

}  // namespace frond::parse
