// SPDX-License-Identifier: BSD-3-Clause
// A fence in two halves: the one that runs a million times a second costs nothing, the one that
// runs once a year pays for both.
//
//   worker:   inside = true;  light_fence();  if (open) { ... }   inside = false (release)
//   closer:   open = false;   heavy_fence();  while (inside) wait;
//
// As with two sequentially consistent fences, not both can miss what the other wrote.
#pragma once

#include <atomic>

namespace frond {

namespace detail {
bool register_membarrier();
// The kernel makes the other threads of this process pass a barrier when we ask it to
// (membarrier(2), Linux 4.14); a sandbox may forbid it.
inline const bool kHasMembarrier = register_membarrier();
}  // namespace detail

inline void light_fence() {
  if (detail::kHasMembarrier) [[likely]] {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
}

void heavy_fence();  // some microseconds

}  // namespace frond
