// SPDX-License-Identifier: BSD-3-Clause
// Time: a point on a clock, or a distance between two; signed 64-bit nanoseconds (292 years).
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace frond {

class Time {
 public:
  constexpr Time() = default;

  static constexpr Time ns(std::int64_t n) { return Time(n); }
  static constexpr Time us(std::int64_t n) { return Time(n * 1'000); }
  static constexpr Time ms(std::int64_t n) { return Time(n * 1'000'000); }
  static constexpr Time s(std::int64_t n) { return Time(n * 1'000'000'000); }
  // "Never": what a device returns when only an arrival can give it work.
  static constexpr Time max() { return Time(std::numeric_limits<std::int64_t>::max()); }
  static constexpr Time min() { return Time(std::numeric_limits<std::int64_t>::min()); }

  constexpr std::int64_t ns() const { return ns_; }
  constexpr double seconds() const { return static_cast<double>(ns_) * 1e-9; }

  constexpr auto operator<=>(const Time&) const = default;
  constexpr Time& operator+=(Time d) {
    ns_ += d.ns_;
    return *this;
  }
  constexpr Time& operator-=(Time d) {
    ns_ -= d.ns_;
    return *this;
  }
  friend constexpr Time operator+(Time a, Time b) { return Time(a.ns_ + b.ns_); }
  friend constexpr Time operator-(Time a, Time b) { return Time(a.ns_ - b.ns_); }
  friend constexpr Time operator*(Time a, std::int64_t k) { return Time(a.ns_ * k); }
  friend constexpr Time operator/(Time a, std::int64_t k) { return Time(a.ns_ / k); }
  friend constexpr std::int64_t operator/(Time a, Time b) { return a.ns_ / b.ns_; }

 private:
  explicit constexpr Time(std::int64_t n) : ns_(n) {}
  std::int64_t ns_ = 0;
};

}  // namespace frond
