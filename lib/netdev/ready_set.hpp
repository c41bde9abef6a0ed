// SPDX-License-Identifier: BSD-3-Clause
// ReadySet: which of many descriptors have something to read, for one system call a round instead
// of one each. Owned by the worker that steps the ports in it; not thread-safe.
#pragma once

#include <cstdint>

#include "base/time.hpp"

namespace frond::netdev {

class ReadySet {
 public:
  ReadySet();  // throws StartError
  ~ReadySet();
  ReadySet(const ReadySet&) = delete;
  ReadySet& operator=(const ReadySet&) = delete;

  // `ready` becomes true when fd turns readable or fails; its owner clears it once the fd has
  // nothing more (edge-triggered: news that come later set it again).
  void add(int fd, bool* ready);
  void remove(int fd);

  // Asks the kernel, unless it was asked for this instant already.
  void poll(Time now);

 private:
  int epoll_;
  unsigned members_ = 0;
  Time asked_ = Time::min();
};

}  // namespace frond::netdev
