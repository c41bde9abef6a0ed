// SPDX-License-Identifier: BSD-3-Clause
// Ecmp: of a group's members, the one that this flow takes.
#pragma once

#include <array>
#include <string_view>

#include "engine/pipeline.hpp"
#include "engine/verdict.hpp"
#include "features/ecmp/flow_hash.hpp"
#include "features/l3/router.hpp"
#include "features/punt.hpp"

namespace frond::ecmp {

class Ecmp {
 public:
  static constexpr std::string_view kName = "ecmp";
  enum Drop : std::uint8_t { ecmp_no_member, kDropCount };
  static constexpr std::array<DropInfo, kDropCount> kDrops{{
      {"ecmp_no_member", "no member of the group is alive", kAnswerNetUnreachable},
  }};

  explicit Ecmp(const l3::Router& router) : router_(&router) {}

  template <class Why> Verdict decide(Packet& packet, Why& why) const {
    using l3::NextHop;
    PacketMeta& meta = packet.meta();
    NextHop next = NextHop::from_bits(meta.next_hop);
    if (next.kind() == NextHop::Kind::group) {
      const Buckets& buckets = router_->buckets(next.index());
      meta.flow_hash = flow_hash(packet, router_->seed());
      meta.next_hop = buckets.choose(meta.flow_hash);
      if constexpr (Why::kOn) {
        why("ecmp     hash {:08x}, bucket {} of {}", meta.flow_hash,
            (std::uint64_t{meta.flow_hash} * buckets.count()) >> 32, buckets.count());
      }
      next = NextHop::from_bits(meta.next_hop);
      if (next.kind() == NextHop::Kind::none) [[unlikely]]
        return Verdict::drop(ecmp_no_member);
    }
    if (next.kind() == NextHop::Kind::adjacency) [[likely]] {
      meta.egress = router_->adjacency(next.index()).port;
    } else {
      meta.egress = static_cast<std::uint16_t>(next.index());  // connected
    }
    if constexpr (Why::kOn) {
      if (next.kind() == NextHop::Kind::adjacency) {
        // Ports are named from p1.
        why("ecmp     next hop {} at p{}", router_->neighbor(next.index()).address.to_string(),
            meta.egress + 1);
      }
    }
    return Verdict::next();
  }

 private:
  const l3::Router* router_;
};

}  // namespace frond::ecmp
