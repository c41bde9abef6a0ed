// SPDX-License-Identifier: BSD-3-Clause
#include "engine/timer_wheel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "base/rng.hpp"

namespace frond {
namespace {

using Timer = TimerWheel::Timer;

std::vector<std::uint32_t> expire_all(TimerWheel& wheel, Time now) {
  std::vector<std::uint32_t> keys;
  while (Timer* t = wheel.expire(now)) keys.push_back(t->key);
  return keys;
}

TEST(TimerWheel, ExpiresToTheNanosecond) {
  TimerWheel wheel;
  Timer timer(7);
  EXPECT_EQ(wheel.next_due(), Time::max());
  wheel.arm(timer, Time::ms(30) + Time::ns(1));
  EXPECT_EQ(wheel.next_due(), Time::ms(30) + Time::ns(1));
  EXPECT_EQ(wheel.expire(Time::ms(30)), nullptr);
  EXPECT_TRUE(timer.armed());
  EXPECT_EQ(wheel.expire(Time::ms(30) + Time::ns(1)), &timer);
  EXPECT_FALSE(timer.armed());
  EXPECT_EQ(wheel.next_due(), Time::max());
  EXPECT_EQ(wheel.size(), 0U);
}

TEST(TimerWheel, OrderIsByTimeThenByArming) {
  TimerWheel wheel;
  Timer a(1), b(2), c(3), d(4), e(5);
  wheel.arm(a, Time::s(40));
  wheel.arm(b, Time::us(1));
  wheel.arm(c, Time::s(40));
  wheel.arm(d, Time::ns(1));
  wheel.arm(e, Time::s(40) - Time::ns(1));
  EXPECT_EQ(expire_all(wheel, Time::s(41)), (std::vector<std::uint32_t>{4, 2, 5, 1, 3}));
}

TEST(TimerWheel, CancelledAndMovedTimersKeepNextDueRight) {
  TimerWheel wheel;
  Timer a(1), b(2);
  wheel.arm(a, Time::ms(1));
  wheel.arm(b, Time::ms(2));
  wheel.cancel(a);
  EXPECT_EQ(wheel.next_due(), Time::ms(2));
  wheel.arm(b, Time::ms(5));
  EXPECT_EQ(wheel.next_due(), Time::ms(5));
  wheel.arm(b, Time::max());
  EXPECT_FALSE(b.armed());
  EXPECT_EQ(wheel.size(), 0U);
  EXPECT_EQ(wheel.next_due(), Time::max());
}

TEST(TimerWheel, ThePastIsDueAtOnce) {
  TimerWheel wheel;
  EXPECT_EQ(wheel.expire(Time::s(100)), nullptr);
  Timer a(1);
  wheel.arm(a, Time::s(3));
  EXPECT_EQ(wheel.next_due(), Time::s(3));
  EXPECT_EQ(wheel.expire(Time::s(100)), &a);
}

TEST(TimerWheel, FarFutureIsKept) {
  TimerWheel wheel;
  Timer year(1), century(2);
  wheel.arm(century, Time::s(3'155'760'000));
  wheel.arm(year, Time::s(31'557'600));
  EXPECT_EQ(wheel.next_due(), Time::s(31'557'600));
  EXPECT_EQ(wheel.expire(Time::s(31'557'600) - Time::ns(1)), nullptr);
  EXPECT_EQ(wheel.expire(Time::s(31'557'600)), &year);
  EXPECT_EQ(wheel.expire(Time::s(3'155'760'000)), &century);
}

// Against a sorted list, over all levels, with re-arming from within.
TEST(TimerWheel, AgreesWithASortedList) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Rng rng(seed);
    TimerWheel wheel;
    std::vector<std::unique_ptr<Timer>> timers;
    for (std::uint32_t i = 0; i < 100; ++i) timers.push_back(std::make_unique<Timer>(i));
    std::vector<std::pair<Time, std::uint32_t>> model;  // armed
    const auto forget = [&](std::uint32_t key) {
      std::erase_if(model, [&](const auto& m) { return m.second == key; });
    };
    Time now;
    for (int round = 0; round < 2000; ++round) {
      const auto key = static_cast<std::uint32_t>(rng.below(timers.size()));
      const auto span = static_cast<std::int64_t>(rng.below(std::uint64_t{1} << rng.below(45)));
      switch (rng.below(4)) {
        case 0:
          wheel.cancel(*timers[key]);
          forget(key);
          break;
        case 1:
          now += Time::ns(span / 16);
          break;
        default:
          wheel.arm(*timers[key], now + Time::ns(span));
          forget(key);
          model.emplace_back(now + Time::ns(span), key);
      }
      std::stable_sort(model.begin(), model.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
      while (Timer* t = wheel.expire(now)) {
        ASSERT_FALSE(model.empty());
        ASSERT_EQ(t->key, model.front().second);
        ASSERT_LE(model.front().first, now);
        model.erase(model.begin());
      }
      ASSERT_EQ(wheel.size(), model.size());
      ASSERT_EQ(wheel.next_due(), model.empty() ? Time::max() : model.front().first);
      ASSERT_GT(wheel.next_due(), now);
    }
    for (auto& t : timers) wheel.cancel(*t);
    EXPECT_EQ(wheel.size(), 0U);
  }
}

}  // namespace
}  // namespace frond
