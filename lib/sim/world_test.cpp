// SPDX-License-Identifier: BSD-3-Clause
#include "sim/world.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"

namespace frond::sim {
namespace {

World::Config small(const char* name) {
  return {.name = name, .pool = {.packets = 63, .data_room = 256, .cache = 0}};
}

using Log = std::vector<std::string>;

// Writes down when it is stepped and for which ports; wants what the test says.
class Probe : public Device {
 public:
  Probe(std::string name, std::uint32_t id, Log& log) : Device(std::move(name), id, 1), log_(log) {
    ready().resize(4);
  }
  Time step(Context& ctx) override {
    inbox().run();
    std::string line = name() + "@" + std::to_string(ctx.now.ns());
    ready().for_each([&](unsigned port) {
      line += "p" + std::to_string(port);
      ready().clear(port);
    });
    log_.push_back(line);
    return next ? next(ctx.now) : Time::max();
  }
  std::function<Time(Time)> next;

 private:
  Log& log_;
};

TEST(World, StepsInOrderOfTimeThenOfAsking) {
  World world(small("world1"));
  Log log;
  Probe a("a", 0, log), b("b", 1, log);
  world.add(b);
  world.add(a);
  world.run_until(Time());
  EXPECT_EQ(log, (Log{"b@0p0p1p2p3", "a@0p0p1p2p3"}));
  log.clear();
  world.wake(Time::ns(9), a, 1);
  world.wake(Time::ns(5), b, 2);
  world.wake(Time::ns(5), a, 0);
  world.wake(Time::ns(5), b, 3);
  world.wake(Time::ns(7), b, kNoPort);
  world.run_until(Time::ns(9));
  EXPECT_EQ(log, (Log{"b@5p2p3", "a@5p0", "b@7", "a@9p1"})) << "one step for equal (time, device)";
  EXPECT_EQ(world.now(), Time::ns(9));
}

TEST(World, CallsKeepTheirPlaceAmongEvents) {
  World world(small("world2"));
  Log log;
  Probe a("a", 0, log), b("b", 1, log);
  world.add(a);
  world.add(b);
  world.run_until(Time());
  log.clear();
  const Time t = Time::ns(10);
  world.wake(t, a, 0);
  world.at(t, [&] { log.push_back("first"); });
  world.wake(t, b, 0);
  world.wake(t, a, 1);
  world.at(t, [&] {
    log.push_back("second");
    world.at(Time::ns(3), [&] { log.push_back("late@" + std::to_string(world.now().ns())); });
  });
  world.post(t, b, [&] { log.push_back("post"); });
  world.run_until(t);
  EXPECT_EQ(log, (Log{"a@10p0", "first", "b@10p0", "a@10p1", "second", "late@10", "post", "b@10"}));
}

TEST(World, WakesADeviceWhenItWants) {
  World world(small("world3"));
  Log log;
  Probe a("a", 0, log);
  a.next = [](Time now) { return now < Time::ns(30) ? now + Time::ns(10) : Time::max(); };
  world.add(a);
  EXPECT_TRUE(world.run_until_idle(Time::s(1)));
  EXPECT_EQ(log, (Log{"a@0p0p1p2p3", "a@10", "a@20", "a@30"}));
  EXPECT_EQ(world.now(), Time::ns(30));
}

TEST(World, AWishThatIsPutOffOrTakenBackCostsNoStep) {
  World world(small("world4"));
  Log log;
  Probe a("a", 0, log);
  Time wish = Time::ns(100);
  a.next = [&](Time) { return wish; };
  world.add(a);
  world.run_until(Time());
  wish = Time::ns(200);
  world.wake(Time::ns(50), a, kNoPort);
  world.run_until(Time::ns(199));
  EXPECT_EQ(log, (Log{"a@0p0p1p2p3", "a@50"}));
  wish = Time::max();
  world.wake(Time::ns(199), a, kNoPort);
  EXPECT_TRUE(world.run_until_idle(Time::s(1)));
  EXPECT_EQ(log.back(), "a@199");
  EXPECT_EQ(world.statistics().stale_wakes, 2U);
}

// A timer far away and a wake for each packet: the timer must not be queued anew each time.
TEST(World, AFarTimerIsQueuedOnce) {
  World world(small("world5"));
  Log log;
  Probe a("a", 0, log);
  unsigned steps = 0;
  a.next = [&](Time now) {
    ++steps;
    if (now >= Time::s(1)) return Time::max();
    return steps % 2 == 1 ? now + Time::ns(100) : Time::s(1);
  };
  world.add(a);
  for (int i = 1; i <= 1000; ++i) {
    world.wake(Time::us(i), a, 0);
    world.run_until(Time::us(i));
    EXPECT_LE(world.pending(), 3U);
  }
  EXPECT_FALSE(world.run_until_idle(Time::ms(999)));
  EXPECT_EQ(world.now(), Time::ms(999));
  EXPECT_TRUE(world.run_until_idle(Time::s(2)));
  EXPECT_EQ(log.back(), "a@1000000000");
}

// More wishes, each earlier than the last, than a slot remembers: each wish is still kept.
TEST(World, ManyEarlierWishesAreAllKept) {
  World world(small("world6"));
  Log log;
  Probe a("a", 0, log);
  Time wish = Time::ns(1000);
  a.next = [&](Time) { return wish; };
  world.add(a);
  for (int i = 0; i < 9; ++i) {
    wish = Time::ns(1000 - 100 * i);
    world.wake(Time::ns(i), a, kNoPort);
    world.run_until(Time::ns(i));
  }
  log.clear();
  a.next = [&](Time now) { return now < Time::ns(1000) ? now + Time::ns(100) : Time::max(); };
  EXPECT_TRUE(world.run_until_idle(Time::us(9)));
  EXPECT_EQ(
      log, (Log{"a@200", "a@300", "a@400", "a@500", "a@600", "a@700", "a@800", "a@900", "a@1000"}));
}

TEST(World, RemovedDevicesAreNotStepped) {
  World world(small("world7"));
  Log log;
  Probe a("a", 0, log), again("again", 0, log);
  a.next = [](Time now) { return now + Time::ns(10); };
  world.add(a);
  world.run_until(Time::ns(10));
  EXPECT_THROW(world.add(again), StartError);
  world.wake(Time::ns(15), a, 0);
  world.remove(a);
  log.clear();
  EXPECT_TRUE(world.run_until_idle(Time::ns(100)));
  EXPECT_TRUE(log.empty());
  world.add(again);
  world.run_until(Time::ns(100));
  EXPECT_EQ(log, (Log{"again@20p0p1p2p3"}));
}

TEST(World, AWorldThatStandsStillSaysWho) {
  World world(small("world8"));
  Log log;
  Probe stuck("stuck", 0, log);
  log.reserve(1'100'000);
  stuck.next = [](Time now) { return now; };
  world.add(stuck);
  try {
    world.run_until(Time::ns(1));
    FAIL() << "it ran on";
  } catch (const std::logic_error& error) {
    EXPECT_NE(std::string(error.what()).find("'stuck'"), std::string::npos);
  }
}

}  // namespace
}  // namespace frond::sim
