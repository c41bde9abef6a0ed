// SPDX-License-Identifier: BSD-3-Clause
// TokenBucket: at most `burst` at once and `rate` a second in the long run (RFC 4443 2.4 (f)).
// Integer nanoseconds: the same on every machine.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.hpp"

namespace frond {

class TokenBucket {
 public:
  // rate 0: never.
  TokenBucket(std::uint32_t rate, std::uint32_t burst)
      : cost_(rate == 0 ? Time() : Time::s(1) / rate), depth_(cost_ * burst) {}

  bool ready(Time now) const { return cost_ > Time() && full_at_ - now <= depth_ - cost_; }
  // After ready(now).
  void take(Time now) { full_at_ = std::max(full_at_, now) + cost_; }

 private:
  Time cost_;              // time that makes one token
  Time depth_;             // time that fills an empty bucket
  Time full_at_ = Time();  // when the bucket is full again
};

}  // namespace frond
