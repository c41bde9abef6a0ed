// SPDX-License-Identifier: BSD-3-Clause
// Agent: what every routing pipeline has around its list of stages: the tables, the slow paths of
// the control agent, and a counter for each drop. A pipeline is its stages and this.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/fields.hpp"
#include "base/rng.hpp"
#include "engine/pipeline.hpp"
#include "features/bfd/bfd.hpp"
#include "features/icmp/icmp.hpp"
#include "features/l3/router.hpp"
#include "features/neighbor/neighbor.hpp"
#include "features/punt.hpp"

namespace frond::pipelines {

struct AgentConfig {
  std::uint16_t ports = 0;
  std::uint64_t seed = 1;                  // of the device
  std::optional<std::uint64_t> ecmp_seed;  // unset: derived from the device's
  l3::Fib::Config fib;
  neighbor::Config neighbor;
  icmp::Config icmp;
  bfd::Config bfd;

  template <class F> static void fields(F& f) {
    f("ecmp_seed", &AgentConfig::ecmp_seed, "",
      "Of the flow hash; by default each switch has its own, so that tiers don't polarise");
    f("fib", &AgentConfig::fib, "", "Routing tables");
    f("neighbor", &AgentConfig::neighbor, "", "ARP and neighbour discovery");
    f("icmp", &AgentConfig::icmp, "", "ICMP, ICMPv6 and fragmentation");
    f("bfd", &AgentConfig::bfd, "", "Liveness of the switch at the other end");
  }
};

template <class Stages> class Agent {
 public:
  using Config = AgentConfig;

  Agent(const Config& config, Stages (*make)(const l3::Router&))
      : router_({.ports = config.ports,
                 .seed = config.ecmp_seed.value_or(hash_name("ecmp", config.seed)),
                 .fib = config.fib}),
        stages_(make(router_)),
        neighbors_(config.neighbor, config.ports, config.seed, router_,
                   [this](Context& ctx, const Packet& packet) {
                     icmp_.answer(ctx, packet, kAnswerHostUnreachable);
                   }),
        icmp_(config.icmp, config.ports, router_, neighbors_),
        bfd_(config.bfd, config.ports, router_, neighbors_,
             [this](Context& ctx, const bfd::Event& event) {
               if (liveness_) liveness_(ctx, event.port, event.up, event.detection);
             }),
        drops_(std::make_unique<Counter[]>(std::size_t{config.ports} * Stages::kDropCount)) {}
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  // --- What a Switch asks of its pipeline ---
  void ingress(Context& ctx, Batch& batch) { stages_.process(ctx, batch, *this); }

  Time timers(Context& ctx) {
    const bool more = router_.apply_pending();
    const Time next = std::min(neighbors_.timers(ctx), bfd_.timers(ctx));
    return more ? ctx.now : next;
  }

  void port_changed(Context& ctx, std::uint16_t port, bool up) {
    router_.set_port_up(port, up);
    neighbors_.port_changed(ctx, port, up);
    bfd_.port_changed(ctx, port, up);
  }

  using Liveness = std::function<void(Context&, std::uint16_t port, bool up, Time detection)>;
  void on_liveness(Liveness callback) { liveness_ = std::move(callback); }

  // The verdict about this packet (a clone: it is edited) and the stage that gave it; "" when it
  // went through.
  template <class Why>
  std::pair<Verdict, std::string_view> explain(Packet& packet, Why& why) const {
    std::string_view at;
    const auto [verdict, stage] =
        stages_.explain(packet, why, [&](std::string_view name) { at = name; });
    return {verdict, stage == Stages::kStages ? std::string_view() : at};
  }

  // --- Drops: of the stages, then of the slow paths ---
  static std::span<const StageDrop> drops() {
    static const auto kAll = [] {
      std::array<StageDrop, kTotalDrops> all;
      const auto stages = Stages::drop_list();
      auto at = std::copy(stages.begin(), stages.end(), all.begin());
      const auto add = [&](std::string_view name, const auto& list) {
        for (const DropInfo& info : list) *at++ = {name, info};
      };
      add(neighbor::Neighbors::kName, neighbor::Neighbors::kDrops);
      add(icmp::Icmp::kName, icmp::Icmp::kDrops);
      add(bfd::Bfd::kName, bfd::Bfd::kDrops);
      return all;
    }();
    return kAll;
  }
  // Any thread.
  std::uint64_t drop_count(std::uint16_t port, unsigned index) const {
    if (index < kStageDrops) return drops_[std::size_t{port} * kStageDrops + index].value();
    index -= kStageDrops;
    if (index < neighbor::Neighbors::kDropCount) return neighbors_.drop_count(port, index);
    index -= neighbor::Neighbors::kDropCount;
    if (index < icmp::Icmp::kDropCount) return icmp_.drop_count(port, index);
    return bfd_.drop_count(port, index - icmp::Icmp::kDropCount);
  }

  // --- What leaves the stages (called by Pipeline::process) ---
  void punt(Context& ctx, Packet* packet, PuntCode code) {
    switch (code) {
      case kPuntArp:
        return neighbors_.receive_arp(ctx, packet);
      case kPuntNd:
        return neighbors_.receive_nd(ctx, packet);
      case kPuntBfd:
        return bfd_.receive(ctx, packet);
      case kPuntLocal:
        return icmp_.receive(ctx, packet);
      case kPuntFragment:
        return icmp_.fragment(ctx, packet);
      case kPuntNoNeighbor:
        return neighbors_.resolve(ctx, packet);
      default:
        break;
    }
    packet->free();  // no stage punts so
  }

  void drop(Context& ctx, Packet* packet, unsigned index) {
    static constexpr auto kDrops = Stages::drop_list();
    ++drops_[std::size_t{packet->meta().ingress} * kStageDrops + index];
    const DropInfo& info = kDrops[index].info;
    if (info.answer != kNoPunt) icmp_.answer(ctx, *packet, info.answer);
    ctx.dropped(*packet, info.name);
    packet->free();
  }

  l3::Router& router() { return router_; }
  const l3::Router& router() const { return router_; }
  Stages& stages() { return stages_; }
  neighbor::Neighbors& neighbors() { return neighbors_; }
  icmp::Icmp& icmp() { return icmp_; }
  bfd::Bfd& bfd() { return bfd_; }

 private:
  static constexpr unsigned kStageDrops = Stages::kDropCount;
  static constexpr unsigned kTotalDrops =
      kStageDrops + neighbor::Neighbors::kDropCount + icmp::Icmp::kDropCount + bfd::Bfd::kDropCount;

  l3::Router router_;
  Stages stages_;
  neighbor::Neighbors neighbors_;
  icmp::Icmp icmp_;
  bfd::Bfd bfd_;
  Liveness liveness_;
  std::unique_ptr<Counter[]> drops_;  // by ingress port, then flat index; written by the owner
};

}  // namespace frond::pipelines
