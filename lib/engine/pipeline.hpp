// SPDX-License-Identifier: BSD-3-Clause
// Pipeline: a compile-time list of stages. A stage has
//
//   static constexpr std::string_view kName;
//   static constexpr std::array<DropInfo, N> kDrops;           // its drops, in enum order
//   template <class Why> Verdict decide(Packet&, Why&) const;  // reads tables; writes only this
//                                                              // packet, its headers and metadata
// and, where it needs them,
//   bool enabled() const;                // false: costs one test a batch
//   void apply(Context&, Batch&);        // learning, charging, chance: what decide must not do
//
// decide() is all that `frond trace` calls, on a clone, so it cannot disagree with the data path.
// Why is NoWhy in the data path and costs nothing; a tracer passes one that writes sentences.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/context.hpp"
#include "engine/hop_trace.hpp"
#include "engine/verdict.hpp"
#include "packet/batch.hpp"
#include "telemetry/counter.hpp"

namespace frond {

// if constexpr (Why::kOn) why("fmt", args...) in a stage explains a decision.
struct NoWhy {
  static constexpr bool kOn = false;
  template <class... Args> void operator()(Args&&...) {}
};

template <class Stage>
concept HasEnabled = requires(const Stage& s) {
  { s.enabled() } -> std::same_as<bool>;
};
template <class Stage>
concept HasApply = requires(Stage& s, Context& c, Batch& b) {
  s.apply(c, b);
};

// One drop of a pipeline: which stage, which reason.
struct StageDrop {
  std::string_view stage;
  DropInfo info;
};

template <class... Stages> class Pipeline {
 public:
  static constexpr unsigned kStages = sizeof...(Stages);
  static constexpr unsigned kDropCount = (0 + ... + static_cast<unsigned>(Stages::kDrops.size()));

  explicit Pipeline(Stages... stages) : stages_(std::move(stages)...) {}

  template <unsigned I> auto& stage() { return std::get<I>(stages_); }
  template <class Stage> Stage& get() { return std::get<Stage>(stages_); }
  template <class Stage> const Stage& get() const { return std::get<Stage>(stages_); }

  // Runs the batch through all stages, in order. Those that go on stay in it. `slow` is told of
  // the rest: slow.punt(ctx, packet, code) owns the packet; slow.drop(ctx, packet, flat_index)
  // counts, and frees it or answers.
  template <class Slow> void process(Context& ctx, Batch& batch, Slow& slow) {
    process_from<0>(ctx, batch, slow);
  }

  // The same decisions, on one packet, explained. Returns the verdict and the stage that gave it
  // (kStages when it went through). Changes nothing but the packet. begin(stage name) is called
  // before each stage.
  template <class Why, class Begin>
  std::pair<Verdict, unsigned> explain(Packet& packet, Why& why, Begin&& begin) const {
    return explain_from<0>(packet, why, begin);
  }

  // All drops of all stages; the position is the flat index.
  static constexpr std::array<StageDrop, kDropCount> drop_list() {
    std::array<StageDrop, kDropCount> all{};
    unsigned n = 0;
    (..., [&] {
      for (const DropInfo& d : Stages::kDrops) all[n++] = {Stages::kName, d};
    }());
    return all;
  }
  // The flat index of a stage's first drop.
  static constexpr unsigned drop_base(unsigned stage) {
    constexpr std::array<unsigned, kStages> sizes = {
        static_cast<unsigned>(Stages::kDrops.size())...};
    unsigned base = 0;
    for (unsigned i = 0; i < stage; ++i) base += sizes[i];
    return base;
  }

 private:
  // Stages up to the next that applies something are one loop over the batch: a packet goes through
  // them while its lines are at hand.
  template <unsigned I> static constexpr unsigned run_end() {
    constexpr std::array<bool, kStages> applies = {HasApply<Stages>...};
    unsigned end = I;
    while (end < kStages && !applies[end]) ++end;
    return end < kStages ? end + 1 : end;
  }

  template <unsigned I, class Slow> void process_from(Context& ctx, Batch& batch, Slow& slow) {
    if constexpr (I < kStages) {
      if (batch.empty()) return;
      constexpr unsigned kEnd = run_end<I>();
      const std::array<bool, kStages> on = std::apply(
          [](const auto&... stage) { return std::array<bool, kStages>{is_on(stage)...}; }, stages_);
      std::uint64_t gone = 0;
      const unsigned n = batch.size();
      for (unsigned i = 0; i < n; ++i) {
        if (!goes_on<I, kEnd>(*batch[i], on)) [[unlikely]]
          gone |= std::uint64_t{1} << i;
      }
      if (gone != 0) [[unlikely]]
        scatter(ctx, batch, gone, slow);
      auto& last = std::get<kEnd - 1>(stages_);
      if constexpr (HasApply<std::remove_reference_t<decltype(last)>>) {
        if (on[kEnd - 1]) last.apply(ctx, batch);
      }
      process_from<kEnd>(ctx, batch, slow);
    }
  }

  template <class Stage> static bool is_on(const Stage& stage) {
    if constexpr (HasEnabled<Stage>) {
      return stage.enabled();
    } else {
      return true;
    }
  }

  template <unsigned I, unsigned kEnd>
  [[gnu::always_inline]] bool goes_on(Packet& packet, const std::array<bool, kStages>& on) {
    if constexpr (I < kEnd) {
      const auto& stage = std::get<I>(stages_);
      bool active = true;
      if constexpr (HasEnabled<std::remove_cvref_t<decltype(stage)>>) active = on[I];
      if (active) {
        NoWhy why;
        const Verdict v = stage.decide(packet, why);
        if (!v.is_next()) [[unlikely]] {
          packet.meta().verdict = v.code();
          packet.meta().stage = I;
          return false;
        }
      }
      return goes_on<I + 1, kEnd>(packet, on);
    } else {
      return true;
    }
  }

  template <class Slow>
  [[gnu::noinline]] void scatter(Context& ctx, Batch& batch, std::uint64_t gone, Slow& slow) {
    for (unsigned i = 0; i < batch.size(); ++i) {
      if ((gone >> i & 1) == 0) continue;
      Packet* packet = batch[i];
      const Verdict v = Verdict::from_code(packet->meta().verdict);
      if (v.is_punt()) {
        slow.punt(ctx, packet, v.punt_code());
      } else {
        slow.drop(ctx, packet, drop_base(packet->meta().stage) + v.drop_index());
      }
    }
    batch.keep(~gone);
  }

  template <unsigned I, class Why, class Begin>
  std::pair<Verdict, unsigned> explain_from(Packet& packet, Why& why, Begin& begin) const {
    if constexpr (I < kStages) {
      const auto& stage = std::get<I>(stages_);
      bool on = true;
      if constexpr (HasEnabled<std::remove_cvref_t<decltype(stage)>>) on = stage.enabled();
      if (on) {
        begin(std::remove_cvref_t<decltype(stage)>::kName);
        const Verdict v = stage.decide(packet, why);
        if (!v.is_next()) return {v, I};
      }
      return explain_from<I + 1>(packet, why, begin);
    } else {
      return {Verdict::next(), kStages};
    }
  }

  std::tuple<Stages...> stages_;
};

}  // namespace frond
