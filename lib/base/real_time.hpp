// SPDX-License-Identifier: BSD-3-Clause
// Real time, for control threads that wait for the outside world (a process, a socket, a device) or
// write a date for people. Never for logic: that is told the time. A lint says who may include
// this.
#pragma once

#include <time.h>

#include <algorithm>

#include "base/time.hpp"

namespace frond {

// Since the Unix epoch.
inline Time unix_time() {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return Time::s(t.tv_sec) + Time::ns(t.tv_nsec);
}

// How long to wait at most.
class Deadline {
 public:
  explicit Deadline(Time patience) : end_(now() + patience) {}
  bool passed() const { return now() >= end_; }
  Time left() const { return std::max(Time(), end_ - now()); }
  // Sleeps, not beyond the deadline. For what can only be polled.
  void pause(Time step) const {
    const Time t = std::min(step, left());
    const timespec duration{t / Time::s(1), (t - Time::s(t / Time::s(1))).ns()};
    nanosleep(&duration, nullptr);
  }

 private:
  static Time now() {
    timespec t{};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return Time::s(t.tv_sec) + Time::ns(t.tv_nsec);
  }
  Time end_;
};

}  // namespace frond
