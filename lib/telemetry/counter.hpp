// SPDX-License-Identifier: BSD-3-Clause
// Counter and Gauge: written by the one worker that owns them, read in place by any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace frond {

class Counter {
 public:
  // Owner only: a plain load and store, no locked instruction.
  void add(std::uint64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  void operator++() { add(1); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

class Gauge {
 public:
  void set(std::uint64_t value) { value_.store(value, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

}  // namespace frond
