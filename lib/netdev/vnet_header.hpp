// SPDX-License-Identifier: BSD-3-Clause
// The legacy virtio_net_hdr, in the machine's byte order, as tap devices and packet sockets use it
// (virtio 1.2, 5.1.6). <linux/virtio_net.h> is no C++ (a member called class).
#pragma once

#include <cstdint>

namespace frond::netdev {

struct VnetHeader {
  static constexpr std::uint8_t kNeedsChecksum = 1;  // flags
  static constexpr std::uint8_t kGsoNone = 0;        // gso_type
  static constexpr std::uint8_t kGsoEcn = 0x80;      // a bit beside the type: TCP has CWR set

  std::uint8_t flags = 0;
  std::uint8_t gso_type = kGsoNone;
  std::uint16_t header_length = 0;    // a hint
  std::uint16_t gso_size = 0;         // payload bytes of each piece
  std::uint16_t checksum_start = 0;   // the sum goes from here to the end
  std::uint16_t checksum_offset = 0;  // and is stored here, counted from there
};
static_assert(sizeof(VnetHeader) == 10);

}  // namespace frond::netdev
