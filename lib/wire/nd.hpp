// SPDX-License-Identifier: BSD-3-Clause
// Neighbour discovery (RFC 4861 4): solicitation, advertisement and their options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/address.hpp"
#include "wire/endian.hpp"

namespace frond::wire {

// RFC 4861 4.3 and 4.4: both have the same shape.
struct NeighborMessage {
  enum Flag : std::uint32_t {  // of an advertisement
    kRouter = 0x80000000,
    kSolicited = 0x40000000,
    kOverride = 0x20000000,
  };
  std::uint8_t type;
  std::uint8_t code;  // 0
  be16 checksum;
  be32 flags;
  Ip6 target;
};
static_assert(sizeof(NeighborMessage) == 24 && alignof(NeighborMessage) == 1);

// RFC 4861 4.6.1.
struct LinkLayerOption {
  enum Type : std::uint8_t { kSource = 1, kTarget = 2 };
  std::uint8_t type;
  std::uint8_t length;  // in units of 8 bytes: 1
  MacAddress address;
};
static_assert(sizeof(LinkLayerOption) == 8 && alignof(LinkLayerOption) == 1);

struct NdOptions {
  std::optional<MacAddress> source;
  std::optional<MacAddress> target;
};

// nullopt: an option of length zero or beyond the end, which makes the whole packet invalid
// (RFC 4861 4.6). Unknown ones are skipped; of repeated ones the first counts.
inline std::optional<NdOptions> parse_nd_options(std::span<const std::uint8_t> bytes) {
  NdOptions options;
  while (!bytes.empty()) {
    if (bytes.size() < 2) return std::nullopt;
    const std::size_t length = std::size_t{bytes[1]} * 8;
    if (length == 0 || length > bytes.size()) return std::nullopt;
    if (length == sizeof(LinkLayerOption)) {
      MacAddress mac;
      for (unsigned i = 0; i < 6; ++i) mac.bytes[i] = bytes[2 + i];
      if (bytes[0] == LinkLayerOption::kSource && !options.source) options.source = mac;
      if (bytes[0] == LinkLayerOption::kTarget && !options.target) options.target = mac;
    }
    bytes = bytes.subspan(length);
  }
  return options;
}

}  // namespace frond::wire
