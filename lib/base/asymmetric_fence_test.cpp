// SPDX-License-Identifier: BSD-3-Clause
#include "base/asymmetric_fence.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace frond {
namespace {

// What a port does: the worker looks whether it is open, the closer whether the worker is inside.
// Without the fences both may say no within a few thousand rounds on x86 (store buffers).
TEST(AsymmetricFence, NotBothMissTheOther) {
  constexpr int kRounds = 20'000;
  std::atomic<int> round = 0, finished = 0;
  std::atomic<bool> inside = false, open = true;
  bool worker_saw_open = false;
  std::thread worker([&] {
    for (int i = 1; i <= kRounds; ++i) {
      while (round.load(std::memory_order_acquire) != i) {
      }
      inside.store(true, std::memory_order_relaxed);
      light_fence();
      worker_saw_open = open.load(std::memory_order_relaxed);
      finished.store(i, std::memory_order_release);
    }
  });
  int both = 0;
  for (int i = 1; i <= kRounds; ++i) {
    inside.store(false, std::memory_order_relaxed);
    open.store(true, std::memory_order_relaxed);
    round.store(i, std::memory_order_release);
    open.store(false, std::memory_order_relaxed);
    heavy_fence();
    const bool closer_saw_inside = inside.load(std::memory_order_relaxed);
    while (finished.load(std::memory_order_acquire) != i) {
    }
    if (worker_saw_open && !closer_saw_inside) ++both;
  }
  worker.join();
  EXPECT_EQ(both, 0);
}

}  // namespace
}  // namespace frond
