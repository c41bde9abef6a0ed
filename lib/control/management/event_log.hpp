// SPDX-License-Identifier: BSD-3-Clause
// EventLog: the last events of a fabric, for any number of readers. Any thread writes and reads;
// the data path does not write here itself but lets its control thread do it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "control/management/fabric.hpp"

namespace frond::management {

class EventLog {
 public:
  explicit EventLog(std::size_t kept = 4096) : kept_(kept) {}

  // Gives the event its sequence.
  std::uint64_t post(Event event) {
    std::uint64_t sequence = 0;
    {
      std::lock_guard lock(mutex_);
      sequence = ++last_;
      event.sequence = sequence;
      events_.push_back(std::move(event));
      if (events_.size() > kept_) events_.pop_front();
    }
    changed_.notify_all();
    return sequence;
  }

  // Events after `after`, waiting at most `timeout` for the first. A reader that fell too far
  // behind sees a gap in the sequences.
  std::vector<Event> read(std::uint64_t after, Time timeout) const {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::nanoseconds(timeout.ns()), [&] { return last_ > after; });
    std::vector<Event> result;
    for (const Event& event : events_) {
      if (event.sequence > after) result.push_back(event);
    }
    return result;
  }

  std::uint64_t last() const {
    std::lock_guard lock(mutex_);
    return last_;
  }

 private:
  const std::size_t kept_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<Event> events_;
  std::uint64_t last_ = 0;
};

}  // namespace frond::management
