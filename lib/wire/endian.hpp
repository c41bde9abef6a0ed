// SPDX-License-Identifier: BSD-3-Clause
// Big-endian integers as they stand in a frame: no alignment, no implicit conversion. A field is
// read with host() and written with be16(value).
#pragma once

#include <bit>
#include <cstdint>

namespace frond::wire {

template <class T> class [[gnu::packed]] BigEndian {
 public:
  constexpr BigEndian() = default;
  explicit constexpr BigEndian(T host) : raw_(swap(host)) {}
  static constexpr BigEndian from_raw(T raw) {
    BigEndian b;
    b.raw_ = raw;
    return b;
  }

  constexpr T host() const { return swap(raw_); }
  constexpr T raw() const { return raw_; }  // as in memory: for sums that don't mind the order
  friend constexpr bool operator==(BigEndian a, BigEndian b) { return a.raw_ == b.raw_; }

 private:
  static constexpr T swap(T v) {
    if constexpr (std::endian::native == std::endian::big) return v;
    if constexpr (sizeof(T) == 2) return static_cast<T>(__builtin_bswap16(v));
    if constexpr (sizeof(T) == 4) return static_cast<T>(__builtin_bswap32(v));
    if constexpr (sizeof(T) == 8) return static_cast<T>(__builtin_bswap64(v));
  }
  T raw_ = 0;
};

using be16 = BigEndian<std::uint16_t>;
using be32 = BigEndian<std::uint32_t>;
using be64 = BigEndian<std::uint64_t>;
static_assert(sizeof(be16) == 2 && alignof(be16) == 1);
static_assert(sizeof(be32) == 4 && alignof(be32) == 1);
static_assert(sizeof(be64) == 8 && alignof(be64) == 1);

}  // namespace frond::wire
