// SPDX-License-Identifier: BSD-3-Clause
#include "link/wire.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "link/link_test_support.hpp"

namespace frond::link {
namespace {

class WireTest : public testing::Test {
 protected:
  PacketPool pool_{"wire", {.packets = 8191, .data_room = 256, .cache = 0}};
  void TearDown() override { EXPECT_EQ(pool_.in_use(), 0U); }
};

TEST_F(WireTest, DeliversWhenItHasArrivedAndNotBefore) {
  Wire wire("w", 1, {.delay = Time::ns(500)}, Wire::Threads::one, pool_);
  send(wire.a(), pool_, 1, Time::ns(100));
  send(wire.a(), pool_, 2, Time::ns(101));
  send(wire.b(), pool_, 3, Time::ns(7));
  EXPECT_TRUE(receive(wire.b(), Time::ns(599)).empty());
  EXPECT_EQ(receive(wire.b(), Time::ns(600)), (std::vector<Arrival>{{1, 600}}));
  EXPECT_EQ(receive(wire.b(), Time::us(1)), (std::vector<Arrival>{{2, 601}}));
  EXPECT_EQ(receive(wire.a(), Time::us(1)), (std::vector<Arrival>{{3, 507}}));
  EXPECT_EQ(wire.a().counters().packets.value(), 2U);
  EXPECT_EQ(wire.a().counters().octets.value(), 128U);
}

TEST_F(WireTest, CarriesIdElidedAndTimeAndNothingElse) {
  Wire wire("w", 1, {.delay = Time()}, Wire::Threads::one, pool_);
  send(wire.a(), pool_, 42, Time::ns(9), 80, 8920);
  Batch batch;
  ASSERT_EQ(wire.b().receive(Time::ns(9), batch), 1U);
  EXPECT_EQ(batch[0]->meta().id, 42U);
  EXPECT_EQ(batch[0]->length(), 80U);
  EXPECT_EQ(batch[0]->frame_length(), 9000U);
  EXPECT_EQ(batch[0]->meta().egress, kNoPort);
  batch.free_all();
  EXPECT_EQ(wire.a().counters().octets.value(), 9004U);
}

TEST_F(WireTest, KeepsAFullBatchForTheNextPoll) {
  Wire wire("w", 1, {.delay = Time()}, Wire::Threads::one, pool_);
  for (unsigned i = 0; i < 100; ++i) send(wire.a(), pool_, i, Time::ns(i));
  Batch batch;
  EXPECT_EQ(wire.b().receive(Time::us(1), batch), 64U);
  EXPECT_EQ(wire.b().receive(Time::us(1), batch), 0U) << "no room";
  batch.free_all();
  EXPECT_EQ(wire.b().receive(Time::us(1), batch), 36U);
  EXPECT_EQ(batch[0]->meta().id, 64U);
  batch.free_all();
}

TEST_F(WireTest, MtuLeavesRoomForTags) {
  Wire wire("w", 1, {.delay = Time(), .mtu = 200}, Wire::Threads::one, pool_);
  const auto passes = [&](std::vector<std::uint16_t> types, std::uint32_t present,
                          std::uint32_t elided) {
    std::vector<std::uint8_t> bytes(present);
    for (unsigned i = 0; i < types.size(); ++i) {
      bytes[12 + 4 * i] = static_cast<std::uint8_t>(types[i] >> 8);
      bytes[13 + 4 * i] = static_cast<std::uint8_t>(types[i]);
    }
    Packet* p = pool_.make(bytes);
    p->meta().elided = elided;
    Batch batch;
    batch.push(p);
    const std::uint64_t before = wire.a().drops(wire_mtu);
    EXPECT_EQ(wire.a().transmit(Time(), batch), 1U);
    receive(wire.b(), Time());
    return wire.a().drops(wire_mtu) == before;
  };
  EXPECT_TRUE(passes({0x0800}, 214, 0));
  EXPECT_FALSE(passes({0x0800}, 215, 0));
  EXPECT_FALSE(passes({0x0800}, 100, 115));
  EXPECT_TRUE(passes({0x8100, 0x0800}, 218, 0));
  EXPECT_FALSE(passes({0x8100, 0x0800}, 219, 0));
  EXPECT_TRUE(passes({0x88a8, 0x8100, 0x0800}, 222, 0));
  EXPECT_FALSE(passes({0x88a8, 0x8100, 0x0800}, 223, 0));
  EXPECT_EQ(wire.a().drop_info()[wire_mtu].name, "wire_mtu");
}

TEST_F(WireTest, DownLosesWhatIsInFlightBothWays) {
  Wire wire("w", 1, {.delay = Time::us(1)}, Wire::Threads::one, pool_);
  for (unsigned i = 0; i < 3; ++i) send(wire.a(), pool_, i, Time::ns(i));
  send(wire.b(), pool_, 9, Time());
  wire.set_carrier(Time::ns(500), false);
  EXPECT_FALSE(wire.a().up());
  EXPECT_FALSE(wire.b().up());
  EXPECT_EQ(wire.a().drops(wire_down), 3U);
  EXPECT_EQ(wire.b().drops(wire_down), 1U);
  EXPECT_EQ(pool_.in_use(), 0U);
  send(wire.a(), pool_, 4, Time::ns(600));
  EXPECT_EQ(wire.a().drops(wire_down), 4U);
  // Nobody polled meanwhile: what is sent now must still arrive.
  wire.set_carrier(Time::ns(700), true);
  send(wire.a(), pool_, 5, Time::ns(700));
  EXPECT_EQ(receive(wire.b(), Time::us(5)), (std::vector<Arrival>{{5, 1700}}));
}

TEST_F(WireTest, BoundedRingDropsByName) {
  Wire wire("w", 1, {.delay = Time(), .ring = 128}, Wire::Threads::two, pool_);
  for (unsigned i = 0; i < 150; ++i) send(wire.a(), pool_, i, Time());
  EXPECT_EQ(wire.a().drops(wire_full), 22U);
  EXPECT_EQ(receive(wire.b(), Time()).size(), 128U);
}

TEST_F(WireTest, AFlapIsSeenByAPollThatComesLate) {
  Wire wire("w", 1, {.delay = Time::us(1)}, Wire::Threads::two, pool_);
  send(wire.a(), pool_, 1, Time());
  wire.set_carrier(Time(), false);
  EXPECT_EQ(wire.a().drops(wire_down), 0U) << "it is the receiver's to free";
  wire.set_carrier(Time(), true);
  EXPECT_TRUE(receive(wire.b(), Time::ms(1)).empty());
  EXPECT_EQ(wire.a().drops(wire_down), 1U);
  send(wire.a(), pool_, 2, Time::ms(1));
  EXPECT_EQ(receive(wire.b(), Time::ms(2)).size(), 1U);
}

// Two threads; a third flaps the carrier and changes impairments. Each packet is delivered once or
// counted once.
TEST_F(WireTest, AccountsForEveryPacketAcrossThreads) {
  constexpr unsigned kPackets = 20'000;
  Wire wire("w", 1, {.delay = Time(), .ring = 256}, Wire::Threads::two, pool_);
  std::atomic<bool> sent = false;
  std::thread sender([&] {
    for (unsigned i = 0; i < kPackets;) {
      Batch batch;
      while (batch.size() < 16 && i < kPackets) {
        Packet* p = pool_.allocate();
        if (p == nullptr) break;
        rte_pktmbuf_append(p->mbuf(), 60);
        p->meta().id = ++i;
        p->meta().time = Time::ns(i);
        batch.push(p);
      }
      wire.a().transmit(Time::ns(i), batch);
      if (i % 64 == 0) std::this_thread::yield();
    }
    sent = true;
  });
  std::thread control([&] {
    for (unsigned i = 0; !sent; ++i) {
      wire.a().impair({.loss = Probability::ratio(i % 5, 50), .jitter = Time::ns(i % 3 * 100)});
      wire.set_carrier(Time(), i % 8 != 0);
      std::this_thread::yield();
    }
    wire.set_carrier(Time(), true);
  });
  std::uint64_t received = 0;
  const auto poll = [&] {
    Batch batch;
    while (wire.b().receive(Time::max(), batch) != 0) {
      received += batch.size();
      batch.free_all();
    }
  };
  while (!sent) {
    poll();
    std::this_thread::yield();
  }
  sender.join();
  control.join();
  poll();
  poll();
  std::uint64_t dropped = 0;
  for (unsigned i = 0; i < kWireDrops; ++i) dropped += wire.a().drops(i);
  EXPECT_EQ(received + dropped, kPackets);
  EXPECT_GT(received, 0U);
}

}  // namespace
}  // namespace frond::link
