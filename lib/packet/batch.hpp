// SPDX-License-Identifier: BSD-3-Clause
// Batch: up to 64 packets that a device handles in one go, in order. It does not own them: who
// removes a packet from a batch frees it or hands it on.
#pragma once

#include <cstdint>

#include "packet/packet.hpp"

namespace frond {

class Batch {
 public:
  static constexpr unsigned kCapacity = 64;  // a bit each in a std::uint64_t

  unsigned size() const { return size_; }
  bool empty() const { return size_ == 0; }
  bool full() const { return size_ == kCapacity; }
  unsigned room() const { return kCapacity - size_; }

  Packet* operator[](unsigned i) const { return packets_[i]; }
  Packet** begin() { return packets_; }
  Packet** end() { return packets_ + size_; }
  Packet* const* begin() const { return packets_; }
  Packet* const* end() const { return packets_ + size_; }

  void push(Packet* p) { packets_[size_++] = p; }
  void clear() { size_ = 0; }
  // After a driver has written into end(): n more packets are there.
  void grow(unsigned n) { size_ += n; }
  // Removes the first n, keeping the order of the rest.
  void drop_front(unsigned n) {
    for (unsigned i = n; i < size_; ++i) packets_[i - n] = packets_[i];
    size_ -= n;
  }
  // Keeps the packets whose bit is set, in order.
  void keep(std::uint64_t mask) {
    unsigned kept = 0;
    for (unsigned i = 0; i < size_; ++i) {
      if (mask >> i & 1) packets_[kept++] = packets_[i];
    }
    size_ = kept;
  }
  void free_all() {
    for (Packet* p : *this) p->free();
    clear();
  }

 private:
  unsigned size_ = 0;
  Packet* packets_[kCapacity];
};

}  // namespace frond
