// SPDX-License-Identifier: BSD-3-Clause
// HeapPacket: a packet whose bytes are a heap block of exactly their size, so that a sanitizer sees
// every byte read beyond them. Needs no EAL; must not be freed by the code under test.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "packet/packet.hpp"

namespace frond {

class HeapPacket {
 public:
  explicit HeapPacket(std::span<const std::uint8_t> bytes)
      : data_(new std::uint8_t[bytes.size()]), packet_(allocate()) {
    if (!bytes.empty()) std::memcpy(data_.get(), bytes.data(), bytes.size());
    rte_mbuf* m = packet_->mbuf();
    std::memset(static_cast<void*>(m), 0, sizeof(rte_mbuf));
    m->buf_addr = data_.get();
    m->buf_len = m->data_len = static_cast<std::uint16_t>(bytes.size());
    m->pkt_len = static_cast<std::uint32_t>(bytes.size());
    m->nb_segs = 1;
    packet_->reset_meta();
  }

  Packet& operator*() { return *packet_; }
  Packet* operator->() { return packet_.get(); }

 private:
  struct Free {
    void operator()(Packet* p) const { std::free(p); }
  };
  static Packet* allocate() {
    void* memory = std::aligned_alloc(64, sizeof(rte_mbuf) + sizeof(PacketMeta));
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<Packet*>(memory);
  }

  std::unique_ptr<std::uint8_t[]> data_;
  std::unique_ptr<Packet, Free> packet_;
};

}  // namespace frond
