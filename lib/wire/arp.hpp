// SPDX-License-Identifier: BSD-3-Clause
// ARP for IPv4 over Ethernet (RFC 826; RFC 5227 for probes and announcements).
#pragma once

#include <cstdint>

#include "base/address.hpp"
#include "wire/endian.hpp"

namespace frond::wire {

struct Arp {
  enum Operation : std::uint16_t { kRequest = 1, kReply = 2 };
  static constexpr std::uint16_t kHardwareEthernet = 1;

  be16 hardware;                 // kHardwareEthernet
  be16 protocol;                 // the EtherType of IPv4
  std::uint8_t hardware_length;  // 6
  std::uint8_t protocol_length;  // 4
  be16 operation;
  MacAddress sender_mac;
  be32 sender_ip;
  MacAddress target_mac;
  be32 target_ip;
};
static_assert(sizeof(Arp) == 28 && alignof(Arp) == 1);

}  // namespace frond::wire
