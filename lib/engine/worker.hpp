// SPDX-License-Identifier: BSD-3-Clause
// Worker: a thread that steps its devices in a loop against the wall clock.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/clock.hpp"
#include "engine/device.hpp"
#include "telemetry/counter.hpp"

namespace frond {

enum class IdlePolicy : std::uint8_t {
  busy,      // never sleeps
  adaptive,  // spins a little, then sleeps for microseconds, longer the longer nothing comes
};

class Worker {
 public:
  struct Config {
    std::string name = "worker";
    std::optional<unsigned> cpu;  // pin to it; unset: the process's affinity
    IdlePolicy idle = IdlePolicy::adaptive;
  };

  Worker(Config config, const Clock& clock, PacketPool& pool);
  ~Worker();  // stops

  // Before start(), or from a call() once running. The device must outlive its stay here.
  void add(Device& device);
  void remove(Device& device);

  void start();
  void stop();

  // Runs f on the worker, between two rounds, and returns when it has run. Not from the worker.
  void call(std::function<void()> f);

  std::uint64_t rounds() const { return rounds_.value(); }
  std::uint64_t busy_ns() const { return busy_ns_.value(); }  // time of rounds that had work

 private:
  void run();
  void idle(unsigned quiet_rounds, Time next);

  Config config_;
  const Clock& clock_;
  PacketPool& pool_;
  std::vector<Device*> devices_;
  Inbox inbox_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
  Counter rounds_;
  Counter busy_ns_;
};

}  // namespace frond
