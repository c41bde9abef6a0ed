// SPDX-License-Identifier: BSD-3-Clause
#include "engine/capture_ring.hpp"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "packet/pool.hpp"

namespace frond {
namespace {

TEST(CaptureRing, SnapsChainsAndLosesWhenFull) {
  PacketPool pool("capture", {.packets = 31, .data_room = 256, .cache = 0});
  std::vector<std::uint8_t> bytes(600);
  for (unsigned i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  PacketPtr packet(pool.make(bytes));
  packet->meta().elided = 1000;
  CaptureRing ring(4, 500);
  for (int i = 0; i < 6; ++i) {
    ring.frame(Time::us(i), 3, CaptureSink::Direction::drop, *packet, "l3_no_route");
  }
  EXPECT_EQ(ring.lost(), 2U);
  int i = 0;
  EXPECT_EQ(ring.drain([&](const CaptureRing::Frame& f) {
    EXPECT_EQ(f.time, Time::us(i++));
    EXPECT_EQ(f.comment, "l3_no_route");
    EXPECT_EQ(f.frame_length, 1600U);
    EXPECT_TRUE(std::equal(f.bytes.begin(), f.bytes.end(), bytes.begin()));
    EXPECT_EQ(f.bytes.size(), 500U);
  }),
            4U);
  EXPECT_EQ(ring.drain([](const auto&) {}), 0U);
}

TEST(CaptureRing, TwoThreads) {
  PacketPool pool("capture2", {.packets = 31, .data_room = 256, .cache = 0});
  PacketPtr packet(pool.make(std::vector<std::uint8_t>(64)));
  CaptureRing ring(64, 64);
  constexpr unsigned kFrames = 100'000;
  std::thread producer([&] {
    for (unsigned i = 0; i < kFrames; ++i) {
      packet->data()[0] = static_cast<std::uint8_t>(i);
      ring.frame(Time::ns(i), 0, CaptureSink::Direction::in, *packet, "");
    }
  });
  std::int64_t last = -1;
  unsigned seen = 0;
  while (seen + ring.lost() < kFrames) {
    seen += ring.drain([&](const CaptureRing::Frame& f) {
      EXPECT_GT(f.time.ns(), last);
      last = f.time.ns();
      EXPECT_EQ(f.bytes[0], static_cast<std::uint8_t>(last));
    });
  }
  producer.join();
  EXPECT_EQ(seen + ring.lost(), kFrames);
}

}  // namespace
}  // namespace frond
