// SPDX-License-Identifier: BSD-3-Clause
#include "base/histogram.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/rng.hpp"

namespace frond {
namespace {

TEST(Histogram, EmptyIsZero) {
  const Histogram h;
  EXPECT_EQ(h.count(), 0U);
  EXPECT_EQ(h.min(), 0U);
  EXPECT_EQ(h.max(), 0U);
  EXPECT_EQ(h.mean(), 0U);
  EXPECT_EQ(h.quantile(50, 100), 0U);
}

TEST(Histogram, SmallValuesAreExact) {
  Histogram h;
  for (std::uint64_t v = 1; v <= 100; ++v) h.add(v);
  EXPECT_EQ(h.quantile(0, 100), 1U);
  EXPECT_EQ(h.quantile(1, 100), 1U);
  EXPECT_EQ(h.quantile(50, 100), 50U);
  EXPECT_EQ(h.quantile(99, 100), 99U);
  EXPECT_EQ(h.quantile(999, 1000), 100U);
  EXPECT_EQ(h.quantile(100, 100), 100U);
  EXPECT_EQ(h.mean(), 50U);
}

// Each value lies in exactly one bucket, buckets join without gap, none is too wide.
TEST(Histogram, BucketsCoverAllValues) {
  Histogram h;
  std::vector<std::uint64_t> values = {0, 63, 64, 127, 128, 129, 255, 256, ~std::uint64_t{0}};
  for (unsigned bit = 8; bit < 64; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    for (std::uint64_t v : {power - 1, power, power + power / 64 - 1, power + power / 64}) {
      values.push_back(v);
    }
  }
  for (std::uint64_t v : values) {
    Histogram one;
    one.add(v);
    unsigned buckets = 0;
    one.for_each_bucket([&](std::uint64_t low, std::uint64_t high, std::uint64_t n) {
      ++buckets;
      EXPECT_EQ(n, 1U);
      EXPECT_LE(low, v);
      EXPECT_GE(high, v);
      EXPECT_LE(high - low, low / 64) << v;
    });
    EXPECT_EQ(buckets, 1U);
    EXPECT_EQ(one.quantile(50, 100), v) << "clipped to the largest sample";
    h.add(v);
  }
  std::uint64_t last = 0;
  h.for_each_bucket([&](std::uint64_t low, std::uint64_t high, std::uint64_t) {
    EXPECT_TRUE(low == 0 || low > last);
    last = high;
  });
  EXPECT_EQ(last, ~std::uint64_t{0});
}

TEST(Histogram, QuantilesAreWithinABucket) {
  Histogram h;
  for (std::uint64_t v = 1; v <= 1'000'000; ++v) h.add(v);
  for (std::uint64_t percent : {1U, 10U, 50U, 90U, 99U}) {
    const std::uint64_t exact = percent * 10'000;
    EXPECT_GE(h.quantile(percent, 100), exact);
    EXPECT_LE(h.quantile(percent, 100), exact + exact / 64 + 1);
  }
  EXPECT_EQ(h.quantile(1, 1), 1'000'000U);
}

TEST(Histogram, MergeIsAsIfAddedToOne) {
  Histogram all, odd, even;
  Rng rng(5);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t v = rng.next() >> (rng.below(64));
    all.add(v);
    (i % 2 != 0 ? odd : even).add(v);
  }
  EXPECT_FALSE(odd == all);
  odd.merge(even);
  EXPECT_TRUE(odd == all);
  Histogram empty;
  empty.merge(all);
  EXPECT_TRUE(empty == all);
  all.clear();
  EXPECT_EQ(all.count(), 0U);
  EXPECT_EQ(all.max(), 0U);
}

}  // namespace
}  // namespace frond
