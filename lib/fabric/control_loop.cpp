// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/control_loop.hpp"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <future>
#include <string>

#include "base/result.hpp"

namespace frond::fabric {

ControlLoop::ControlLoop() : event_(eventfd(0, EFD_CLOEXEC)) {
  if (event_ < 0) throw StartError(std::string("eventfd: ") + std::strerror(errno));
  thread_ = std::thread([this] { run(); });
}

ControlLoop::~ControlLoop() {
  stop_.store(true, std::memory_order_release);
  post([] {});
  thread_.join();
  close(event_);
}

void ControlLoop::post(std::function<void()> work) {
  inbox_.post(std::move(work));
  const std::uint64_t one = 1;
  // Fails only when 2^64 - 2 wake-ups wait to be read, and then the loop wakes up anyway.
  [[maybe_unused]] const ssize_t n = write(event_, &one, sizeof one);
}

void ControlLoop::call(const std::function<void()>& work) {
  if (std::this_thread::get_id() == thread_.get_id()) return work();
  std::promise<void> done;
  post([&] {
    work();
    done.set_value();
  });
  done.get_future().wait();
}

void ControlLoop::run() {
  pthread_setname_np(pthread_self(), "control");
  while (!stop_.load(std::memory_order_acquire)) {
    std::uint64_t count = 0;
    if (read(event_, &count, sizeof count) < 0 && errno != EINTR) return;
    inbox_.run();
  }
  inbox_.run();
}

}  // namespace frond::fabric
