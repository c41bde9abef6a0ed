// SPDX-License-Identifier: BSD-3-Clause
// What a sending kernel left to its hardware, done here: Internet checksums (RFC 1071) and the
// cutting of super-frames (GSO). Works on contiguous frames that start at the Ethernet header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "packet/pool.hpp"

namespace frond::netdev {

// The one's complement sum of the bytes, in the machine's byte order, folded to 16 bits (which is
// the same arithmetic in either order, RFC 1071 2(B)). Sums of pieces of even length add up.
std::uint16_t checksum_sum(std::span<const std::uint8_t> bytes, std::uint64_t start = 0);

// Where the transport header of a frame is, after VLAN tags, IPv4 options and IPv6 extension
// headers. Offsets are in bytes from the Ethernet header.
struct Transport {
  std::uint32_t l3 = 0;
  std::uint32_t l4 = 0;
  std::uint32_t end = 0;  // of the datagram; Ethernet padding may follow
  std::uint32_t final_dst =
      0;  // the destination address that the pseudo-header takes (RFC 8200 8.1)
  std::uint8_t protocol = 0;
  bool v6 = false;
  bool fragment = false;  // a part of a datagram: its transport checksum is not here
};

// nullopt: no IP, malformed, or the datagram is longer than the frame.
std::optional<Transport> find_transport(std::span<const std::uint8_t> frame);

// The sum of the pseudo-header: what a sender leaves in the checksum field of a packet whose
// checksum the hardware is to finish.
std::uint16_t pseudo_header_sum(std::span<const std::uint8_t> frame, const Transport& t);

// Computes the TCP or UDP checksum of a frame that has none yet, and stores it.
void write_transport_checksum(std::span<std::uint8_t> frame, const Transport& t);

// Finishes the checksum if it is a partial one: equal to the sum of the pseudo-header. A complete
// checksum that happens to be equal stays what it is, so a good packet can't be harmed. True when
// it was partial.
bool finish_partial_checksum(std::span<std::uint8_t> frame);

// As virtio_net_hdr tells it: the sum from `start` to the end goes, inverted, to start + offset.
// False when that is outside the frame.
bool finish_checksum_at(std::span<std::uint8_t> frame, std::uint32_t start, std::uint32_t offset);

// Appends bytes to a packet, in more segments where one is full. False: the pool is empty.
bool append(PacketPool& pool, Packet& packet, std::span<const std::uint8_t> bytes);

enum class Cut : std::uint8_t { done, unsupported, malformed, no_buffer };

// Cuts a TCP frame, or a UDP one that stands for many datagrams (UDP_SEGMENT), into frames of at
// most `size` bytes of payload, as the sender's own kernel would: addresses, ports and options
// repeated; IPv4 identification and TCP sequence counted on; CWR only on the first (RFC
// 3168 6.1.2), FIN and PSH only on the last; all checksums complete. Appends them to `out`, or
// nothing unless `done`.
Cut segment(std::span<const std::uint8_t> frame, std::uint32_t size, PacketPool& pool,
            std::vector<Packet*>& out);

}  // namespace frond::netdev
