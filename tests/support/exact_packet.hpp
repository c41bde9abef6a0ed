// SPDX-License-Identifier: BSD-3-Clause
// ExactPacket: a packet of its own, without a pool or EAL, whose data is a heap block of exactly
// its size: reading a byte beyond either end is a sanitizer's finding. For parsers under test or
// fuzzed; it must not be freed, grown or sent.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "packet/packet.hpp"

namespace frond {

class ExactPacket {
 public:
  explicit ExactPacket(std::span<const std::uint8_t> bytes)
      : data_(std::make_unique<std::uint8_t[]>(bytes.size())),
        packet_(static_cast<Packet*>(std::aligned_alloc(alignof(Packet), sizeof(Packet)))) {
    if (!bytes.empty()) std::memcpy(data_.get(), bytes.data(), bytes.size());
    std::memset(static_cast<void*>(packet_.get()), 0, sizeof(Packet));
    rte_mbuf& m = *packet_->mbuf();
    m.buf_addr = data_.get();
    m.buf_len = m.data_len = static_cast<std::uint16_t>(bytes.size());
    m.pkt_len = m.data_len;
    m.nb_segs = 1;
    m.refcnt = 1;
    packet_->reset_meta();
  }

  Packet& operator*() { return *packet_; }
  Packet* operator->() { return packet_.get(); }

 private:
  struct Free {
    void operator()(Packet* p) const { std::free(static_cast<void*>(p)); }
  };
  std::unique_ptr<std::uint8_t[]> data_;
  std::unique_ptr<Packet, Free> packet_;
};

}  // namespace frond
