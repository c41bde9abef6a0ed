// SPDX-License-Identifier: BSD-3-Clause
// CaptureRing: frames on their way from a device's worker to a thread that writes them. One
// producer, one consumer; a full ring loses the frame and counts it, so it never blocks.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include "engine/capture.hpp"
#include "telemetry/counter.hpp"

namespace frond {

class CaptureRing final : public CaptureSink {
 public:
  struct Frame {
    Time time;
    std::uint16_t port;
    Direction direction;
    std::uint32_t frame_length;           // on the wire, without FCS
    std::string_view comment;             // a drop's name: lives as long as the program
    std::span<const std::uint8_t> bytes;  // at most snap of them
  };

  // frames: a power of two. snap: bytes kept of each.
  CaptureRing(unsigned frames, unsigned snap)
      : mask_(frames - 1),
        snap_(snap),
        slots_(std::make_unique<Slot[]>(frames)),
        bytes_(std::make_unique<std::uint8_t[]>(std::size_t{frames} * snap)) {}

  // The device's worker.
  void frame(Time time, std::uint16_t port, Direction direction, const Packet& packet,
             std::string_view comment) override {
    const std::uint32_t tail = tail_.load(std::memory_order_relaxed);
    // acquire: the consumer is done with the slot before we write it again.
    if (tail - head_.load(std::memory_order_acquire) > mask_) {
      ++lost_;
      return;
    }
    Slot& slot = slots_[tail & mask_];
    std::uint8_t* to = &bytes_[std::size_t{tail & mask_} * snap_];
    std::uint32_t copied = 0;
    for (const rte_mbuf* m = packet.mbuf(); m != nullptr && copied < snap_; m = m->next) {
      const std::uint32_t n = std::min<std::uint32_t>(m->data_len, snap_ - copied);
      std::memcpy(to + copied, rte_pktmbuf_mtod(m, const std::uint8_t*), n);
      copied += n;
    }
    slot = {time, comment, packet.frame_length(), copied, port, direction};
    // release: whoever sees the new tail sees the slot.
    tail_.store(tail + 1, std::memory_order_release);
  }

  // The consumer: calls f(Frame) for each, in order; the frame's bytes are valid within f.
  template <class F> unsigned drain(F&& f) {
    std::uint32_t head = head_.load(std::memory_order_relaxed);
    const std::uint32_t tail = tail_.load(std::memory_order_acquire);
    const unsigned n = tail - head;
    for (; head != tail; ++head) {
      const Slot& slot = slots_[head & mask_];
      f(Frame{slot.time,
              slot.port,
              slot.direction,
              slot.frame_length,
              slot.comment,
              {&bytes_[std::size_t{head & mask_} * snap_], slot.copied}});
      head_.store(head + 1, std::memory_order_release);
    }
    return n;
  }

  std::uint64_t lost() const { return lost_.value(); }

 private:
  struct Slot {
    Time time;
    std::string_view comment;
    std::uint32_t frame_length = 0;
    std::uint32_t copied = 0;
    std::uint16_t port = 0;
    Direction direction = Direction::in;
  };

  const std::uint32_t mask_;
  const std::uint32_t snap_;
  std::unique_ptr<Slot[]> slots_;
  std::unique_ptr<std::uint8_t[]> bytes_;
  alignas(64) std::atomic<std::uint32_t> head_ = 0;  // written by the consumer
  alignas(64) std::atomic<std::uint32_t> tail_ = 0;  // written by the producer
  Counter lost_;                                     // written by the producer
};

}  // namespace frond
