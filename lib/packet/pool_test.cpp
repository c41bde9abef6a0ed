// SPDX-License-Identifier: BSD-3-Clause
#include "packet/pool.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "base/result.hpp"

namespace frond {
namespace {

std::vector<std::uint8_t> flatten(const Packet& p) {
  std::vector<std::uint8_t> bytes;
  for (const rte_mbuf* m = p.mbuf(); m != nullptr; m = m->next) {
    const auto* data = rte_pktmbuf_mtod(m, const std::uint8_t*);
    bytes.insert(bytes.end(), data, data + m->data_len);
  }
  return bytes;
}

TEST(PacketPool, MakesAndClonesOverSegments) {
  PacketPool pool("t1", {.packets = 63, .data_room = 256, .cache = 0});
  std::vector<std::uint8_t> bytes(1000);
  std::iota(bytes.begin(), bytes.end(), 0);
  PacketPtr p(pool.make(bytes));
  ASSERT_TRUE(p);
  EXPECT_EQ(p->length(), 1000U);
  EXPECT_GT(p->mbuf()->nb_segs, 1);
  EXPECT_EQ(flatten(*p), bytes);
  p->meta().egress = 9;
  p->meta().elided = 50;
  PacketPtr copy(pool.clone(*p));
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->meta().egress, 9);
  EXPECT_EQ(copy->frame_length(), 1050U);
  copy->data()[0] = 0xff;
  EXPECT_EQ(p->data()[0], 0) << "a clone has a header of its own";
  EXPECT_EQ(rte_mbuf_check(copy->mbuf(), 1, nullptr), 0);
}

TEST(PacketPool, EmptyPoolGivesNullAndLeaksNothing) {
  PacketPool pool("t2", {.packets = 7, .data_room = 128, .cache = 0});
  std::vector<std::uint8_t> big(128 * 20);
  EXPECT_EQ(pool.make(big), nullptr);
  EXPECT_EQ(pool.in_use(), 0U);
  std::vector<PacketPtr> all;
  while (Packet* p = pool.allocate()) all.emplace_back(p);
  EXPECT_EQ(all.size(), 7U);
  EXPECT_EQ(pool.clone(*all[0]), nullptr);
  all.clear();
  EXPECT_EQ(pool.in_use(), 0U);
}

TEST(PacketPool, TooLargeIsASentence) {
  EXPECT_THROW(PacketPool("t3", {.packets = 100'000'000}), StartError);
}

}  // namespace
}  // namespace frond
