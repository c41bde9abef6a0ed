// SPDX-License-Identifier: BSD-3-Clause
// Builds IPv4 and IPv6 frames for traffic sources and tests: checksums filled in, no padding to
// the minimum frame unless asked.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/address.hpp"
#include "wire/ethernet.hpp"
#include "wire/ipv4.hpp"

namespace frond::wire {

struct FrameSpec {
  MacAddress dst_mac;
  MacAddress src_mac;
  std::vector<std::uint16_t> tags;  // TCIs, outermost first; several: an 802.1ad outer tag
  IpAddress src;                    // both of one family
  IpAddress dst;
  std::uint8_t proto = kProtoUdp;  // UDP and TCP get a header with these ports, others none
  std::uint16_t src_port = 1024;
  std::uint16_t dst_port = 9;
  std::uint8_t ttl = 64;
  std::uint8_t tos = 0;               // or traffic class
  std::uint32_t flow_label = 0;       // IPv6
  std::uint16_t id = 0;               // IPv4, and low half of IPv6's fragment identification
  bool dont_fragment = false;         // IPv4
  bool more_fragments = false;        // IPv6: adds a fragment header
  std::uint16_t fragment_offset = 0;  // bytes; later fragments get no transport header
  std::vector<std::uint8_t>
      options;  // IPv4 options, or IPv6 extension headers before the fragment's
  std::uint8_t first_extension = 0;  // type of the first extension header in `options`
  std::vector<std::uint8_t> payload;
  std::uint32_t zeros = 0;   // payload bytes of 0 after `payload`
  bool elide_zeros = false;  // count them in lengths and checksums, leave them out of the frame
  std::uint32_t pad_to = 0;  // Ethernet padding: 60 for the minimum frame
};

std::vector<std::uint8_t> build(const FrameSpec& spec);

}  // namespace frond::wire
