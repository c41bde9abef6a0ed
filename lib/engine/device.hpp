// SPDX-License-Identifier: BSD-3-Clause
// Device: a Switch, a Nic, a traffic source. Stepped by one Worker (wall clock) or one World
// (virtual clock), which owns all of its state.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "base/rng.hpp"
#include "base/time.hpp"
#include "engine/context.hpp"
#include "engine/inbox.hpp"
#include "engine/port_set.hpp"

namespace frond {

class Device {
 public:
  // id: unique in its fabric, given in configuration order. seed: of the fabric.
  Device(std::string name, std::uint32_t id, std::uint64_t seed)
      : name_(std::move(name)), id_(id), rng_(seed, name_) {}
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Does all work due at ctx.now; returns when it next wants to run (Time::max(): not before
  // something arrives). Starts with inbox().run().
  virtual Time step(Context& ctx) = 0;

  const std::string& name() const { return name_; }
  std::uint32_t id() const { return id_; }
  Rng& rng() { return rng_; }
  Inbox& inbox() { return inbox_; }

  // Ports to poll in the next step: a World sets those that have an arrival due, a Worker all.
  PortSet& ready() { return ready_; }
  // Ports that have something behind them; the device keeps it.
  const PortSet& attached() const { return attached_; }
  void poll_all() { ready_.add(attached_); }

 protected:
  PortSet attached_;

 private:
  std::string name_;
  std::uint32_t id_;
  Rng rng_;
  Inbox inbox_;
  PortSet ready_;
};

// How an in-process link tells its receiver's clock that something will arrive. A World implements
// it; under a Worker, which polls, there is none.
class Waker {
 public:
  virtual void wake(Time at, Device& device, unsigned port) = 0;

 protected:
  ~Waker() = default;
};

}  // namespace frond
