// SPDX-License-Identifier: BSD-3-Clause
// VnetIntake: frames that a kernel hands over with a virtio_net_hdr (tap, packet sockets) become
// packets as a wire would carry them: checksums finished, super-frames cut.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/time.hpp"
#include "netdev/vnet_header.hpp"
#include "packet/batch.hpp"
#include "packet/pool.hpp"

namespace frond::netdev {

class VnetIntake {
 public:
  enum class Outcome : std::uint8_t { taken, truncated, malformed, no_buffer };

  explicit VnetIntake(PacketPool& pool);
  ~VnetIntake();
  VnetIntake(const VnetIntake&) = delete;
  VnetIntake& operator=(const VnetIntake&) = delete;

  // Moves packets that did not fit into an earlier batch.
  void drain(Time now, Batch& batch);

  // Where the next frame is to be read: two pieces, for one readv. False: the pool is empty.
  bool prepare(iovec (&pieces)[2]);

  // An outermost VLAN tag that the kernel keeps beside the frame (host order).
  struct Tag {
    std::uint16_t tpid;
    std::uint16_t tci;
  };

  // n bytes have been read into them; offsets in the header don't know of the tag.
  Outcome accept(std::uint32_t n, const VnetHeader& header, const Tag* tag = nullptr);
  // Nothing was read.
  void give_up();

 private:
  // Most that a kernel hands over: 64 KiB of IP, Ethernet, two tags.
  static constexpr std::uint32_t kMostBytes = 65536 + 64;

  static constexpr std::uint32_t kTagBytes = 4;

  PacketPool& pool_;
  Packet* packet_ = nullptr;  // being read into
  std::unique_ptr<std::uint8_t[]>
      spill_;  // what does not fit into a segment, behind room for one and a tag
  std::vector<Packet*> pending_;
  std::size_t next_ = 0;  // in pending_
};

}  // namespace frond::netdev
