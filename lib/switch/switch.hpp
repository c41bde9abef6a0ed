// SPDX-License-Identifier: BSD-3-Clause
// Switch: a device whose packets go through Pipeline, then wait in a queue for the line.
//
// A Pipeline is a class with
//   struct Config;  explicit Pipeline(const Config&);
//   static std::span<const StageDrop> drops();
//   void ingress(Context&, Batch&);            // who stays is rewritten and has meta().egress
//   Time timers(Context&);                     // runs what is due; when it next wants to run
//   void port_changed(Context&, std::uint16_t port, bool up);
//   void on_liveness(std::function<void(Context&, std::uint16_t port, bool up, Time detection)>);
//   std::uint64_t drop_count(std::uint16_t port, unsigned index) const;   // any thread
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "switch/switch_base.hpp"

namespace frond {

template <class Pipeline> class Switch final : public SwitchBase {
 public:
  Switch(std::string name, std::uint32_t id, std::uint64_t seed,
         const std::vector<PortConfig>& ports, const typename Pipeline::Config& config)
      : SwitchBase(std::move(name), id, seed, ports), pipeline_(config) {
    for (const StageDrop& drop : Pipeline::drops()) drop_list_.push_back(drop);
    for (const DropInfo& own : kOwnDropInfo) drop_list_.push_back({"queue", own});
    pipeline_.on_liveness([this](Context& ctx, std::uint16_t port, bool up, Time detection) {
      set_alive(ctx, port, up, detection);
    });
  }

  Time step(Context& ctx) override {
    prepare(ctx);
    inbox().run();
    look_at_carrier(ctx);
    const Time complete = receive(ctx);
    bool slow = process_arrivals(ctx, complete);
    if (slow || !out_.empty() || ctx.now >= timer_) {
      timer_ = pipeline_.timers(ctx);
      enqueue_own(ctx);
    }
    // With more to come at once, what is ready leaves together with what comes.
    const bool more = !arrivals_.empty() || ready().any();
    if (!more) transmit(ctx, ctx.now);
    current_ = nullptr;
    return more ? ctx.now : std::min(next_departure(), timer_);
  }

  Pipeline& pipeline() { return pipeline_; }
  const Pipeline& pipeline() const { return pipeline_; }
  // While stepped (an inbox message): the context of this step.
  Context& context() { return *current_; }
  // After a change of tables that may want a timer.
  void reconsider_timers() { timer_ = Time(); }

  std::span<const StageDrop> drop_list() const override { return drop_list_; }
  std::uint64_t drop_count(std::uint16_t port, unsigned index) const override {
    const auto own = static_cast<unsigned>(Pipeline::drops().size());
    return index < own ? pipeline_.drop_count(port, index) : own_drops(port, index - own);
  }

 private:
  // Packets closer than this are handled as one batch; between batches the lines catch up, so that
  // a late poll does not look like a burst.
  static constexpr Time kSlice = Time::us(2);
  static constexpr unsigned kBurst = 32;

  void prepare(Context& ctx) {
    ctx.device = id();
    ctx.out = &out_;
    ctx.capture = capture_;
    current_ = &ctx;
  }

  // In order of arrival, in batches. Returns whether any packet left the fast path.
  bool process_arrivals(Context& ctx, Time complete) {
    bool slow = false;
    std::size_t done = 0;
    while (done < arrivals_.size() && arrivals_[done]->meta().time <= complete) {
      const Time first = arrivals_[done]->meta().time;
      Batch batch;
      while (done < arrivals_.size() && batch.size() < kBurst &&
             arrivals_[done]->meta().time <= std::min(complete, first + kSlice)) {
        batch.push(arrivals_[done++]);
      }
      if (first > sent_until_) transmit(ctx, first);
      const unsigned n = batch.size();
      ctx.work += n;
      pipeline_.ingress(ctx, batch);
      slow |= batch.size() < n;
      enqueue(ctx, batch);
    }
    arrivals_.erase(arrivals_.begin(), arrivals_.begin() + static_cast<std::ptrdiff_t>(done));
    return slow;
  }

  void port_changed(Context& ctx, std::uint16_t port, bool up) override {
    pipeline_.port_changed(ctx, port, up);
    timer_ = ctx.now;
  }

  Pipeline pipeline_;
  std::vector<StageDrop> drop_list_;
  Time timer_;
  Context* current_ = nullptr;
};

}  // namespace frond
