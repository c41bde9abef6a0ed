// SPDX-License-Identifier: BSD-3-Clause
// World: devices in virtual time. No threads: it takes the earliest event, moves the clock there
// and steps that device. Same configuration, same seed: the same steps in the same order, whatever
// the compiler or the addresses.
//
// Order. Events at one time run in the order in which they were asked for, with one liberty: the
// arrivals and wakes between two calls (at, post) are gathered, and each device they concern is
// stepped once, in the order of its first event. What those steps cause at the same time runs
// after.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/device.hpp"
#include "engine/hop_trace.hpp"
#include "packet/pool.hpp"
#include "sim/event_queue.hpp"

namespace frond::sim {

class World final : public Waker {
 public:
  struct Config {
    std::string name = "world";  // of its packet pool: unique in the process
    PacketPool::Config pool;
    bool trace = true;  // keep the HopTrace
  };

  // After EAL. Throws StartError when the pool's memory is not there. Devices and links that hold
  // packets must be gone before the World.
  explicit World(const Config& config) : pool_(config.name, config.pool), trace_(config.trace) {}
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // The device is stepped for the first time now. Its id is its index here, so ids should be dense;
  // throws StartError when another device has it. The device must outlive its stay.
  void add(Device& device);
  // Its events will be ignored.
  void remove(const Device& device);

  // Runs f at `time` (now, if that has passed): a change of configuration, a link event.
  void at(Time time, std::function<void()> f);
  // At `time` the device finds f in its inbox and is stepped.
  void post(Time time, Device& device, std::function<void()> f);

  // Something is due for the device, at the port, or for the device as such (kNoPort).
  void wake(Time at, Device& device, unsigned port) override {
    queue_.push(std::max(at, now_), device.id(), static_cast<std::uint16_t>(port),
                Event::Kind::arrival);
  }

  // Runs everything up to and including `end`; then now() is `end`.
  void run_until(Time end);
  // Runs until nothing is pending (true; now() is the last event's time) or the next event is after
  // `limit` (false; now() is `limit`).
  bool run_until_idle(Time limit);

  Time now() const { return now_; }
  PacketPool& pool() { return pool_; }
  const PacketPool& pool() const { return pool_; }
  const HopTrace& hops() const { return hops_; }
  std::size_t pending() const { return queue_.size(); }

  struct Statistics {
    std::uint64_t events = 0;       // taken from the queue
    std::uint64_t steps = 0;        // of devices
    std::uint64_t stale_wakes = 0;  // events that turned out to have no work behind them
    std::uint64_t work = 0;         // packets that devices say they handled
  };
  const Statistics& statistics() const { return statistics_; }

 private:
  // A device here, and when it wants to run. `queued` holds the times of its self-wakes in the
  // queue, the earliest last. A new one is queued only when it is earlier than all of those, so a
  // far timer is queued once, however many near wakes come and go before it.
  struct Slot {
    static constexpr unsigned kDepth = 4;
    Device* device = nullptr;
    Time wanted = Time::max();  // what its last step returned
    std::array<Time, kDepth> queued{};
    std::uint8_t depth = 0;
    bool due = false;  // is in due_
  };

  void drain(Time until);
  void take(const Event& event);
  void set_due(std::uint32_t id, Slot& slot) {
    if (slot.due) return;
    slot.due = true;
    due_.push_back(id);
  }
  void self_wake(std::uint32_t id, Slot& slot);
  void step_due();
  void schedule(std::uint32_t id, Slot& slot, Time wanted);
  void run_call(std::uint32_t number);
  void check_progress();

  PacketPool pool_;
  EventQueue queue_;
  Time now_;
  HopTrace hops_;
  bool trace_;
  Statistics statistics_;
  std::vector<Slot> slots_;  // by device id
  std::vector<std::uint32_t> due_, stepping_;
  std::vector<std::function<void()>> calls_;
  std::vector<std::uint32_t> free_calls_;
  Time round_time_ = Time::min();  // check_progress
  unsigned rounds_ = 0;
};

}  // namespace frond::sim
