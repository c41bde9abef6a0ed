// SPDX-License-Identifier: BSD-3-Clause
// ControlLoop: the one thread of the control plane. Workers and management post work to it; it
// sleeps in between.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "engine/inbox.hpp"

namespace frond::fabric {

class ControlLoop {
 public:
  ControlLoop();   // throws StartError
  ~ControlLoop();  // runs what was posted, then stops
  ControlLoop(const ControlLoop&) = delete;
  ControlLoop& operator=(const ControlLoop&) = delete;

  // Any thread; a worker pays one write to an eventfd, and only for rare events.
  void post(std::function<void()> work);
  // Runs work on the loop and waits for it. On the loop itself: runs it at once.
  void call(const std::function<void()>& work);

 private:
  void run();

  int event_;
  Inbox inbox_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace frond::fabric
