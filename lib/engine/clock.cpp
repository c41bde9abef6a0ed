// SPDX-License-Identifier: BSD-3-Clause
#include "engine/clock.hpp"

#include <rte_cycles.h>

namespace frond {

Clock::Clock()
    : start_(rte_rdtsc()),
      scale_(static_cast<std::uint64_t>((static_cast<unsigned __int128>(1'000'000'000) << 32) /
                                        rte_get_tsc_hz())) {}

Time Clock::now() const {
  const unsigned __int128 ticks = rte_rdtsc() - start_;
  return Time::ns(static_cast<std::int64_t>(ticks * scale_ >> 32));
}

}  // namespace frond
