// SPDX-License-Identifier: BSD-3-Clause
// Fifo: packets in order, bounded in bytes. Owns what is in it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "base/rate.hpp"
#include "packet/packet.hpp"

namespace frond {

class Fifo {
 public:
  explicit Fifo(Bytes limit = Bytes::mib(1)) : limit_(limit.count()) {}
  ~Fifo() { clear(); }
  Fifo(const Fifo&) = delete;
  Fifo& operator=(const Fifo&) = delete;

  bool empty() const { return count_ == 0; }
  unsigned packets() const { return count_; }
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t limit() const { return limit_; }
  // The most bytes that were ever in the queue. Between two takes bytes only grow, so it is enough
  // to look when something is taken.
  std::uint64_t watermark() const { return std::max(watermark_, bytes_); }
  void clear_watermark() { watermark_ = 0; }
  void set_limit(Bytes limit) { limit_ = limit.count(); }

  // False when the packet would exceed the limit: it stays the caller's (tail drop). A packet
  // always fits into an empty queue.
  bool push(Packet* packet) {
    const std::uint64_t bytes = bytes_ + packet->frame_length();
    if (bytes > limit_ && count_ != 0) [[unlikely]]
      return false;
    if (count_ > mask_ || ring_ == nullptr) [[unlikely]]
      grow();
    ring_[(first_ + count_) & mask_] = packet;
    ++count_;
    bytes_ = bytes;
    return true;
  }

  // The oldest packets that lie side by side, at least one unless empty.
  std::span<Packet* const> run() const {
    return {ring_.get() + first_, std::min(count_, mask_ + 1 - first_)};
  }
  // Takes the first n of run(), whose frames have so many bytes.
  void take(unsigned n, std::uint64_t bytes) {
    watermark_ = std::max(watermark_, bytes_);
    first_ = (first_ + n) & mask_;
    count_ -= n;
    bytes_ -= bytes;
  }
  Packet* pop() {
    Packet* packet = ring_[first_];
    take(1, packet->frame_length());
    return packet;
  }
  void clear() {
    while (!empty()) pop()->free();
  }

 private:
  void grow() {
    const unsigned size = ring_ == nullptr ? 16 : (mask_ + 1) * 2;
    auto larger = std::make_unique<Packet*[]>(size);
    for (unsigned i = 0; i < count_; ++i) larger[i] = ring_[(first_ + i) & mask_];
    ring_ = std::move(larger);
    mask_ = size - 1;
    first_ = 0;
  }

  std::unique_ptr<Packet*[]> ring_;  // a power of two; grows to the deepest backlog and stays
  unsigned mask_ = 0;
  unsigned first_ = 0;
  unsigned count_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t limit_ = 0;
  std::uint64_t watermark_ = 0;
};

}  // namespace frond
