// SPDX-License-Identifier: BSD-3-Clause
#include "link/impaired_port.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "packet/pool.hpp"

namespace frond::link {
namespace {

class Loop final : public Port {
 public:
  ~Loop() override {
    for (Packet* p : packets) p->free();
  }
  unsigned receive(Time now, Batch& batch) override {
    unsigned n = 0;
    for (; !packets.empty() && batch.room() > 0; ++n) {
      packets.front()->meta().time = now;
      batch.push(packets.front());
      packets.pop_front();
    }
    return n;
  }
  unsigned transmit(Time, Batch& batch) override {
    const unsigned n = batch.size();
    packets.insert(packets.end(), batch.begin(), batch.end());
    batch.clear();
    return n;
  }
  bool up() const override { return true; }
  std::deque<Packet*> packets;
};

class ImpairedPortTest : public testing::Test {
 protected:
  ImpairedPortTest() {
    auto inner = std::make_unique<Loop>();
    loop_ = inner.get();
    port_ = std::make_unique<ImpairedPort>("t", 1, std::move(inner), pool_);
  }
  void send(Time now, unsigned n = 1) {
    Batch batch;
    for (unsigned i = 0; i < n; ++i) {
      batch.push(pool_.make(std::vector<std::uint8_t>(100)));
      batch[i]->meta().time = now;
    }
    EXPECT_EQ(port_->transmit(now, batch), n);
    EXPECT_TRUE(batch.empty());
  }
  unsigned receive(Time now) {
    Batch batch;
    const unsigned n = port_->receive(now, batch);
    batch.free_all();
    return n;
  }

  PacketPool pool_{"impaired", {.packets = 255, .cache = 0}};
  Loop* loop_ = nullptr;
  std::unique_ptr<ImpairedPort> port_;
};

TEST_F(ImpairedPortTest, PassesThroughUntilImpairedAndAgainAfter) {
  send(Time::us(1));
  EXPECT_EQ(receive(Time::us(1)), 1U);
  port_->impair_out({.delay = Time::ms(1)});
  send(Time::us(2));
  EXPECT_EQ(receive(Time::us(900)), 0U);
  port_->impair_out({});
  send(Time::us(901));  // does not overtake what is still delayed... its own delay is none
  EXPECT_EQ(receive(Time::us(1002)), 2U);
  send(Time::us(1003));
  EXPECT_EQ(loop_->packets.size(), 1U) << "straight through again";
}

TEST_F(ImpairedPortTest, LosesAndCounts) {
  port_->impair_in({.blackhole = true});
  send(Time::us(1), 5);
  EXPECT_EQ(receive(Time::us(2)), 0U);
  EXPECT_EQ(port_->drops(wire_blackhole), 5U);
  EXPECT_EQ(port_->drop_info()[wire_blackhole].name, "wire_blackhole");
}

TEST_F(ImpairedPortTest, NothingLeaksWithPacketsUnderWay) {
  port_->impair_out({.delay = Time::s(1)});
  send(Time::us(1), 7);
  port_.reset();
  EXPECT_EQ(pool_.in_use(), 0U);
}

// A byte a nanosecond: 100 bytes and 24 of overhead take 124 ns, one after the other.
TEST_F(ImpairedPortTest, WhatComesInTakesItsTime) {
  port_->set_in_rate(Rate::gbps(8));
  send(Time::us(1), 5);
  EXPECT_EQ(receive(Time::us(1)), 0U);
  EXPECT_EQ(receive(Time::us(1) + Time::ns(124 * 2)), 2U);
  send(Time::us(1) + Time::ns(300), 1);
  EXPECT_EQ(receive(Time::us(1) + Time::ns(124 * 5)), 3U);
  EXPECT_EQ(receive(Time::us(1) + Time::ns(124 * 6 - 1)), 0U);
  EXPECT_EQ(receive(Time::us(1) + Time::ns(124 * 6)), 1U);
}

}  // namespace
}  // namespace frond::link
