// SPDX-License-Identifier: BSD-3-Clause
// Rate: bits a second. Bytes: an amount of data.
#pragma once

#include <compare>
#include <cstdint>

namespace frond {

class Rate {
 public:
  constexpr Rate() = default;
  static constexpr Rate bps(std::uint64_t n) { return Rate(n); }
  static constexpr Rate kbps(std::uint64_t n) { return Rate(n * 1'000); }
  static constexpr Rate mbps(std::uint64_t n) { return Rate(n * 1'000'000); }
  static constexpr Rate gbps(std::uint64_t n) { return Rate(n * 1'000'000'000); }
  constexpr std::uint64_t bps() const { return bps_; }
  constexpr auto operator<=>(const Rate&) const = default;

 private:
  explicit constexpr Rate(std::uint64_t n) : bps_(n) {}
  std::uint64_t bps_ = 0;
};

class Bytes {
 public:
  constexpr Bytes() = default;
  explicit constexpr Bytes(std::uint64_t n) : n_(n) {}
  static constexpr Bytes kib(std::uint64_t n) { return Bytes(n << 10); }
  static constexpr Bytes mib(std::uint64_t n) { return Bytes(n << 20); }
  constexpr std::uint64_t count() const { return n_; }
  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes& operator+=(Bytes b) {
    n_ += b.n_;
    return *this;
  }
  constexpr Bytes& operator-=(Bytes b) {
    n_ -= b.n_;
    return *this;
  }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes(a.n_ + b.n_); }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes(a.n_ - b.n_); }

 private:
  std::uint64_t n_ = 0;
};

}  // namespace frond
