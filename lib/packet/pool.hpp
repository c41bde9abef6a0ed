// SPDX-License-Identifier: BSD-3-Clause
// PacketPool: a mempool of packets whose private area is a PacketMeta. One a process or World,
// never one a device. Needs an initialised EAL (dpdk/eal.hpp).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "packet/packet.hpp"

namespace frond {

class PacketPool {
 public:
  struct Config {
    unsigned packets = 65536;   // in the pool, all caches included
    unsigned data_room = 2048;  // bytes a segment, without headroom
    unsigned cache = 256;       // packets each core keeps at hand
  };

  // Throws StartError when the memory is not there.
  PacketPool(const std::string& name, const Config& config);
  ~PacketPool();
  PacketPool(const PacketPool&) = delete;
  PacketPool& operator=(const PacketPool&) = delete;

  // nullptr when the pool is empty: the caller counts a drop `no_buffer`. The metadata is reset.
  Packet* allocate();
  // A packet with these bytes, chained over segments when they exceed a segment's room.
  Packet* make(std::span<const std::uint8_t> bytes);
  // A copy that nobody shares: header segment and payload of its own, metadata copied.
  Packet* clone(const Packet& packet);

  unsigned available() const { return rte_mempool_avail_count(pool_); }
  unsigned in_use() const { return rte_mempool_in_use_count(pool_); }
  unsigned data_room() const { return data_room_; }
  rte_mempool* raw() { return pool_; }

 private:
  rte_mempool* pool_;
  unsigned data_room_;
};

}  // namespace frond
