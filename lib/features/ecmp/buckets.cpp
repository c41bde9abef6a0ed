// SPDX-License-Identifier: BSD-3-Clause
#include "features/ecmp/buckets.hpp"

#include <algorithm>
#include <numeric>

#include "base/rng.hpp"
#include "features/l3/next_hop.hpp"

namespace frond::ecmp {
namespace {

constexpr std::uint32_t kMaxUnits = 512;  // sum of weights; larger ones are scaled down
constexpr std::uint32_t kMinBuckets = 128;
constexpr std::uint32_t kMinPerUnit = 8;  // a dead member's go to at least so many others

// Weights in lowest terms.
std::vector<std::uint32_t> reduce(std::span<const Share> members) {
  std::vector<std::uint32_t> units;
  std::uint32_t divisor = 0;
  std::uint64_t sum = 0;
  for (const Share& m : members) {
    units.push_back(std::max(m.weight, 1U));
    divisor = std::gcd(divisor, units.back());
    sum += units.back();
  }
  sum /= std::max(divisor, 1U);
  for (std::uint32_t& u : units) {
    u /= divisor;
    if (sum > kMaxUnits)
      u = static_cast<std::uint32_t>(
          std::max<std::uint64_t>(1, (std::uint64_t{u} * kMaxUnits + sum / 2) / sum));
  }
  return units;
}

// The members, each as often as its weight, spaced evenly: whoever takes the next few takes a fair
// mix. Member m's k-th turn is at (k + 1/2) / units[m].
std::vector<std::uint8_t> interleave(const std::vector<std::uint32_t>& units) {
  struct Turn {
    std::uint64_t at;
    std::uint8_t member;
  };
  std::vector<Turn> turns;
  for (std::size_t m = 0; m < units.size(); ++m) {
    for (std::uint64_t k = 0; k < units[m]; ++k) {
      turns.push_back({((2 * k + 1) << 32) / units[m], static_cast<std::uint8_t>(m)});
    }
  }
  std::stable_sort(turns.begin(), turns.end(),
                   [](const Turn& a, const Turn& b) { return a.at < b.at; });
  std::vector<std::uint8_t> order;
  for (const Turn& t : turns) order.push_back(t.member);
  return order;
}

// Who takes over a bucket when its owner and the first in turn are dead: the highest of all
// living draws, a draw a unit of weight (rendezvous hashing, Thaler and Ravishankar 1998). Nobody
// else's death changes it.
std::uint8_t rendezvous(std::span<const Share> members, const std::vector<std::uint32_t>& units,
                        std::size_t bucket) {
  std::uint8_t best = kNobody;
  std::uint64_t highest = 0;
  for (std::size_t m = 0; m < members.size(); ++m) {
    if (!members[m].alive) continue;
    for (std::uint32_t k = 0; k < units[m]; ++k) {
      const std::uint64_t draw = mix64(mix64(bucket << 16 | m) + k * 0x9e3779b97f4a7c15ULL);
      if (best != kNobody && draw <= highest) continue;
      best = static_cast<std::uint8_t>(m);
      highest = draw;
    }
  }
  return best;
}

}  // namespace

std::vector<std::uint8_t> spread(std::span<const Share> members) {
  if (members.empty()) return {kNobody};
  const std::vector<std::uint32_t> units = reduce(members);
  const std::vector<std::uint8_t> order = interleave(units);
  const auto sum = static_cast<std::uint32_t>(order.size());
  const std::uint32_t per_unit = std::max(kMinPerUnit, (kMinBuckets + sum - 1) / sum);
  // What is asked first when member m is dead: the others, in turn.
  std::vector<std::vector<std::uint8_t>> others(members.size());
  for (std::size_t m = 0; m < members.size(); ++m) {
    if (members[m].alive) continue;
    std::copy_if(order.begin(), order.end(), std::back_inserter(others[m]),
                 [&](std::uint8_t o) { return o != m; });
  }
  std::vector<std::size_t> turn(members.size());
  std::vector<std::uint8_t> buckets;
  for (std::uint32_t round = 0; round < per_unit; ++round) {
    for (std::uint8_t owner : order) {
      const std::size_t bucket = buckets.size();
      const std::vector<std::uint8_t>& next = others[owner];
      if (members[owner].alive) {
        buckets.push_back(owner);
      } else if (next.empty()) {
        buckets.push_back(kNobody);
      } else {
        const std::uint8_t heir = next[(turn[owner]++ + owner) % next.size()];
        buckets.push_back(members[heir].alive ? heir : rendezvous(members, units, bucket));
      }
    }
  }
  return buckets;
}

Buckets::Buckets() : next_hops_{l3::NextHop().bits()} {}

}  // namespace frond::ecmp
