// SPDX-License-Identifier: BSD-3-Clause
// Sanitizer builds only: each planted fault must end the program with a report.
#include "packet/poison.hpp"

#include <gtest/gtest.h>

#include <climits>
#include <vector>

#include "packet/pool.hpp"
#include "tests/support/exact_packet.hpp"

namespace frond {
namespace {

class PoisonTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
  // Each byte is read as the program would, past the optimiser.
  static unsigned read(const void* at) { return *static_cast<const volatile std::uint8_t*>(at); }

  PacketPool pool_{"poison", {.packets = 15, .data_room = 512}};
  std::vector<std::uint8_t> bytes_ = std::vector<std::uint8_t>(61, 7);
};

TEST_F(PoisonTest, SealedPacketsAreReadableAndNoMore) {
  PacketPtr p(pool_.make(bytes_));
  poison::seal(*p);
  for (unsigned i = 0; i < 61; ++i) EXPECT_EQ(read(p->data() + i), 7U);
  EXPECT_DEATH(read(p->data() + 61), "use-after-poison") << "one byte too far";
  EXPECT_DEATH(read(p->data() - 1), "use-after-poison") << "headroom";
  poison::open(*p);
  read(p->data() + 61);
  read(p->data() - 1);
}

TEST_F(PoisonTest, EverySegmentIsSealed) {
  PacketPtr p(pool_.make(std::vector<std::uint8_t>(1000, 1)));
  ASSERT_GT(p->mbuf()->nb_segs, 1);
  poison::seal(*p);
  rte_mbuf* last = rte_pktmbuf_lastseg(p->mbuf());
  EXPECT_EQ(read(rte_pktmbuf_mtod_offset(last, char*, last->data_len - 1)), 1U);
  EXPECT_DEATH(read(rte_pktmbuf_mtod_offset(last, char*, last->data_len)), "use-after-poison");
}

TEST_F(PoisonTest, AFreedPacketIsGone) {
  Packet* p = pool_.make(bytes_);
  p->free();
  EXPECT_DEATH(read(p->data()), "use-after-poison");
  EXPECT_DEATH(read(&p->meta()), "use-after-poison");
  EXPECT_DEATH(p->free(), "use-after-poison") << "freed twice";
  PacketPtr again(pool_.make(bytes_));
  EXPECT_EQ(read(again->data()), 7U);
}

TEST_F(PoisonTest, WhatADriverFreesIsGoneToo) {
  PacketPtr p(pool_.make(bytes_));
  rte_mbuf* one = p.release()->mbuf();
  rte_mempool_put_bulk(pool_.raw(), reinterpret_cast<void**>(&one), 1);
  EXPECT_DEATH(read(Packet::from(one)->mbuf()), "use-after-poison");
}

TEST_F(PoisonTest, ExactPacketsEndWhereTheirBytesEnd) {
  ExactPacket p(bytes_);
  EXPECT_EQ(read(p->data() + 60), 7U);
  EXPECT_DEATH(read(p->data() + 61), "heap-buffer-overflow");
}

TEST_F(PoisonTest, UndefinedBehaviourEndsTheProgram) {
  volatile int most = INT_MAX;
  EXPECT_DEATH(
      {
        const int more = most + 1;
        read(&more);
      },
      "signed integer overflow");
}

}  // namespace
}  // namespace frond
