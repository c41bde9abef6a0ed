// SPDX-License-Identifier: BSD-3-Clause
// FlowMeter: what a sink knows of one flow, from the sequence numbers and times it has seen.
#pragma once

#include <array>
#include <cstdint>

#include "base/histogram.hpp"
#include "base/time.hpp"

namespace frond::sim {

class FlowMeter {
 public:
  enum class Order : std::uint8_t { next, late, duplicate };

  explicit FlowMeter(std::uint32_t flow = 0) : flow_(flow) {}

  // frame: bytes with FCS.
  Order add(std::uint32_t sequence, std::uint32_t frame, Time sent, Time arrived) {
    if (packets_ == 0) first_ = arrived;
    last_ = arrived;
    ++packets_;
    octets_ += frame;
    const Order order = place(sequence);
    if (order == Order::duplicate) {
      ++duplicates_;
    } else {
      latency_.add(static_cast<std::uint64_t>((arrived - sent).ns()));
      if (order == Order::late) ++reordered_;
    }
    return order;
  }

  std::uint32_t flow() const { return flow_; }
  std::uint64_t packets() const { return packets_; }  // duplicates included
  std::uint64_t octets() const { return octets_; }
  std::uint64_t distinct() const { return packets_ - duplicates_; }
  std::uint64_t duplicates() const { return duplicates_; }
  std::uint64_t reordered() const { return reordered_; }  // came after a later one
  // Not seen (yet), of those up to the latest that was. What is missing after it only the source
  // can tell.
  std::uint64_t missing() const { return next_ - distinct(); }
  Time first() const { return first_; }
  Time last() const { return last_; }
  const Histogram& latency() const { return latency_; }  // ns, duplicates not included

 private:
  // As many of the latest sequence numbers are remembered; an older one is taken for late, not
  // for a duplicate.
  static constexpr std::uint32_t kWindow = 1024;

  std::uint64_t& word(std::uint32_t sequence) { return seen_[sequence % kWindow / 64]; }
  static std::uint64_t bit(std::uint32_t sequence) { return std::uint64_t{1} << (sequence % 64); }

  Order place(std::uint32_t sequence) {
    if (sequence >= next_) {
      if (sequence - next_ >= kWindow) {
        seen_.fill(0);
      } else {
        for (std::uint64_t s = next_; s < sequence; ++s) {
          word(static_cast<std::uint32_t>(s)) &= ~bit(static_cast<std::uint32_t>(s));
        }
      }
      word(sequence) |= bit(sequence);
      next_ = std::uint64_t{sequence} + 1;
      return Order::next;
    }
    if (next_ - sequence > kWindow) return Order::late;
    if ((word(sequence) & bit(sequence)) != 0) return Order::duplicate;
    word(sequence) |= bit(sequence);
    return Order::late;
  }

  std::uint32_t flow_;
  std::uint64_t next_ = 0;  // one above the highest sequence number seen
  std::uint64_t packets_ = 0;
  std::uint64_t octets_ = 0;
  std::uint64_t duplicates_ = 0;
  std::uint64_t reordered_ = 0;
  Time first_, last_;
  std::array<std::uint64_t, kWindow / 64> seen_{};
  Histogram latency_;
};

}  // namespace frond::sim
