// SPDX-License-Identifier: BSD-3-Clause
#include "sim/flow_meter.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace frond::sim {
namespace {

void feed(FlowMeter& meter, std::initializer_list<std::uint32_t> sequences) {
  for (std::uint32_t s : sequences) meter.add(s, 100, Time::ns(s), Time::ns(s + 50));
}

TEST(FlowMeter, InOrder) {
  FlowMeter m(7);
  feed(m, {0, 1, 2, 3});
  EXPECT_EQ(m.flow(), 7U);
  EXPECT_EQ(m.packets(), 4U);
  EXPECT_EQ(m.octets(), 400U);
  EXPECT_EQ(m.missing(), 0U);
  EXPECT_EQ(m.reordered(), 0U);
  EXPECT_EQ(m.duplicates(), 0U);
  EXPECT_EQ(m.first(), Time::ns(50));
  EXPECT_EQ(m.last(), Time::ns(53));
  EXPECT_EQ(m.latency().count(), 4U);
  EXPECT_EQ(m.latency().quantile(1, 1), 50U);
}

TEST(FlowMeter, LossReorderingAndDuplicatesAreToldApart) {
  FlowMeter m;
  feed(m, {0, 1, 4});  // 2 and 3 are missing
  EXPECT_EQ(m.missing(), 2U);
  feed(m, {3});
  EXPECT_EQ(m.missing(), 1U);
  EXPECT_EQ(m.reordered(), 1U);
  feed(m, {3, 4, 4, 0});
  EXPECT_EQ(m.duplicates(), 4U);
  EXPECT_EQ(m.distinct(), 4U);
  EXPECT_EQ(m.missing(), 1U);
  EXPECT_EQ(m.latency().count(), 4U);
}

TEST(FlowMeter, TheFirstMayBeLost) {
  FlowMeter m;
  feed(m, {5});
  EXPECT_EQ(m.missing(), 5U);
}

TEST(FlowMeter, TheWindowSlides) {
  FlowMeter m;
  for (std::uint32_t s = 0; s < 10'000; ++s) {
    if (s % 10 != 3) feed(m, {s});
  }
  EXPECT_EQ(m.missing(), 1000U);
  feed(m, {9993});
  EXPECT_EQ(m.reordered(), 1U);
  feed(m, {9993, 8992 /* seen, within 1024 */});
  EXPECT_EQ(m.duplicates(), 2U);
  feed(m, {20'000});  // far ahead: the whole window is new
  EXPECT_EQ(m.missing(), 999U + 10'000U);
  feed(m, {19'999, 18'977, 18'977});
  EXPECT_EQ(m.reordered(), 3U);
  EXPECT_EQ(m.duplicates(), 3U);
}

}  // namespace
}  // namespace frond::sim
