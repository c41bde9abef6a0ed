// SPDX-License-Identifier: BSD-3-Clause
// Fragmentation of an IPv4 packet (RFC 791 3.2).
#pragma once

#include <cstdint>
#include <vector>

#include "packet/packet.hpp"
#include "packet/pool.hpp"

namespace frond::icmp {

enum class Fragmented : std::uint8_t {
  done,
  malformed,  // its header contradicts itself, or the result would not fit a datagram
  no_buffer,
};

// Appends the fragments to `out`, in order, none longer than `mtu` from the IP header on; on
// failure nothing. Each has the frame and IP header of the original, its own lengths and checksum,
// and its metadata. Options go where their copied flag says. Elided payload stays elided.
Fragmented fragment(PacketPool& pool, const Packet& packet, std::uint32_t mtu,
                    std::vector<Packet*>& out);

}  // namespace frond::icmp
