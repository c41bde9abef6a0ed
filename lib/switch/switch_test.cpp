// SPDX-License-Identifier: BSD-3-Clause
#include "switch/switch.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace frond {
namespace {

// A pipeline that sends a packet to the port named by its first byte; 0xff is refused.
class ByFirstByte {
 public:
  struct Config {};
  explicit ByFirstByte(const Config&) {}
  static std::span<const StageDrop> drops() {
    static constexpr StageDrop kDrops[] = {{"test", {"test_refused", "first byte is 0xfe"}}};
    return kDrops;
  }
  void ingress(Context& ctx, Batch& batch) {
    std::uint64_t stay = 0;
    for (unsigned i = 0; i < batch.size(); ++i) {
      Packet& p = *batch[i];
      if (p.data()[0] == 0xfe) {
        ++refused;
        ctx.dropped(p, "test_refused");
        p.free();
        continue;
      }
      p.meta().egress = p.data()[0] / 2;  // even bytes: no group address
      stay |= std::uint64_t{1} << i;
    }
    batch.keep(stay);
  }
  Time timers(Context& ctx) {
    if (reply != nullptr) ctx.send(std::exchange(reply, nullptr), 1);
    return Time::max();
  }
  void port_changed(Context&, std::uint16_t port, bool up) { changes.emplace_back(port, up); }
  void on_liveness(std::function<void(Context&, std::uint16_t, bool, Time)> f) { liveness = f; }
  std::uint64_t drop_count(std::uint16_t, unsigned) const { return refused; }

  std::uint64_t refused = 0;
  Packet* reply = nullptr;
  std::vector<std::pair<unsigned, bool>> changes;
  std::function<void(Context&, std::uint16_t, bool, Time)> liveness;
};

// A port whose far end is the test.
class TestPort : public Port {
 public:
  ~TestPort() override {
    for (Packet* p : in) p->free();
    for (Packet* p : out) p->free();
  }
  unsigned receive(Time now, Batch& batch) override {
    unsigned n = 0;
    while (!in.empty() && batch.room() > 0 && in.front()->meta().time <= now) {
      batch.push(in.front());
      in.pop_front();
      ++n;
    }
    return n;
  }
  unsigned transmit(Time, Batch& batch) override {
    const unsigned n = std::min(batch.size(), room);
    out.insert(out.end(), batch.begin(), batch.begin() + n);
    batch.drop_front(n);
    return n;
  }
  bool up() const override { return carrier; }

  std::deque<Packet*> in;
  std::vector<Packet*> out;
  unsigned room = 1000;
  bool carrier = true;
};

class SwitchTest : public testing::Test {
 protected:
  static constexpr unsigned kPorts = 3;

  SwitchTest() : pool_("switch", {.packets = 1023, .cache = 0}) { make({}); }
  ~SwitchTest() override {
    device_.reset();
    for (auto& port : ports_) port = TestPort();
  }

  void make(SwitchBase::PortConfig config) {
    std::vector<SwitchBase::PortConfig> configs(kPorts, config);
    device_ = std::make_unique<Switch<ByFirstByte>>("s", 0, 1, configs, ByFirstByte::Config{});
    for (unsigned p = 0; p < kPorts; ++p)
      device_->attach(static_cast<std::uint16_t>(p), &ports_[p]);
    step(Time());
  }
  Time step(Time now) {
    device_->ready().set_all();
    Context ctx{now, rng_, pool_, &hops_};
    return device_->step(ctx);
  }
  void arrive(unsigned port, Time at, unsigned to, std::size_t bytes = 1000) {
    std::vector<std::uint8_t> frame(bytes, static_cast<std::uint8_t>(to * 2));
    Packet* p = pool_.make(frame);
    p->meta().time = at;
    p->meta().id = ++id_;
    ports_[port].in.push_back(p);
  }
  std::vector<std::uint64_t> ids(unsigned port) {
    std::vector<std::uint64_t> all;
    for (Packet* p : ports_[port].out) all.push_back(p->meta().id);
    return all;
  }
  std::uint64_t own_drop(unsigned port, SwitchBase::OwnDrop drop) {
    return device_->drop_count(static_cast<std::uint16_t>(port), 1U + drop);
  }

  PacketPool pool_;
  Rng rng_;
  HopTrace hops_;
  std::uint64_t id_ = 0;
  TestPort ports_[kPorts];
  std::unique_ptr<Switch<ByFirstByte>> device_;
};

TEST_F(SwitchTest, SerialisesAtTheLineRate) {
  make({.rate = Rate::gbps(8)});  // a byte a nanosecond
  arrive(0, Time::ns(100), 1, 976);
  arrive(0, Time::ns(100), 1, 976);
  EXPECT_EQ(step(Time::ns(100)), Time::ns(1100)) << "the line is free again then";
  ASSERT_EQ(ports_[1].out.size(), 1U);
  EXPECT_EQ(ports_[1].out[0]->meta().time, Time::ns(1100));
  EXPECT_EQ(step(Time::ns(1100)), Time::max());
  ASSERT_EQ(ports_[1].out.size(), 2U);
  EXPECT_EQ(ports_[1].out[1]->meta().time, Time::ns(2100));
  EXPECT_EQ(device_->counters(1).out_octets.value(), 2U * 980);
  EXPECT_EQ(hops_.hops(), 2U);
}

TEST_F(SwitchTest, ALatePollKeepsTheIdealTimelineAndOrder) {
  make({.rate = Rate::gbps(8)});
  // Two ports, interleaved arrivals, seen only after all of them.
  for (int i = 0; i < 10; ++i) {
    arrive(0, Time::us(10 * i), 2, 976);
    arrive(1, Time::us(10 * i + 5), 2, 976);
  }
  step(Time::us(200));
  ASSERT_EQ(ports_[2].out.size(), 20U);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(ports_[2].out[i]->meta().time, Time::us(5 * i + 1)) << i;
  EXPECT_EQ(ids(2)[1], 2U);
}

TEST_F(SwitchTest, MoreThanABatchStaysInOrder) {
  make({.rate = Rate::gbps(100)});
  for (int i = 0; i < 200; ++i) arrive(0, Time::us(i), 2, 100);
  arrive(1, Time::us(150), 2, 100);
  for (int i = 0; i < 8 && step(Time::us(300)) == Time::us(300); ++i) {
  }
  ASSERT_EQ(ports_[2].out.size(), 201U);
  for (unsigned i = 1; i < 201; ++i) {
    EXPECT_LT(ports_[2].out[i - 1]->meta().time, ports_[2].out[i]->meta().time) << i;
  }
}

TEST_F(SwitchTest, TailDropIsNamedAndCounted) {
  make({.rate = Rate::mbps(1), .queue = Bytes(2500)});
  for (int i = 0; i < 5; ++i) arrive(0, Time(), 1);
  step(Time());
  EXPECT_EQ(own_drop(1, SwitchBase::queue_tail_drop), 3U);
  EXPECT_EQ(device_->queue_bytes(1), 1000U);
  EXPECT_EQ(device_->drop_list()[1].info.name, "queue_tail_drop");
}

TEST_F(SwitchTest, WhatThePortRefusesIsCounted) {
  ports_[1].room = 0;
  arrive(0, Time(), 1);
  step(Time());
  EXPECT_EQ(own_drop(1, SwitchBase::port_tx_full), 1U);
}

TEST_F(SwitchTest, PipelineDropsKeepTheirIndex) {
  arrive(0, Time(), 0x7f);
  step(Time());
  EXPECT_EQ(device_->drop_count(0, 0), 1U);
}

TEST_F(SwitchTest, CarrierLossEmptiesTheQueueAndTells) {
  make({.rate = Rate::mbps(1)});
  std::vector<PortEvent> events;
  device_->on_port_event([&](const PortEvent& e) { events.push_back(e); });
  for (int i = 0; i < 3; ++i) arrive(0, Time(), 1);
  step(Time());
  EXPECT_EQ(device_->queue_bytes(1), 2000U);
  ports_[1].carrier = false;
  step(Time::us(1));
  EXPECT_EQ(device_->queue_bytes(1), 0U);
  EXPECT_EQ(own_drop(1, SwitchBase::port_down), 2U);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].mechanism, "carrier");
  EXPECT_FALSE(device_->oper_up(1));
  arrive(0, Time::us(2), 1);
  step(Time::us(2));
  EXPECT_EQ(own_drop(1, SwitchBase::port_down), 3U);
  ports_[1].carrier = true;
  step(Time::us(3));
  EXPECT_TRUE(device_->oper_up(1));
  EXPECT_EQ(device_->pipeline().changes.back(), (std::pair<unsigned, bool>{1, true}));
}

TEST_F(SwitchTest, AnAdminDownPortNeitherTakesNorGives) {
  device_->inbox().post([&] { device_->set_admin_up(device_->context(), 0, false); });
  arrive(0, Time(), 1);
  step(Time());
  EXPECT_TRUE(ports_[1].out.empty());
  EXPECT_EQ(own_drop(0, SwitchBase::port_down), 1U);
}

TEST_F(SwitchTest, ADeadNeighbourStopsTrafficButNotTheProbes) {
  Context ctx{Time(), rng_, pool_};
  device_->pipeline().liveness(ctx, 1, false, Time::ms(30));
  EXPECT_FALSE(device_->oper_up(1));
  arrive(0, Time(), 1);
  device_->pipeline().reply = pool_.make(std::vector<std::uint8_t>(60));
  step(Time());
  ASSERT_EQ(ports_[1].out.size(), 1U);
  EXPECT_TRUE(ports_[1].out[0]->meta().flags & PacketMeta::kControl);
  EXPECT_EQ(own_drop(1, SwitchBase::port_down), 1U);
}

TEST_F(SwitchTest, NothingLeaks) {
  make({.rate = Rate::mbps(1)});
  for (int i = 0; i < 50; ++i) arrive(i % 3, Time::us(i), 1);
  step(Time::us(20));
  device_.reset();
  for (auto& port : ports_) {
    for (Packet* p : port.in) p->free();
    for (Packet* p : port.out) p->free();
    port.in.clear();
    port.out.clear();
  }
  EXPECT_EQ(pool_.in_use(), 0U);
}

}  // namespace
}  // namespace frond
