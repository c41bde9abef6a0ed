// SPDX-License-Identifier: BSD-3-Clause
// IPv6 header and the walk over its extension headers (RFC 8200 3, 4).
#pragma once

#include <cstdint>

#include "base/address.hpp"
#include "wire/endian.hpp"

namespace frond::wire {

inline constexpr std::uint8_t kProtoHopByHop = 0;
inline constexpr std::uint8_t kProtoRouting = 43;
inline constexpr std::uint8_t kProtoFragment = 44;
inline constexpr std::uint8_t kProtoEsp = 50;
inline constexpr std::uint8_t kProtoAuth = 51;
inline constexpr std::uint8_t kProtoIcmp6 = 58;
inline constexpr std::uint8_t kProtoNone = 59;
inline constexpr std::uint8_t kProtoDestination = 60;

struct Ipv6 {
  be32 version_class_flow;
  be16 payload_length;  // after this header
  std::uint8_t next_header;
  std::uint8_t hop_limit;
  Ip6 src;
  Ip6 dst;

  unsigned version() const { return version_class_flow.host() >> 28; }
  std::uint8_t traffic_class() const {
    return static_cast<std::uint8_t>(version_class_flow.host() >> 20);
  }
};
static_assert(sizeof(Ipv6) == 40 && alignof(Ipv6) == 1);

struct Ipv6Fragment {
  std::uint8_t next_header;
  std::uint8_t reserved;
  be16 offset_more;  // offset 13 bits in units of 8 bytes, 2 reserved, M
  be32 id;
  unsigned offset() const { return offset_more.host() & 0xfff8U; }
  bool more() const { return (offset_more.host() & 1) != 0; }
};
static_assert(sizeof(Ipv6Fragment) == 8 && alignof(Ipv6Fragment) == 1);

constexpr bool is_ipv6_extension(std::uint8_t proto) {
  return proto == kProtoHopByHop || proto == kProtoRouting || proto == kProtoFragment ||
         proto == kProtoAuth || proto == kProtoDestination;
}

struct Ipv6Walk {
  enum class End : std::uint8_t {
    transport,  // `offset` is the start of `proto`, which is no extension header
    payload,    // a later fragment: what follows is not a header
    truncated,  // the chain runs out of the bytes there are
    too_long,   // more headers than we look at
  };
  End end = End::transport;
  std::uint8_t proto = 0;    // the last header's type
  bool fragment = false;     // part of a fragmented datagram; not an atomic one (RFC 6946)
  std::uint32_t offset = 0;  // from the start of the extension headers
};

// A longer chain is forwarded all the same (RFC 7045 2.1), but not looked into.
inline constexpr unsigned kMaxExtensions = 8;

// at: the first byte after the IPv6 header; `available` bytes may be read.
inline Ipv6Walk walk_extensions(std::uint8_t next_header, const std::uint8_t* at,
                                std::uint32_t available) {
  Ipv6Walk w;
  w.proto = next_header;
  for (unsigned i = 0; is_ipv6_extension(w.proto); ++i) {
    if (i == kMaxExtensions) {
      w.end = Ipv6Walk::End::too_long;
      return w;
    }
    if (available - w.offset < 8) {  // each is a multiple of 8 bytes, AH of 4 but at least 12
      w.end = Ipv6Walk::End::truncated;
      return w;
    }
    const std::uint8_t* header = at + w.offset;
    std::uint32_t bytes = (header[1] + 1U) * 8;
    bool later = false;
    if (w.proto == kProtoAuth) {
      bytes = (header[1] + 2U) * 4;  // RFC 4302 2.2
    } else if (w.proto == kProtoFragment) {
      const auto& f = *reinterpret_cast<const Ipv6Fragment*>(header);
      bytes = sizeof(Ipv6Fragment);
      w.fragment |= f.offset() != 0 || f.more();
      later = f.offset() != 0;
    }
    if (available - w.offset < bytes) {
      w.end = Ipv6Walk::End::truncated;
      return w;
    }
    w.proto = header[0];
    w.offset += bytes;
    if (later) {
      w.end = Ipv6Walk::End::payload;
      return w;
    }
  }
  return w;
}

}  // namespace frond::wire
