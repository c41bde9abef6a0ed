// SPDX-License-Identifier: BSD-3-Clause
#include "features/ecmp/ecmp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/rng.hpp"
#include "features/parse/parse.hpp"
#include "wire/build.hpp"

namespace frond::ecmp {
namespace {

std::vector<Share> equal(std::size_t n) { return std::vector<Share>(n); }
std::vector<unsigned> counts(const std::vector<std::uint8_t>& buckets) {
  std::vector<unsigned> n(256);
  for (std::uint8_t b : buckets) ++n[b];
  return n;
}

TEST(Buckets, EqualMembersGetEqualShares) {
  for (std::size_t n : {1, 2, 3, 5, 8, 100, 128}) {
    const auto buckets = spread(equal(n));
    const auto c = counts(buckets);
    for (std::size_t m = 0; m < n; ++m) ASSERT_EQ(c[m], buckets.size() / n) << n;
  }
}

TEST(Buckets, WeightsAreShares) {
  std::vector<Share> members = {{.weight = 100}, {.weight = 300}, {.weight = 400}};
  const auto buckets = spread(members);
  const auto c = counts(buckets);
  EXPECT_EQ(c[0] * 3, c[1]);
  EXPECT_EQ(c[0] * 4, c[2]);
  // Huge and coprime: scaled, within a few per cent.
  members = {{.weight = 65535}, {.weight = 32771}, {.weight = 1}};
  const auto scaled = spread(members);
  EXPECT_NEAR(counts(scaled)[0], 2.0 * counts(scaled)[1],
              0.02 * static_cast<double>(scaled.size()));
  EXPECT_GE(counts(scaled)[2], 1U);
}

// Members die one after the other, in many orders; whoever is alive keeps what it has.
TEST(Buckets, OnlyTheDeadMembersMove) {
  Rng rng(11);
  for (int round = 0; round < 50; ++round) {
    std::vector<Share> members(2 + rng.below(15));
    for (Share& m : members) m.weight = static_cast<std::uint32_t>(1 + rng.below(3));
    const auto first = spread(members);
    auto before = first;
    while (std::any_of(members.begin(), members.end(), [](const Share& m) { return m.alive; })) {
      const std::size_t victim = rng.below(members.size());
      if (!members[victim].alive) continue;
      members[victim].alive = false;
      const auto after = spread(members);
      ASSERT_EQ(after.size(), before.size());
      for (std::size_t b = 0; b < after.size(); ++b) {
        if (before[b] != victim) {
          ASSERT_EQ(after[b], before[b]);
        }
        if (after[b] != kNobody) {
          ASSERT_TRUE(members[after[b]].alive);
        }
      }
      before = after;
    }
    for (std::uint8_t b : before) ASSERT_EQ(b, kNobody);
    // And back, in any order: a pure function of who is alive.
    for (Share& m : members) m.alive = true;
    ASSERT_EQ(spread(members), first);
  }
}

TEST(Buckets, ADeadMembersShareIsSpreadEvenly) {
  for (std::size_t n : {3, 4, 8, 16, 32}) {
    std::vector<Share> members = equal(n);
    members[1].alive = false;
    const auto buckets = spread(members);
    const double fair = static_cast<double>(buckets.size()) / static_cast<double>(n - 1);
    const auto c = counts(buckets);
    for (std::size_t m = 0; m < n; ++m) {
      if (m != 1) {
        ASSERT_NEAR(c[m], fair, 0.15 * fair + 1) << n << " " << m;
      }
    }
    members[2].alive = false;
    const auto two = counts(spread(members));
    const double fair2 = static_cast<double>(buckets.size()) / static_cast<double>(n - 2);
    for (std::size_t m = 0; m < n; ++m) {
      if (m != 1 && m != 2) {
        ASSERT_NEAR(two[m], fair2, 0.25 * fair2 + 1) << n << " " << m;
      }
    }
  }
}

class HashTest : public testing::Test {
 protected:
  HashTest() : pool_("hash", {.packets = 63, .cache = 0}) {}
  std::uint32_t hash(const wire::FrameSpec& spec, std::uint64_t seed = 1,
                     std::uint16_t ingress = 0) {
    PacketPtr p(pool_.make(wire::build(spec)));
    p->meta().ingress = ingress;
    NoWhy why;
    EXPECT_TRUE(parse::Parse().decide(*p, why).is_next());
    return flow_hash(*p, seed);
  }
  static wire::FrameSpec flow(unsigned i, bool v6 = false) {
    wire::FrameSpec f;
    if (v6) {
      f.src = *IpAddress::parse("fd00:0:0:1::1");
      f.dst = *IpAddress::parse("fd00:0:0:2::1");
    } else {
      f.src = Ip4{0x0a000101};
      f.dst = Ip4{0x0a000201};
    }
    f.src_port = static_cast<std::uint16_t>(10000 + i);
    f.dst_port = 4791;
    return f;
  }

  PacketPool pool_;
};

TEST_F(HashTest, EveryFieldCountsAndOnlyThose) {
  for (bool v6 : {false, true}) {
    const wire::FrameSpec base = flow(0, v6);
    const std::uint32_t h = hash(base);
    wire::FrameSpec other = base;
    other.src_port ^= 1;
    EXPECT_NE(hash(other), h);
    other = base;
    other.dst_port ^= 1;
    EXPECT_NE(hash(other), h);
    other = base;
    other.proto = wire::kProtoTcp;
    EXPECT_NE(hash(other), h);
    other = base;
    std::swap(other.src, other.dst);
    EXPECT_NE(hash(other), h);
    EXPECT_NE(hash(base, 2), h);
    other = base;
    other.ttl = 3;
    other.tos = 0x2e;
    other.id = 77;
    other.flow_label = 0x12345;
    other.zeros = 100;
    other.tags = {5};
    EXPECT_EQ(hash(other, 1, 9), h) << "TTL, DSCP, id, flow label, length, tag and ingress don't";
  }
}

TEST_F(HashTest, FragmentsStayTogether) {
  for (bool v6 : {false, true}) {
    wire::FrameSpec first = flow(1, v6);
    first.more_fragments = true;
    first.zeros = 40;
    wire::FrameSpec middle = first;
    middle.fragment_offset = 48;
    wire::FrameSpec last = middle;
    last.more_fragments = false;
    last.fragment_offset = 96;
    EXPECT_EQ(hash(first), hash(middle));
    EXPECT_EQ(hash(first), hash(last));
    wire::FrameSpec other_ports = first;
    other_ports.src_port = 1;
    EXPECT_EQ(hash(first), hash(other_ports));
  }
}

// 250 flows a path that differ only in the source port, over N paths, for 20 seeds.
TEST_F(HashTest, SpreadsEvenlyAtBothTiers) {
  for (bool v6 : {false, true}) {
    for (unsigned n : {2U, 4U, 8U}) {
      const auto buckets = spread(equal(n));
      const auto path = [&](std::uint32_t h) {
        return buckets[(std::uint64_t{h} * buckets.size()) >> 32];
      };
      for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        std::vector<unsigned> tier1(n), tier2(n), same(n);
        for (unsigned i = 0; i < 250 * n * n; ++i) {
          const wire::FrameSpec f = flow(i, v6);
          const auto first = path(hash(f, seed));
          if (i < 250 * n) ++tier1[first];
          // The second tier sees only what the first one sent to path 0.
          if (first != 0) continue;
          ++tier2[path(hash(f, hash_name("spine", seed)))];
          ++same[path(hash(f, seed))];
        }
        const double share = std::accumulate(tier2.begin(), tier2.end(), 0.0) / n;
        for (unsigned m = 0; m < n; ++m) {
          ASSERT_NEAR(tier1[m], 250, 62) << "v6 " << v6 << " n " << n << " seed " << seed;
          ASSERT_NEAR(tier2[m], share, share / 4) << "v6 " << v6 << " n " << n << " seed " << seed;
        }
        ASSERT_EQ(std::count(same.begin(), same.end(), 0U), n - 1) << "equal seeds polarise";
      }
    }
  }
}

}  // namespace
}  // namespace frond::ecmp
