// SPDX-License-Identifier: BSD-3-Clause
// UDP (RFC 768) and TCP (RFC 9293 3.1) headers.
#pragma once

#include <cstdint>

#include "wire/endian.hpp"

namespace frond::wire {

// The first four bytes of UDP, TCP and SCTP.
struct Ports {
  be16 src;
  be16 dst;
};
static_assert(sizeof(Ports) == 4 && alignof(Ports) == 1);

struct Udp {
  be16 src_port;
  be16 dst_port;
  be16 length;    // header and data
  be16 checksum;  // 0: none, IPv4 only
};
static_assert(sizeof(Udp) == 8 && alignof(Udp) == 1);

struct Tcp {
  be16 src_port;
  be16 dst_port;
  be32 seq;
  be32 ack;
  std::uint8_t data_offset;  // high 4 bits, in units of 4 bytes
  std::uint8_t flags;
  be16 window;
  be16 checksum;
  be16 urgent;

  unsigned header_bytes() const { return (data_offset >> 4) * 4U; }
};
static_assert(sizeof(Tcp) == 20 && alignof(Tcp) == 1);

}  // namespace frond::wire
