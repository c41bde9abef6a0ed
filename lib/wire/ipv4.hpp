// SPDX-License-Identifier: BSD-3-Clause
// IPv4 header (RFC 791 3.1).
#pragma once

#include <cstdint>

#include "base/address.hpp"
#include "wire/endian.hpp"

namespace frond::wire {

inline constexpr std::uint8_t kProtoIcmp = 1;
inline constexpr std::uint8_t kProtoTcp = 6;
inline constexpr std::uint8_t kProtoUdp = 17;
inline constexpr std::uint8_t kProtoSctp = 132;

struct Ipv4 {
  std::uint8_t version_ihl;
  std::uint8_t tos;  // DSCP 6 bits, ECN 2
  be16 total_length;
  be16 id;
  be16 fragment;  // flags 3 bits, offset 13 in units of 8 bytes
  std::uint8_t ttl;
  std::uint8_t proto;
  be16 checksum;
  be32 src;
  be32 dst;

  static constexpr std::uint16_t kDontFragment = 0x4000;
  static constexpr std::uint16_t kMoreFragments = 0x2000;
  static constexpr std::uint16_t kOffsetMask = 0x1fff;

  unsigned version() const { return version_ihl >> 4; }
  unsigned header_bytes() const { return (version_ihl & 0xfU) * 4; }
  bool dont_fragment() const { return (fragment.host() & kDontFragment) != 0; }
  bool more_fragments() const { return (fragment.host() & kMoreFragments) != 0; }
  unsigned fragment_offset() const { return (fragment.host() & kOffsetMask) * 8U; }  // bytes
  bool is_fragment() const { return (fragment.host() & (kMoreFragments | kOffsetMask)) != 0; }
  Ip4 source() const { return {src.host()}; }
  Ip4 destination() const { return {dst.host()}; }
};
static_assert(sizeof(Ipv4) == 20 && alignof(Ipv4) == 1);

}  // namespace frond::wire
