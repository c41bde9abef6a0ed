// SPDX-License-Identifier: BSD-3-Clause
// What the slow paths of a switch's control agent share: they are told of packets that leave the
// pipeline, own those, and send with Context::send. Not stages: no batch, no decide(). Their drops
// are named and counted like those of stages; a pipeline lists them after its stages' drops.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/context.hpp"
#include "engine/verdict.hpp"
#include "telemetry/counter.hpp"

namespace frond {

// A counter of a slow path that is not a drop.
struct CounterInfo {
  std::string_view name;
  std::string_view help;
};

// The drops of one slow path, per port: where the packet came in, or, for one that the switch made
// itself, where it would have left. Written by the owner; readable by any thread.
template <std::size_t N> class SlowDrops {
 public:
  SlowDrops(unsigned ports, const std::array<DropInfo, N>& info) : counts_(ports), info_(&info) {}

  // Counts and frees.
  void drop(Context& ctx, Packet* packet, unsigned index) {
    count(ctx, *packet, index);
    packet->free();
  }
  void count(Context& ctx, const Packet& packet, unsigned index) {
    const PacketMeta& meta = packet.meta();
    count(meta.ingress != kNoPort ? meta.ingress : meta.egress, index);
    ctx.dropped(packet, (*info_)[index].name);
  }
  // For what never became a packet.
  void count(std::uint16_t port, unsigned index) {
    if (port < counts_.size()) ++counts_[port][index];
  }
  std::uint64_t value(std::uint16_t port, unsigned index) const {
    return counts_[port][index].value();
  }

 private:
  std::vector<std::array<Counter, N>> counts_;
  const std::array<DropInfo, N>* info_;
};

}  // namespace frond
