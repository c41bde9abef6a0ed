// SPDX-License-Identifier: BSD-3-Clause
// Ethernet II and 802.1Q headers.
#pragma once

#include <cstdint>

#include "base/address.hpp"
#include "wire/endian.hpp"

namespace frond::wire {

inline constexpr std::uint16_t kTypeIpv4 = 0x0800;
inline constexpr std::uint16_t kTypeArp = 0x0806;
inline constexpr std::uint16_t kTypeIpv6 = 0x86dd;
inline constexpr std::uint16_t kTypeVlan = 0x8100;         // 802.1Q C-tag
inline constexpr std::uint16_t kTypeServiceVlan = 0x88a8;  // 802.1ad S-tag
inline constexpr std::uint16_t kTypeMacControl = 0x8808;   // 802.3 annex 31: PAUSE and PFC
inline constexpr std::uint16_t kTypeLldp = 0x88cc;
// Below this the field is a length (IEEE 802.3 3.2.6).
inline constexpr std::uint16_t kMinType = 0x0600;

inline constexpr MacAddress kBroadcastMac{{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};

constexpr bool is_vlan_type(std::uint16_t type) {
  return type == kTypeVlan || type == kTypeServiceVlan;
}

struct Ethernet {
  MacAddress dst;
  MacAddress src;
  be16 type;
};
static_assert(sizeof(Ethernet) == 14 && alignof(Ethernet) == 1);

// What follows the TPID, which stands where the type would: TCI, then the next type.
struct VlanTag {
  be16 tci;  // PCP 3 bits, DEI 1, VID 12; VID 0 is a priority tag
  be16 type;
};
static_assert(sizeof(VlanTag) == 4 && alignof(VlanTag) == 1);

}  // namespace frond::wire
