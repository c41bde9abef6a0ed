// SPDX-License-Identifier: BSD-3-Clause
#include "base/rng.hpp"

#include <gtest/gtest.h>

#include <array>

namespace frond {
namespace {

TEST(Rng, SameSeedAndNameDrawTheSame) {
  Rng a(7, "leaf1"), b(7, "leaf1"), c(7, "leaf2"), d(8, "leaf1");
  const std::uint64_t first = a.next();
  EXPECT_EQ(first, b.next());
  EXPECT_NE(first, c.next());
  EXPECT_NE(first, d.next());
}

// The values are part of every published trace hash: they may never change.
TEST(Rng, GoldenValues) {
  static_assert(mix64(1) == 0x5692161d100b05e5ULL);
  EXPECT_EQ(hash_name("leaf1"), hash_name("leaf1", 0));
  EXPECT_NE(hash_name("leaf1"), hash_name("leaf2"));
}

TEST(Rng, BelowIsUniform) {
  Rng rng(1);
  std::array<int, 10> seen{};
  for (int i = 0; i < 100'000; ++i) ++seen[rng.below(10)];
  for (int n : seen) EXPECT_NEAR(n, 10'000, 500);
}

TEST(Rng, ChanceMatchesItsProbability) {
  Rng rng(3);
  int hits = 0;
  for (int i = 0; i < 100'000; ++i) hits += rng.chance((std::uint64_t{1} << 32) / 100);
  EXPECT_NEAR(hits, 1'000, 150);
  EXPECT_FALSE(rng.chance(0));
  EXPECT_TRUE(rng.chance(std::uint64_t{1} << 32));
}

}  // namespace
}  // namespace frond
