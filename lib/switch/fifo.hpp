// SPDX-License-Identifier: BSD-3-Clause
// Fifo: packets in order, bounded in bytes. Owns what is in it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/rate.hpp"
#include "packet/packet.hpp"

namespace frond {

class Fifo {
 public:
  explicit Fifo(Bytes limit = Bytes::mib(1)) : limit_(limit.count()) {}
  ~Fifo() { clear(); }
  Fifo(const Fifo&) = delete;
  Fifo& operator=(const Fifo&) = delete;
  Fifo(Fifo&& other) noexcept { swap(other); }
  Fifo& operator=(Fifo&& other) noexcept {
    swap(other);
    return *this;
  }

  bool empty() const { return count_ == 0; }
  unsigned packets() const { return count_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t limit() const { return limit_; }
  std::uint64_t watermark() const { return watermark_; }
  void clear_watermark() { watermark_ = bytes_; }
  void set_limit(Bytes limit) { limit_ = limit.count(); }

  // False when the packet would exceed the limit: it stays the caller's (tail drop). A packet
  // always fits into an empty queue.
  bool push(Packet* packet) {
    const std::uint64_t bytes = bytes_ + packet->frame_length();
    if (bytes > limit_ && count_ != 0) [[unlikely]]
      return false;
    if (count_ == ring_.size()) [[unlikely]]
      grow();
    ring_[(first_ + count_) & (ring_.size() - 1)] = packet;
    ++count_;
    bytes_ = bytes;
    if (bytes > watermark_) watermark_ = bytes;
    return true;
  }
  Packet* front() const { return ring_[first_]; }
  Packet* pop() {
    Packet* packet = ring_[first_];
    first_ = (first_ + 1) & (static_cast<unsigned>(ring_.size()) - 1);
    --count_;
    bytes_ -= packet->frame_length();
    return packet;
  }
  void clear() {
    while (!empty()) pop()->free();
  }

 private:
  void grow() {
    std::vector<Packet*> larger(ring_.empty() ? 16 : ring_.size() * 2);
    for (unsigned i = 0; i < count_; ++i) larger[i] = ring_[(first_ + i) & (ring_.size() - 1)];
    ring_.swap(larger);
    first_ = 0;
  }
  void swap(Fifo& other) {
    ring_.swap(other.ring_);
    std::swap(first_, other.first_);
    std::swap(count_, other.count_);
    std::swap(bytes_, other.bytes_);
    std::swap(limit_, other.limit_);
    std::swap(watermark_, other.watermark_);
  }

  std::vector<Packet*> ring_;  // a power of two; grows to the deepest backlog and stays
  unsigned first_ = 0;
  unsigned count_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t limit_ = 0;
  std::uint64_t watermark_ = 0;
};

}  // namespace frond
