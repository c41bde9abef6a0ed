// SPDX-License-Identifier: BSD-3-Clause
// StageTimes: what each stage of a pipeline costs, a batch at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "engine/clock.hpp"
#include "engine/pipeline.hpp"
#include "packet/batch.hpp"

namespace frond::perf {

template <class Stages> class StageTimes;

template <class... Stages> class StageTimes<Pipeline<Stages...>> {
 public:
  static constexpr unsigned kStages = sizeof...(Stages);
  static constexpr std::array<std::string_view, kStages> kNames = {Stages::kName...};

  explicit StageTimes(const Clock& clock) : clock_(clock) {}

  // Every packet must go through: what is timed is the way of the usual packet. False if one
  // doesn't. The batch stays the caller's.
  bool run(Pipeline<Stages...>& pipeline, Context& ctx, Batch& batch) {
    bool through = true;
    [&]<unsigned... I>(std::integer_sequence<unsigned, I...>) {
      (..., (through = through && stage<I>(pipeline, ctx, batch)));
    }
    (std::make_integer_sequence<unsigned, kStages>());
    packets_ += batch.size();
    return through;
  }

  double ns_per_packet(unsigned stage) const {
    return packets_ == 0 ? 0.0 : static_cast<double>(ns_[stage]) / static_cast<double>(packets_);
  }

 private:
  template <unsigned I> bool stage(Pipeline<Stages...>& pipeline, Context& ctx, Batch& batch) {
    auto& stage = pipeline.template stage<I>();
    using Stage = std::remove_reference_t<decltype(stage)>;
    if constexpr (HasEnabled<Stage>) {
      if (!stage.enabled()) return true;
    }
    NoWhy why;
    bool through = true;
    const Time start = clock_.now();
    for (Packet* packet : batch) through &= stage.decide(*packet, why).is_next();
    if constexpr (HasApply<Stage>) stage.apply(ctx, batch);
    ns_[I] += static_cast<std::uint64_t>((clock_.now() - start).ns());
    return through;
  }

  const Clock& clock_;
  std::array<std::uint64_t, kStages> ns_{};
  std::uint64_t packets_ = 0;
};

}  // namespace frond::perf
