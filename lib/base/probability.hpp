// SPDX-License-Identifier: BSD-3-Clause
// Probability: parts of 2^32, so that chance is integer arithmetic and the same everywhere.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>

namespace frond {

class Probability {
 public:
  static constexpr std::uint64_t kOne = std::uint64_t{1} << 32;

  constexpr Probability() = default;  // never
  static constexpr Probability parts(std::uint64_t n) { return Probability(std::min(n, kOne)); }
  // n of `of`, to the nearest part: ratio(1, 1000) is 0.1 %. of > 0.
  static constexpr Probability ratio(std::uint64_t n, std::uint64_t of) {
    const auto scaled = static_cast<unsigned __int128>(std::min(n, of)) << 32;
    return Probability(static_cast<std::uint64_t>((scaled + of / 2) / of));
  }
  static constexpr Probability always() { return Probability(kOne); }

  constexpr std::uint64_t parts() const { return parts_; }  // what Rng::chance takes
  constexpr bool possible() const { return parts_ != 0; }
  constexpr auto operator<=>(const Probability&) const = default;

 private:
  explicit constexpr Probability(std::uint64_t n) : parts_(n) {}
  std::uint64_t parts_ = 0;
};

}  // namespace frond
