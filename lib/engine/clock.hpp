// SPDX-License-Identifier: BSD-3-Clause
// Clock: the only reader of a real one. Nanoseconds since it was made, from the TSC.
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace frond {

class Clock {
 public:
  Clock();  // after rte_eal_init, which measures the TSC's frequency
  Time now() const;

 private:
  std::uint64_t start_;
  std::uint64_t scale_;  // ns per tick, in 1/2^32
};

}  // namespace frond
