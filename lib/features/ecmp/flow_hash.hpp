// SPDX-License-Identifier: BSD-3-Clause
// The hash that spreads flows: addresses, protocol and ports. Not the ingress port, so that both
// directions of a link and all of a bundle agree, and not IPv6's flow label, which hosts change on
// retransmission. Of fragments just the addresses, so that all of a datagram take one path.
//
// Multiply and fold (as wyhash does, Wang Yi 2019): the seed goes through the multiplier, so two
// seeds give unrelated partitions. A CRC would not do: it is linear, another initial value only
// XORs a constant, and the tiers of a fabric would polarise.
#pragma once

#include <cstdint>
#include <cstring>

#include "packet/packet.hpp"
#include "wire/ethernet.hpp"
#include "wire/ipv4.hpp"
#include "wire/ipv6.hpp"

namespace frond::ecmp {

inline std::uint64_t fold_product(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
}

inline constexpr std::uint64_t kOdd0 = 0xa0761d6478bd642fULL;
inline constexpr std::uint64_t kOdd1 = 0xe7037ed1a0b428dbULL;
inline constexpr std::uint64_t kOdd2 = 0x8ebc6af09c88c6e3ULL;

// ports_proto: source port, destination port, protocol; 0 for fragments. The high half is used.
inline std::uint32_t finish(std::uint64_t addresses, std::uint64_t ports_proto,
                            std::uint64_t seed) {
  const std::uint64_t mixed = fold_product(addresses ^ seed ^ kOdd0, ports_proto ^ kOdd1);
  return static_cast<std::uint32_t>(fold_product(mixed ^ seed, kOdd2) >> 32);
}

// The parsed packet must be IP.
inline std::uint32_t flow_hash(const Packet& packet, std::uint64_t seed) {
  const PacketMeta& meta = packet.meta();
  std::uint64_t ports =
      std::uint64_t{meta.src_port} << 32 | std::uint64_t{meta.dst_port} << 16 | meta.ip_proto;
  if ((meta.flags & PacketMeta::kFragment) != 0) [[unlikely]]
    ports = 0;
  if (meta.ether_type == wire::kTypeIpv4) [[likely]] {
    std::uint64_t both;
    std::memcpy(&both, packet.data() + meta.l3 + offsetof(wire::Ipv4, src), 8);
    return finish(both, ports, seed);
  }
  std::uint64_t word[4];
  std::memcpy(word, packet.data() + meta.l3 + offsetof(wire::Ipv6, src), 32);
  const std::uint64_t src = fold_product(word[0] ^ kOdd1, word[1] ^ kOdd2 ^ seed);
  const std::uint64_t dst = fold_product(word[2] ^ kOdd2, word[3] ^ kOdd0 ^ seed);
  return finish(src ^ (dst << 1 | dst >> 63), ports, seed);
}

}  // namespace frond::ecmp
