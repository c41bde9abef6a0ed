// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "engine/inbox.hpp"
#include "engine/pipeline.hpp"
#include "engine/port_set.hpp"
#include "engine/serialiser.hpp"
#include "engine/worker.hpp"

namespace frond {
namespace {

TEST(Serialiser, KeepsTheRemainderOfANanosecond) {
  // 84 bytes at 800G take 0.84 ns: 100 back to back take exactly 84 ns.
  Serialiser line(Rate::gbps(800));
  Time departure;
  for (int i = 0; i < 100; ++i) departure = line.send(Time(), Time(), 60);
  EXPECT_EQ(departure.ns(), 84);
}

// Against plain division, at rates that do not divide a second evenly.
TEST(Serialiser, AgreesWithDivision) {
  Rng rng(5);
  for (std::uint64_t bps : {1ULL, 7ULL, 9'999'991ULL, 1'000'000'007ULL, 99'999'999'977ULL,
                            1'600'000'000'000ULL, 9'999'999'999'973ULL}) {
    Serialiser line(Rate::bps(bps));
    unsigned __int128 bits = 0;
    for (int i = 0; i < 1000 && (bps > 100 || i < 10); ++i) {
      const auto bytes = static_cast<std::uint32_t>(kMinFrame + rng.below(9000));
      bits += 8 * (bytes + kWireOverhead);
      const Time departure = line.send(Time(), Time(), bytes);
      ASSERT_EQ(departure.ns(), static_cast<std::int64_t>(bits * 1'000'000'000 / bps)) << bps;
    }
  }
}

TEST(Serialiser, LateHandOverKeepsTheIdealTimeline) {
  Serialiser line(Rate::gbps(1));
  const Time late = Time::us(500);
  const Time one = line.send(Time::us(1), late, 1500 - 24);
  EXPECT_EQ(one, Time::us(13));
  EXPECT_EQ(line.send(Time::us(2), late, 1500 - 24), Time::us(25));
  EXPECT_EQ(line.lost(), Time());
}

TEST(Serialiser, TooLateIsRebasedAndCounted) {
  Serialiser line(Rate::gbps(1));
  EXPECT_EQ(line.send(Time(), Time::ms(5), 1500 - 24), Time::ms(5) + Time::us(12));
  EXPECT_EQ(line.lost(), Time::ms(5));
}

TEST(PortSet, IteratesInOrder) {
  PortSet set(130);
  for (unsigned p : {129U, 0U, 64U, 63U}) set.set(p);
  std::vector<unsigned> seen;
  set.for_each([&](unsigned p) {
    seen.push_back(p);
    set.clear(p);
  });
  EXPECT_EQ(seen, (std::vector<unsigned>{0, 63, 64, 129}));
  EXPECT_FALSE(set.any());
}

TEST(Inbox, KeepsEachSendersOrder) {
  Inbox inbox;
  std::vector<int> seen;
  std::vector<std::thread> senders;
  for (int s = 0; s < 3; ++s) {
    senders.emplace_back([&, s] {
      for (int i = 0; i < 1000; ++i) inbox.post([&seen, s, i] { seen.push_back(s * 1000 + i); });
    });
  }
  for (auto& t : senders) t.join();
  inbox.run();
  ASSERT_EQ(seen.size(), 3000U);
  std::array<int, 3> last{-1, -1, -1};
  for (int v : seen) {
    EXPECT_GT(v % 1000, last[v / 1000]);
    last[v / 1000] = v % 1000;
  }
}

struct OddLength {
  static constexpr std::string_view kName = "odd_length";
  enum Drop : std::uint8_t { too_short };
  static constexpr std::array<DropInfo, 1> kDrops{{{"odd_too_short", "shorter than 3 bytes"}}};
  template <class Why> Verdict decide(Packet& p, Why& why) const {
    if (p.length() < 3) {
      if constexpr (Why::kOn) why("short");
      return Verdict::drop(too_short);
    }
    return p.length() % 2 == 1 ? Verdict::punt(5) : Verdict::next();
  }
};
struct Second : OddLength {
  static constexpr std::string_view kName = "second";
  int* applied;
  explicit Second(int* a) : applied(a) {}
  void apply(Context&, Batch& b) { *applied += static_cast<int>(b.size()); }
};
struct Slow {
  std::vector<unsigned> drops, punts;
  void punt(Context&, Packet* p, PuntCode code) {
    punts.push_back(code);
    p->free();
  }
  void drop(Context&, Packet* p, unsigned flat) {
    drops.push_back(flat);
    p->free();
  }
};

TEST(Pipeline, ScattersWhatDoesNotGoOn) {
  PacketPool pool("pipeline", {.packets = 63, .cache = 0});
  Rng rng;
  Context ctx{Time(), rng, pool};
  int applied = 0;
  Pipeline<OddLength, Second> pipeline(OddLength{}, Second(&applied));
  Batch batch;
  for (std::size_t n : {2, 3, 4, 5, 6}) batch.push(pool.make(std::vector<std::uint8_t>(n)));
  Slow slow;
  pipeline.process(ctx, batch, slow);
  EXPECT_EQ(slow.drops, std::vector<unsigned>{0});
  EXPECT_EQ(slow.punts, (std::vector<unsigned>{5, 5}));
  ASSERT_EQ(batch.size(), 2U);
  EXPECT_EQ(batch[0]->length(), 4U);
  EXPECT_EQ(applied, 2);
  batch.free_all();
  EXPECT_EQ(pool.in_use(), 0U);
  static_assert(decltype(pipeline)::drop_list()[1].stage == "second");
}

class Ticker : public Device {
 public:
  Ticker() : Device("ticker", 0, 1) {}
  Time step(Context& ctx) override {
    inbox().run();
    EXPECT_GE(ctx.now, last_);
    last_ = ctx.now;
    ++steps;
    return Time::max();
  }
  std::atomic<int> steps = 0;

 private:
  Time last_;
};

TEST(Worker, StepsItsDevicesAndRunsCalls) {
  PacketPool pool("worker", {.packets = 63, .cache = 0});
  Clock clock;
  Worker worker({.idle = IdlePolicy::adaptive}, clock, pool);
  Ticker ticker;
  worker.add(ticker);
  worker.start();
  int called_after = -1;
  worker.call([&] { called_after = ticker.steps; });
  while (ticker.steps < 300) std::this_thread::yield();
  worker.stop();
  EXPECT_GE(called_after, 0);
  const int steps = ticker.steps;
  worker.call([&] { called_after = ticker.steps; });
  EXPECT_EQ(called_after, steps);
}

TEST(Worker, AnImpossibleCpuIsASentence) {
  PacketPool pool("worker2", {.packets = 63, .cache = 0});
  Clock clock;
  Worker worker({.cpu = 1000}, clock, pool);
  EXPECT_THROW(worker.start(), StartError);
}

}  // namespace
}  // namespace frond
