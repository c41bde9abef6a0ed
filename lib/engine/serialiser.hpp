// SPDX-License-Identifier: BSD-3-Clause
// Serialiser: a port's line. One packet after the other, at the line's rate, on an ideal timeline:
// a late poll catches up in a burst and the bits leave when they should have.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "base/rate.hpp"
#include "base/time.hpp"

namespace frond {

// FCS 4, preamble and SFD 8, inter-packet gap 12 (IEEE 802.3 clauses 3.2, 4.4.2).
inline constexpr std::uint32_t kFcsBytes = 4;
inline constexpr std::uint32_t kWireOverhead = kFcsBytes + 8 + 12;
inline constexpr std::uint32_t kMinFrame = 60;  // without FCS; shorter ones are padded on the wire

class Serialiser {
 public:
  // Later than this the timeline is rebased to now, and what it lost is counted.
  static constexpr Time kMaxLag = Time::ms(1);

  Serialiser() : Serialiser(Rate::gbps(100)) {}
  explicit Serialiser(Rate rate) { set_rate(rate); }

  void set_rate(Rate rate) {
    rate_ = rate;
    // A byte takes num_/den_ ns.
    const std::uint64_t bps = std::max<std::uint64_t>(rate.bps(), 1);
    const std::uint64_t g = std::gcd(std::uint64_t{8'000'000'000}, bps);
    num_ = 8'000'000'000 / g;
    den_ = bps / g;
    inverse_ = ~std::uint64_t{0} / den_ + (den_ > 1);
    begin(next_);
  }
  Rate rate() const { return rate_; }

  bool idle(Time now) const { return next_ <= now; }
  Time next() const { return next_; }
  Time lost() const { return lost_; }

  // The line takes a frame of `frame_bytes` (without FCS) that was ready at `ready` and is handed
  // over at `now` >= ready. Returns when its last bit leaves.
  Time send(Time ready, Time now, std::uint32_t frame_bytes) {
    if (ready > next_) begin(ready);  // the line was idle
    if (now - next_ > kMaxLag) [[unlikely]] {
      lost_ += now - next_;
      begin(now);
    }
    // Summed before it is divided: one division need not wait for the last one.
    busy_ += std::uint64_t{std::max(frame_bytes, kMinFrame) + kWireOverhead} * num_;
    const std::uint64_t whole = divide(busy_);
    next_ = since_ + Time::ns(static_cast<std::int64_t>(whole));
    if (busy_ >> 62 != 0) [[unlikely]] {
      since_ = next_;
      busy_ -= whole * den_;
    }
    return next_;
  }

 private:
  void begin(Time when) {
    next_ = since_ = when;
    busy_ = 0;
  }

  // n / den_ by the rounded-up reciprocal, which is at most one too high (n < 2^64).
  std::uint64_t divide(std::uint64_t n) const {
    if (den_ == 1) return n;
    const auto q = static_cast<std::uint64_t>((static_cast<unsigned __int128>(n) * inverse_) >> 64);
    return q - (q * den_ > n);
  }

  // Since `since_` the line has been busy without a gap, for busy_ / den_ ns.
  Time next_, since_;
  std::uint64_t busy_ = 0;
  std::uint64_t num_ = 0, den_ = 1, inverse_ = 0;
  Rate rate_;
  Time lost_;
};

}  // namespace frond
