// SPDX-License-Identifier: BSD-3-Clause
// Rng: the only source of chance. One per device and per wire direction, seeded by
// hash(seed, name), so that adding a device does not change what the others draw.
#pragma once

#include <cstdint>
#include <string_view>

namespace frond {

// Finaliser of SplitMix64 (Steele, Lea, Flood 2014): every input bit reaches every output bit.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// FNV-1a, then mixed: stable over compilers and runs, unlike std::hash.
constexpr std::uint64_t hash_name(std::string_view text, std::uint64_t seed = 0) {
  std::uint64_t h = 0xcbf29ce484222325ULL ^ mix64(seed + 0x9e3779b97f4a7c15ULL);
  for (char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return mix64(h);
}

// xoshiro256** 1.0 (Blackman, Vigna 2018).
class Rng {
 public:
  explicit constexpr Rng(std::uint64_t seed = 1) {
    for (auto& word : s_) word = mix64(seed += 0x9e3779b97f4a7c15ULL);
  }
  constexpr Rng(std::uint64_t seed, std::string_view name) : Rng(hash_name(name, seed)) {}

  constexpr std::uint64_t next() {
    const std::uint64_t result = rotl(s_[1] * 5, 7) * 9;
    const std::uint64_t t = s_[1] << 17;
    s_[2] ^= s_[0];
    s_[3] ^= s_[1];
    s_[1] ^= s_[2];
    s_[0] ^= s_[3];
    s_[2] ^= t;
    s_[3] = rotl(s_[3], 45);
    return result;
  }

  // Uniform in [0, bound), bound > 0; Lemire's multiply, without the rejection step: the bias is
  // below bound / 2^64.
  constexpr std::uint64_t below(std::uint64_t bound) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }

  // True with probability parts / 2^32; integer, so the same on every machine.
  constexpr bool chance(std::uint64_t parts) { return (next() >> 32) < parts; }

 private:
  static constexpr std::uint64_t rotl(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  std::uint64_t s_[4] = {};
};

}  // namespace frond
