// SPDX-License-Identifier: BSD-3-Clause
#include "pipelines/golden.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "pipelines/leaf.hpp"
#include "pipelines/spine.hpp"

namespace frond::pipelines {
namespace {

struct Sentences {
  static constexpr bool kOn = true;
  std::string text;
  template <class... Args> void operator()(fmt::format_string<Args...> format, Args&&... args) {
    text += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }
};

template <class P> class GoldenTest : public testing::Test {
 protected:
  GoldenTest() : pool_("golden", {.packets = 1023, .cache = 0}), pipeline_(config()) {
    golden::set_up(pipeline_.router());
    for (std::uint16_t p = 0; p < golden::kPorts; ++p) {
      Context ctx = context();
      pipeline_.port_changed(ctx, p, true);
    }
    release();
  }
  ~GoldenTest() override { release(); }

  static AgentConfig config() {
    AgentConfig c;
    c.ports = golden::kPorts;
    c.seed = 7;
    return c;
  }
  Context context() { return {.now = Time::s(1), .rng = rng_, .pool = pool_, .out = &out_}; }
  void release() {
    for (Packet* p : out_) p->free();
    out_.clear();
  }
  Packet* packet(const golden::Case& c) {
    Packet* p = pool_.make(c.in);
    p->meta().ingress = c.ingress;
    return p;
  }
  static golden::Frame bytes(const Packet& p) {
    golden::Frame all;
    for (const rte_mbuf* m = p.mbuf(); m != nullptr; m = m->next) {
      const auto* data = rte_pktmbuf_mtod(m, const std::uint8_t*);
      all.insert(all.end(), data, data + m->data_len);
    }
    return all;
  }
  std::map<std::string_view, std::uint64_t> drops(std::uint16_t port) {
    std::map<std::string_view, std::uint64_t> all;
    for (unsigned i = 0; i < P::drops().size(); ++i) {
      if (const auto n = pipeline_.drop_count(port, i)) all[P::drops()[i].info.name] += n;
    }
    return all;
  }
  static std::string name(const Verdict& v, std::string_view stage) {
    if (v.is_next()) return "next";
    if (v.is_punt()) return "punt " + std::to_string(v.punt_code());
    unsigned index = v.drop_index();
    for (const StageDrop& d : P::drops()) {
      if (d.stage == stage && index-- == 0) return std::string(d.info.name);
    }
    return "?";
  }

  PacketPool pool_;
  Rng rng_;
  std::vector<Packet*> out_;
  P pipeline_;
};

using Pipelines = testing::Types<Leaf, Spine>;
TYPED_TEST_SUITE(GoldenTest, Pipelines);

TYPED_TEST(GoldenTest, Table) {
  for (const golden::Case& c : golden::cases()) {
    SCOPED_TRACE(std::string(c.description));
    const std::string expected = c.egress != kNoPort ? "next"
                                 : c.punt != kNoPunt ? "punt " + std::to_string(c.punt)
                                                     : std::string(c.drop);
    // What a trace says,
    PacketPtr clone(this->packet(c));
    Sentences why;
    const auto [verdict, stage] = this->pipeline_.explain(*clone, why);
    EXPECT_EQ(this->name(verdict, stage), expected) << why.text;
    // is what happens.
    const auto before = this->drops(c.ingress);
    Batch batch;
    batch.push(this->packet(c));
    Context ctx = this->context();
    this->pipeline_.ingress(ctx, batch);
    auto after = this->drops(c.ingress);
    for (const auto& [drop, n] : before) {
      if ((after[drop] -= n) == 0) after.erase(drop);
    }
    if (c.egress != kNoPort) {
      ASSERT_EQ(batch.size(), 1U);
      EXPECT_EQ(batch[0]->meta().egress, c.egress);
      EXPECT_EQ(this->bytes(*batch[0]), c.out);
      EXPECT_EQ(this->bytes(*clone), c.out);
      EXPECT_TRUE(after.empty());
    } else {
      EXPECT_TRUE(batch.empty());
    }
    if (!c.drop.empty()) {
      EXPECT_EQ(after, (std::map<std::string_view, std::uint64_t>{{c.drop, 1}}));
    }
    batch.free_all();
    this->release();
  }
}

TYPED_TEST(GoldenTest, EveryStageDropIsInTheTable) {
  std::set<std::string_view> seen, declared;
  for (const golden::Case& c : golden::cases()) seen.insert(c.drop);
  for (const StageDrop& d :
       std::remove_reference_t<decltype(this->pipeline_.stages())>::drop_list()) {
    declared.insert(d.info.name);
    EXPECT_TRUE(seen.contains(d.info.name)) << d.info.name;
  }
  std::set<std::string_view> all;
  for (const StageDrop& d : TypeParam::drops()) {
    EXPECT_TRUE(all.insert(d.info.name).second) << d.info.name << " is declared twice";
    EXPECT_FALSE(d.info.help.empty());
  }
}

TYPED_TEST(GoldenTest, WhatIsDroppedIsAnswered) {
  const auto answered = [&](const wire::FrameSpec& f) {
    Batch batch;
    batch.push(this->packet({.in = wire::build(f)}));
    Context ctx = this->context();
    this->pipeline_.ingress(ctx, batch);
    const std::size_t n = this->out_.size();
    if (n == 1) {
      EXPECT_EQ(this->out_[0]->meta().egress, 0);
    }
    this->release();
    return n == 1;
  };
  using golden::with;
  using F = wire::FrameSpec;
  EXPECT_TRUE(answered(with([](F& f) { f.ttl = 1; })));
  EXPECT_TRUE(answered(with([](F& f) { f.ttl = 1; }, true)));
  EXPECT_TRUE(answered(with([](F& f) { f.dst = golden::ip("192.0.2.1"); })));
  EXPECT_FALSE(answered(with([](F& f) { f.dst = golden::ip("10.0.3.1"); }))) << "a blackhole";
}

TYPED_TEST(GoldenTest, NothingLeaks) {
  const unsigned before = this->pool_.in_use();
  {
    TypeParam pipeline(this->config());
    golden::set_up(pipeline.router());
    Context ctx = this->context();
    for (std::uint16_t p = 0; p < golden::kPorts; ++p) pipeline.port_changed(ctx, p, true);
    for (const golden::Case& c : golden::cases()) {
      Batch batch;
      batch.push(this->packet(c));
      pipeline.ingress(ctx, batch);
      batch.free_all();
    }
    this->release();
  }
  EXPECT_EQ(this->pool_.in_use(), before);
}

TYPED_TEST(GoldenTest, RoutesArriveInSteps) {
  std::vector<l3::RouteChange> changes;
  for (std::uint32_t i = 0; i < 600; ++i) {
    changes.push_back({{Ip4{0x14000000 | i << 8}, 24}, l3::RouteTarget::to({0})});
  }
  this->pipeline_.router().queue_routes(changes);
  Context ctx = this->context();
  EXPECT_EQ(this->pipeline_.timers(ctx), ctx.now) << "more to do";
  EXPECT_EQ(this->pipeline_.timers(ctx), ctx.now);
  EXPECT_GT(this->pipeline_.timers(ctx), ctx.now);
  this->release();
}

}  // namespace
}  // namespace frond::pipelines
