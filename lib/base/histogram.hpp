// SPDX-License-Identifier: BSD-3-Clause
// Histogram: counts of non-negative integers in log-linear buckets, after HdrHistogram (Tene).
// Below 128 each value has a bucket of its own; above, a bucket is at most 1/64 of its value wide.
// All integer: the same on every machine. One owner; memory follows the largest value seen.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace frond {

class Histogram {
 public:
  void add(std::uint64_t value, std::uint64_t n = 1) {
    const unsigned index = bucket(value);
    if (index >= counts_.size()) [[unlikely]]
      counts_.resize(index + 1);
    counts_[index] += n;
    count_ += n;
    sum_ += value * n;
    if (value < min_) min_ = value;
    if (value > max_) max_ = value;
  }

  void merge(const Histogram& other) {
    if (other.counts_.size() > counts_.size()) counts_.resize(other.counts_.size());
    for (std::size_t i = 0; i < other.counts_.size(); ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
    sum_ += other.sum_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
  }

  void clear() { *this = Histogram(); }

  std::uint64_t count() const { return count_; }
  std::uint64_t sum() const { return sum_; }
  std::uint64_t min() const { return count_ == 0 ? 0 : min_; }
  std::uint64_t max() const { return max_; }
  std::uint64_t mean() const { return count_ == 0 ? 0 : sum_ / count_; }

  // The smallest value that parts/whole of the samples do not exceed (nearest rank), as the upper
  // end of its bucket and never above max(): quantile(999, 1000) is the 99.9th percentile. 0 when
  // empty.
  std::uint64_t quantile(std::uint64_t parts, std::uint64_t whole) const {
    if (count_ == 0) return 0;
    const auto scaled = static_cast<unsigned __int128>(count_) * std::min(parts, whole);
    const auto rank =
        std::max<std::uint64_t>(1, static_cast<std::uint64_t>((scaled + whole - 1) / whole));
    std::uint64_t seen = 0;
    for (unsigned i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen >= rank) return std::clamp(upper(i), min_, max_);
    }
    return max_;
  }

  // Calls f(lowest, highest, count) for each bucket that is not empty, in rising order.
  template <class F> void for_each_bucket(F&& f) const {
    for (unsigned i = 0; i < counts_.size(); ++i) {
      if (counts_[i] != 0) f(lower(i), upper(i), counts_[i]);
    }
  }

  // The same samples, as far as buckets tell.
  bool operator==(const Histogram& other) const {
    const std::size_t common = std::min(counts_.size(), other.counts_.size());
    const auto zero = [](std::uint64_t c) { return c == 0; };
    return count_ == other.count_ && sum_ == other.sum_ && min() == other.min() &&
           max_ == other.max_ &&
           std::equal(counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(common),
                      other.counts_.begin()) &&
           std::all_of(counts_.begin() + static_cast<std::ptrdiff_t>(common), counts_.end(),
                       zero) &&
           std::all_of(other.counts_.begin() + static_cast<std::ptrdiff_t>(common),
                       other.counts_.end(), zero);
  }

 private:
  static constexpr unsigned kSubBits = 6;  // an octave has 64 buckets

  // Values with the same highest bit share an octave; its `shift` low bits are not told apart.
  static unsigned bucket(std::uint64_t value) {
    const auto width = static_cast<unsigned>(std::bit_width(value));
    if (width <= kSubBits + 1) return static_cast<unsigned>(value);
    const unsigned shift = width - kSubBits - 1;
    return (shift << kSubBits) + static_cast<unsigned>(value >> shift);
  }
  static std::uint64_t lower(unsigned index) {
    if (index < 2U << kSubBits) return index;
    const unsigned shift = (index >> kSubBits) - 1;
    return (std::uint64_t{index} - (shift << kSubBits)) << shift;
  }
  static std::uint64_t upper(unsigned index) {
    if (index < 2U << kSubBits) return index;
    return lower(index) + ((std::uint64_t{1} << ((index >> kSubBits) - 1)) - 1);
  }

  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t min_ = ~std::uint64_t{0};
  std::uint64_t max_ = 0;
};

}  // namespace frond
