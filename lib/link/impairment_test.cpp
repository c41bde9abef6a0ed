// SPDX-License-Identifier: BSD-3-Clause
#include "link/impairment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "link/link_test_support.hpp"

namespace frond::link {
namespace {

constexpr unsigned kPackets = 20'000;

class ImpairmentTest : public testing::Test {
 protected:
  PacketPool pool_{"impairment", {.packets = 65535, .data_room = 128, .cache = 0}};
  void TearDown() override { EXPECT_EQ(pool_.in_use(), 0U); }

  // Packets 0 .. n-1 depart at 0, 100, 200 ... ns over a wire without delay of its own.
  std::vector<Arrival> run(Wire& wire, const Impairment& impairment, unsigned n = kPackets) {
    wire.a().impair(impairment);
    for (unsigned i = 0; i < n; ++i) send(wire.a(), pool_, i, Time::ns(100 * i));
    return receive(wire.b(), Time::max());
  }
  std::vector<Arrival> run(std::uint64_t seed, const Impairment& impairment) {
    Wire wire("w", seed, {.delay = Time()}, Wire::Threads::one, pool_);
    return run(wire, impairment);
  }
};

// Five standard deviations of a binomial: the seeds are fixed, so this holds for ever or never.
void expect_share(std::uint64_t seen, double p) {
  const double mean = kPackets * p;
  const double deviation = std::sqrt(mean * (1 - p));
  EXPECT_NEAR(static_cast<double>(seen), mean, 5 * deviation);
}

TEST_F(ImpairmentTest, LossHasItsShareAndItsSeed) {
  Wire wire("w", 1, {.delay = Time()}, Wire::Threads::one, pool_);
  const Impairment loss{.loss = Probability::ratio(1, 10)};
  const auto arrived = run(wire, loss);
  expect_share(kPackets - arrived.size(), 0.1);
  EXPECT_EQ(wire.a().drops(wire_loss), kPackets - arrived.size());
  EXPECT_TRUE(std::is_sorted(arrived.begin(), arrived.end(),
                             [](const Arrival& x, const Arrival& y) { return x.id < y.id; }));
  EXPECT_EQ(run(1, loss), arrived);
  EXPECT_NE(run(2, loss), arrived);
}

TEST_F(ImpairmentTest, TheTwoDirectionsDrawApart) {
  Wire wire("w", 1, {.delay = Time()}, Wire::Threads::one, pool_);
  const Impairment loss{.loss = Probability::ratio(1, 2)};
  wire.a().impair(loss);
  wire.b().impair(loss);
  for (unsigned i = 0; i < 1000; ++i) {
    send(wire.a(), pool_, i, Time::ns(i));
    send(wire.b(), pool_, i, Time::ns(i));
  }
  EXPECT_NE(receive(wire.a(), Time::max()), receive(wire.b(), Time::max()));
}

TEST_F(ImpairmentTest, CertainLossLosesAllAndNoneLosesNone) {
  Wire wire("w", 1, {.delay = Time()}, Wire::Threads::one, pool_);
  EXPECT_TRUE(run(wire, {.loss = Probability::always()}).empty());
  EXPECT_EQ(run(wire, {}).size(), kPackets) << "changed while the wire is in use";
}

TEST_F(ImpairmentTest, BlackholeIsSilent) {
  Wire wire("w", 1, {.delay = Time()}, Wire::Threads::one, pool_);
  EXPECT_TRUE(run(wire, {.blackhole = true}, 100).empty());
  EXPECT_TRUE(wire.a().up());
  EXPECT_EQ(wire.a().drops(wire_blackhole), 100U);
  EXPECT_EQ(wire.b().drops(wire_blackhole), 0U);
}

TEST_F(ImpairmentTest, DuplicatesArriveTwiceTogether) {
  Wire wire("w", 1, {.delay = Time()}, Wire::Threads::one, pool_);
  const auto arrived = run(wire, {.duplication = Probability::ratio(1, 20)});
  expect_share(arrived.size() - kPackets, 0.05);
  EXPECT_EQ(wire.a().counters().duplicated.value(), arrived.size() - kPackets);
  std::uint64_t twice = 0;
  for (std::size_t i = 1; i < arrived.size(); ++i) {
    if (arrived[i].id != arrived[i - 1].id) continue;
    ++twice;
    EXPECT_EQ(arrived[i].time, arrived[i - 1].time);
  }
  EXPECT_EQ(twice, arrived.size() - kPackets);
}

TEST_F(ImpairmentTest, CorruptionFlipsOneBitOfAnyByte) {
  Wire wire("w", 1, {.delay = Time()}, Wire::Threads::one, pool_);
  wire.a().impair({.corruption = Probability::ratio(1, 4)});
  std::uint64_t corrupted = 0;
  std::set<unsigned> places;
  for (unsigned i = 0; i < kPackets; ++i) {
    send(wire.a(), pool_, i, Time());
    Batch batch;
    ASSERT_EQ(wire.b().receive(Time(), batch), 1U);
    unsigned bits = 0;
    for (unsigned byte = 0; byte < 60; ++byte) {
      const unsigned n = static_cast<unsigned>(std::popcount(unsigned{batch[0]->data()[byte]}));
      bits += n;
      if (n != 0) places.insert(byte);
    }
    EXPECT_LE(bits, 1U);
    corrupted += bits;
    batch.free_all();
  }
  expect_share(corrupted, 0.25);
  EXPECT_EQ(wire.a().counters().corrupted.value(), corrupted);
  EXPECT_EQ(places.size(), 60U);
}

TEST_F(ImpairmentTest, CorruptionLeavesSharedBytesAlone) {
  Wire wire("w", 1, {.delay = Time()}, Wire::Threads::one, pool_);
  wire.a().impair({.corruption = Probability::always()});
  Packet* original = pool_.make(std::vector<std::uint8_t>(400));  // four segments
  rte_mbuf_refcnt_update(original->mbuf()->next, 1);              // someone else reads the second
  rte_mbuf* shared = original->mbuf()->next;
  Batch batch;
  batch.push(original);
  wire.a().transmit(Time(), batch);
  ASSERT_EQ(wire.b().receive(Time(), batch), 1U);
  EXPECT_NE(batch[0], original);
  EXPECT_EQ(batch[0]->length(), 400U);
  unsigned bits = 0;
  for (const rte_mbuf* m = batch[0]->mbuf(); m != nullptr; m = m->next) {
    for (unsigned i = 0; i < m->data_len; ++i) {
      bits += static_cast<unsigned>(
          std::popcount(unsigned{*rte_pktmbuf_mtod_offset(m, const std::uint8_t*, i)}));
    }
  }
  EXPECT_EQ(bits, 1U);
  batch.free_all();
  rte_pktmbuf_free_seg(shared);
}

TEST_F(ImpairmentTest, DelayIsAddedExactly) {
  const auto arrived = run(1, {.delay = Time::us(7)});
  ASSERT_EQ(arrived.size(), kPackets);
  for (unsigned i = 0; i < kPackets; ++i) EXPECT_EQ(arrived[i], (Arrival{i, 100 * i + 7000}));
}

TEST_F(ImpairmentTest, JitterIsUniformAndDeliveredByArrival) {
  const auto arrived = run(1, {.delay = Time::us(5), .jitter = Time::us(2)});
  ASSERT_EQ(arrived.size(), kPackets);
  std::int64_t least = 1'000'000, most = 0, sum = 0, overtaken = 0;
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    const std::int64_t extra = arrived[i].time - static_cast<std::int64_t>(arrived[i].id) * 100;
    least = std::min(least, extra);
    most = std::max(most, extra);
    sum += extra;
    if (i == 0) continue;
    EXPECT_GE(arrived[i].time, arrived[i - 1].time);
    overtaken += arrived[i].id < arrived[i - 1].id;
  }
  EXPECT_GE(least, 3000);
  EXPECT_LT(least, 3010);
  EXPECT_LE(most, 7000);
  EXPECT_GT(most, 6990);
  EXPECT_NEAR(static_cast<double>(sum) / kPackets, 5000, 50);
  EXPECT_GT(overtaken, kPackets / 10);
}

TEST_F(ImpairmentTest, JitterNeverSpeedsThingsUp) {
  Wire wire("w", 1, {.delay = Time::ns(300)}, Wire::Threads::one, pool_);
  for (const Arrival& a : run(wire, {.jitter = Time::us(2)}, 1000)) {
    EXPECT_GE(a.time, static_cast<std::int64_t>(a.id) * 100 + 300);
  }
}

TEST_F(ImpairmentTest, ReorderedPacketsAreOvertaken) {
  Wire wire("w", 1, {.delay = Time()}, Wire::Threads::one, pool_);
  const auto arrived =
      run(wire, {.reordering = Probability::ratio(1, 100), .reorder_delay = Time::ns(1050)});
  ASSERT_EQ(arrived.size(), kPackets);
  std::uint64_t held = 0;
  for (std::size_t i = 0; i < arrived.size(); ++i) {
    const auto sent = static_cast<std::int64_t>(arrived[i].id) * 100;
    if (arrived[i].time == sent) continue;
    ++held;
    EXPECT_EQ(arrived[i].time, sent + 1050);
    // Ten packets depart within 1050 ns, but those may be held back, too.
    if (i > 0 && arrived[i].id + 10 < kPackets) {
      EXPECT_LT(arrived[i].id, arrived[i - 1].id);
    }
  }
  expect_share(held, 0.01);
  EXPECT_EQ(wire.a().counters().reordered.value(), held);
}

// While a packet that was held back is in flight, polls in between see the others in time; after
// it, order is first in, first out again.
TEST_F(ImpairmentTest, ALaterPacketIsNotHiddenBehindAnEarlierOne) {
  Wire wire("w", 1, {.delay = Time()}, Wire::Threads::one, pool_);
  wire.a().impair({.delay = Time::us(10)});
  send(wire.a(), pool_, 1, Time::ns(0));
  wire.a().impair({});
  send(wire.a(), pool_, 2, Time::ns(50));
  send(wire.a(), pool_, 3, Time::us(20));
  EXPECT_EQ(receive(wire.b(), Time::ns(60)), (std::vector<Arrival>{{2, 50}}));
  EXPECT_TRUE(receive(wire.b(), Time::ns(9'999)).empty());
  EXPECT_EQ(receive(wire.b(), Time::us(10)), (std::vector<Arrival>{{1, 10'000}}));
  EXPECT_EQ(receive(wire.b(), Time::us(20)), (std::vector<Arrival>{{3, 20'000}}));
}

TEST_F(ImpairmentTest, NoBufferForACopyIsCounted) {
  PacketPool small("impairment_small", {.packets = 3, .data_room = 128, .cache = 0});
  {
    Wire wire("w", 1, {.delay = Time()}, Wire::Threads::one, small);
    wire.a().impair({.duplication = Probability::always()});
    send(wire.a(), small, 1, Time());
    send(wire.a(), small, 2, Time());
    EXPECT_EQ(wire.a().drops(wire_no_buffer), 1U);
    EXPECT_EQ(receive(wire.b(), Time()).size(), 3U);
  }
  EXPECT_EQ(small.in_use(), 0U);
}

}  // namespace
}  // namespace frond::link
