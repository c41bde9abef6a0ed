// SPDX-License-Identifier: BSD-3-Clause
// BFD control packets (RFC 5880 4.1) over UDP (RFC 5881).
#pragma once

#include <cstdint>

#include "wire/endian.hpp"

namespace frond::wire {

inline constexpr std::uint16_t kBfdPort = 3784;          // RFC 5881 4: single hop
inline constexpr std::uint16_t kBfdSourcePorts = 49152;  // and up
inline constexpr std::uint8_t kBfdTtl = 255;             // RFC 5881 5

struct BfdControl {
  static constexpr std::uint8_t kVersion = 1;
  enum Flag : std::uint8_t {
    kPoll = 0x20,
    kFinal = 0x10,
    kControlPlaneIndependent = 0x08,
    kAuthentication = 0x04,
    kDemand = 0x02,
    kMultipoint = 0x01,
  };

  std::uint8_t version_diagnostic;  // 3 and 5 bits
  std::uint8_t state_flags;         // 2 bits and Flag
  std::uint8_t multiplier;
  std::uint8_t length;  // of the whole control packet
  be32 my_discriminator;
  be32 your_discriminator;
  be32 desired_min_tx_us;
  be32 required_min_rx_us;
  be32 required_min_echo_rx_us;
};
static_assert(sizeof(BfdControl) == 24 && alignof(BfdControl) == 1);

}  // namespace frond::wire
