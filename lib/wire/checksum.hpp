// SPDX-License-Identifier: BSD-3-Clause
// The Internet checksum (RFC 1071) and its incremental update (RFC 1624). Sums are taken over
// bytes as they stand in memory, which gives the right bytes on any machine (RFC 1071 2 B).
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "wire/endian.hpp"
#include "wire/ipv4.hpp"
#include "wire/ipv6.hpp"

namespace frond::wire {

// Not folded: add several, then fold. A part that is followed by another must have an even length.
using Sum = std::uint64_t;

inline Sum sum_bytes(const void* data, std::size_t n, Sum sum = 0) {
  const auto* at = static_cast<const std::uint8_t*>(data);
  for (; n >= 4; n -= 4, at += 4) {
    std::uint32_t word;
    std::memcpy(&word, at, 4);
    sum += word;
  }
  if (n >= 2) {
    std::uint16_t word;
    std::memcpy(&word, at, 2);
    sum += word;
    at += 2;
    n -= 2;
  }
  if (n == 1) {
    std::uint16_t word = 0;
    std::memcpy(&word, at, 1);
    sum += word;
  }
  return sum;
}

// One's complement sum in 16 bits; 0 only when every byte was 0.
constexpr std::uint16_t fold(Sum sum) {
  sum = (sum & 0xffffffff) + (sum >> 32);
  sum = (sum & 0xffffffff) + (sum >> 32);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

// What goes into a checksum field that was 0 while summing.
constexpr be16 complement(Sum sum) {
  return be16::from_raw(static_cast<std::uint16_t>(~fold(sum)));
}

inline be16 checksum(std::span<const std::uint8_t> bytes) {
  return complement(sum_bytes(bytes.data(), bytes.size()));
}

// Over a header whose checksum field is filled in: right when the sum is all ones.
inline bool header_valid(const Ipv4& ip) {
  return fold(sum_bytes(&ip, ip.header_bytes())) == 0xffff;
}

// Never 0xffff: the version is not 0, so neither is the sum.
inline void fill_header_checksum(Ipv4& ip) {
  ip.checksum = be16();
  ip.checksum = complement(sum_bytes(&ip, ip.header_bytes()));
}

// RFC 1624 3, equation 3: HC' = ~(~HC + ~m + m'). Unlike RFC 1141's it gives no 0xffff for a
// header that isn't all zero.
constexpr be16 update_checksum(be16 old_checksum, be16 old_field, be16 new_field) {
  return complement(Sum{static_cast<std::uint16_t>(~old_checksum.raw())} +
                    static_cast<std::uint16_t>(~old_field.raw()) + new_field.raw());
}

// TTL - 1: the checksum grows by 0x0100. 0xfeff would become 0xffff, the other zero, which a
// verifier takes but a full computation never gives (RFC 1624 3): it becomes 0.
inline void decrement_ttl(Ipv4& ip) {
  ip.ttl = static_cast<std::uint8_t>(ip.ttl - 1);
  const std::uint32_t sum = std::uint32_t{ip.checksum.raw()} + be16(0x0100).raw();
  ip.checksum = be16::from_raw(static_cast<std::uint16_t>(sum + (sum >= 0xffff)));
}

// Pseudo headers: RFC 768, RFC 9293 3.1; RFC 8200 8.1. length: transport header and data.
inline Sum pseudo_sum(const Ipv4& ip, std::uint8_t proto, std::uint32_t length) {
  return sum_bytes(&ip.src, 8) + be32(proto).raw() + be32(length).raw();
}
inline Sum pseudo_sum(const Ipv6& ip, std::uint8_t proto, std::uint32_t length) {
  return sum_bytes(&ip.src, 32) + be32(proto).raw() + be32(length).raw();
}

// The checksum field of UDP: a computed 0 is sent as all ones, since 0 means none (RFC 768).
constexpr be16 udp_complement(Sum sum) {
  const be16 c = complement(sum);
  return c.raw() == 0 ? be16(0xffff) : c;
}

}  // namespace frond::wire
