// SPDX-License-Identifier: BSD-3-Clause
#include "sim/event_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/rng.hpp"

namespace frond::sim {
namespace {

using Kind = Event::Kind;

TEST(EventQueue, EqualTimesKeepTheirOrder) {
  EventQueue queue;
  for (unsigned i = 0; i < 10; ++i) queue.push(Time::us(5), i, 7, Kind::arrival);
  queue.push(Time::us(1), 99, 0, Kind::call);
  Event event;
  ASSERT_TRUE(queue.pop(Time::max(), event));
  EXPECT_EQ(event.target, 99U);
  EXPECT_EQ(event.kind, Kind::call);
  // Some are pushed after time has come near, so take another way through the levels.
  queue.push(Time::us(5), 10, 7, Kind::arrival);
  for (unsigned i = 0; i <= 10; ++i) {
    ASSERT_TRUE(queue.pop(Time::max(), event));
    EXPECT_EQ(event.target, i);
    EXPECT_EQ(event.port, 7);
  }
  EXPECT_TRUE(queue.empty());
  EXPECT_FALSE(queue.pop(Time::max(), event));
}

TEST(EventQueue, StopsAtUntilAndStillTakesEarlierOnes) {
  EventQueue queue;
  Event event;
  queue.push(Time::s(100), 1, 0, Kind::call);
  // Wherever it stops, what is pushed next may be right there.
  for (std::int64_t ns :
       {0LL, 1LL, 4095LL, 4096LL, 16'777'215LL, 16'777'217LL, 50'000'000'000LL, 99'999'999'998LL}) {
    EXPECT_FALSE(queue.pop(Time::ns(ns), event));
    queue.push(Time::ns(ns), 2, 0, Kind::call);
    queue.push(Time::ns(ns + 1), 3, 0, Kind::call);
    ASSERT_TRUE(queue.pop(Time::ns(ns), event));
    EXPECT_EQ(event.time.ns(), ns);
    EXPECT_FALSE(queue.pop(Time::ns(ns), event));
    ASSERT_TRUE(queue.pop(Time::ns(ns + 1), event));
    EXPECT_EQ(event.target, 3U);
  }
  ASSERT_TRUE(queue.pop(Time::s(100), event));
  EXPECT_EQ(event.target, 1U);
}

TEST(EventQueue, ReachesTheEndOfTime) {
  EventQueue queue;
  const Time last = Time::max() - Time::ns(1);
  queue.push(last, 2, 0, Kind::call);
  queue.push(Time(), 1, 0, Kind::call);
  Event event;
  ASSERT_TRUE(queue.pop(Time::max(), event));
  EXPECT_EQ(event.target, 1U);
  ASSERT_TRUE(queue.pop(Time::max(), event));
  EXPECT_EQ(event.time, last);
}

// Against a sorted list: any mix of near and far, of pushes and pops.
template <unsigned kBits> void check_against_sort(std::uint64_t seed) {
  struct Expected {
    Time time;
    std::uint32_t number;
  };
  BasicEventQueue<kBits> queue;
  std::vector<Expected> expected;  // by (time, number)
  Rng rng(seed);
  Time now;
  std::uint32_t next = 0;
  for (int round = 0; round < 20'000; ++round) {
    if (rng.below(100) < 52) {
      const Time time =
          now + Time::ns(static_cast<std::int64_t>(rng.next() >> (24 + rng.below(40))));
      const auto place = std::upper_bound(expected.begin(), expected.end(), time,
                                          [](Time t, const Expected& e) { return t < e.time; });
      expected.insert(place, {time, next});
      queue.push(time, next++, 0, Kind::arrival);
    } else {
      const Time until =
          now + Time::ns(static_cast<std::int64_t>(rng.next() >> (24 + rng.below(40))));
      Event event;
      const bool found = queue.pop(until, event);
      ASSERT_EQ(found, !expected.empty() && expected.front().time <= until);
      now = found ? event.time : until;
      if (!found) continue;
      ASSERT_EQ(event.time, expected.front().time);
      ASSERT_EQ(event.target, expected.front().number);
      expected.erase(expected.begin());
    }
    ASSERT_EQ(queue.size(), expected.size());
  }
}

TEST(EventQueue, AgreesWithASortedList) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    check_against_sort<6>(seed);
    check_against_sort<10>(seed);
    check_against_sort<12>(seed);
  }
}

}  // namespace
}  // namespace frond::sim
