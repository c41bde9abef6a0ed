// SPDX-License-Identifier: BSD-3-Clause
// Probe: the first bytes of a simulated datagram, enough to measure it. They are always present;
// what follows is zeros, which may be elided.
#pragma once

#include <cstdint>

#include "wire/endian.hpp"

namespace frond::sim {

struct Probe {
  static constexpr std::uint16_t kMagic = 0xf20d;
  wire::be64 sent;      // ns: when the first bit left
  wire::be32 sequence;  // within the flow, from 0
  wire::be32 flow;
  wire::be16 magic;
};
// With IPv4 this just fits the smallest frame: 14 + 20 + 8 + 18 = 60.
static_assert(sizeof(Probe) == 18);

}  // namespace frond::sim
