// SPDX-License-Identifier: BSD-3-Clause
// Buckets: the table by which an ECMP group spreads flows. A pure function of the configured
// members and of which are alive, so every way to a state gives the same table, and:
//  - buckets are shared out by weight;
//  - a dead member's buckets go to the living in turn, weighted; nobody else's move, however many
//    die, and in whatever order;
//  - when it returns, exactly its own buckets come back.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace frond::ecmp {

inline constexpr unsigned kMaxMembers = 128;

struct Share {
  std::uint32_t weight = 1;
  bool alive = true;
};

// The member (its index) of each bucket; kNobody when none is alive.
inline constexpr std::uint8_t kNobody = 0xff;
std::vector<std::uint8_t> spread(std::span<const Share> members);

// What the data path reads: next hops (NextHop::bits) instead of members. Never empty.
class Buckets {
 public:
  Buckets();  // nobody
  explicit Buckets(std::vector<std::uint32_t> next_hops) : next_hops_(std::move(next_hops)) {}

  std::uint32_t count() const { return static_cast<std::uint32_t>(next_hops_.size()); }
  // All 32 bits of the hash count, the high ones most.
  std::uint32_t choose(std::uint32_t hash) const {
    return next_hops_[(std::uint64_t{hash} * next_hops_.size()) >> 32];
  }
  std::span<const std::uint32_t> next_hops() const { return next_hops_; }

 private:
  std::vector<std::uint32_t> next_hops_;
};

}  // namespace frond::ecmp
