// SPDX-License-Identifier: BSD-3-Clause
#include "link/spsc_ring.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>

namespace frond::link {
namespace {

TEST(SpscRing, BoundedRefusesAndReuses) {
  SpscRing<int> ring(3, false);
  ASSERT_EQ(ring.capacity(), 4U);
  int next = 0;
  for (int lap = 0; lap < 5; ++lap) {
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(ring.push(next++));
    EXPECT_FALSE(ring.push(-1));
    EXPECT_EQ(ring.front(), nullptr) << "not published";
    ring.publish();
    for (int i = next - 4; i < next; ++i) {
      ASSERT_NE(ring.front(), nullptr);
      EXPECT_EQ(*ring.front(), i);
      ring.pop();
    }
    EXPECT_EQ(ring.front(), nullptr);
    EXPECT_FALSE(ring.push(-1)) << "not given back";
    ring.give_back();
  }
}

TEST(SpscRing, GrowsInOrderAcrossTheWrap) {
  SpscRing<int> ring(4, true);
  int in = 0, out = 0;
  for (int round = 1; round < 40; ++round) {
    for (int i = 0; i < round; ++i) ring.push(in++);
    ring.publish();
    for (int i = 0; i < round / 2; ++i) {
      ASSERT_EQ(*ring.front(), out++);
      ring.pop();
    }
    if (round % 3 == 0) ring.give_back();
  }
  while (const int* front = ring.front()) {
    ASSERT_EQ(*front, out++);
    ring.pop();
  }
  EXPECT_EQ(out, in);
}

TEST(SpscRing, TwoThreadsLoseAndReorderNothing) {
  struct Item {
    std::uint64_t n, square;  // a torn or early read would show
  };
  SpscRing<Item> ring(64, false);
  constexpr std::uint64_t kItems = 300'000;
  std::thread producer([&] {
    for (std::uint64_t n = 0; n < kItems;) {
      unsigned burst = 0;
      while (n < kItems && burst < 1 + n % 7 && ring.push({n, n * n})) {
        ++n;
        ++burst;
      }
      ring.publish();
      if (burst == 0) std::this_thread::yield();
    }
  });
  std::uint64_t expected = 0, wrong = 0;
  while (expected < kItems) {
    const Item* item = ring.front();
    if (item == nullptr) {
      ring.give_back();
      std::this_thread::yield();
      continue;
    }
    wrong += item->n != expected || item->square != expected * expected;
    ring.pop();
    if (++expected % 5 == 0) ring.give_back();
  }
  producer.join();
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(ring.front(), nullptr);
}

}  // namespace
}  // namespace frond::link
