// SPDX-License-Identifier: BSD-3-Clause
#include "sim/world.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/result.hpp"

namespace frond::sim {

void World::add(Device& device) {
  const std::uint32_t id = device.id();
  if (id >= slots_.size()) slots_.resize(id + std::size_t{1});
  Slot& slot = slots_[id];
  if (slot.device != nullptr) {
    throw StartError("devices '" + slot.device->name() + "' and '" + device.name() +
                     "' have the same id " + std::to_string(id));
  }
  slot = Slot{.device = &device};
  device.ready().set_all();
  schedule(id, slot, now_);
}

void World::remove(const Device& device) {
  Slot& slot = slots_[device.id()];
  slot.device = nullptr;  // may still be in due_: its step is skipped
  slot.wanted = Time::max();
  slot.depth = 0;
}

void World::at(Time time, std::function<void()> f) {
  std::uint32_t number;
  if (free_calls_.empty()) {
    number = static_cast<std::uint32_t>(calls_.size());
    calls_.push_back(std::move(f));
  } else {
    number = free_calls_.back();
    free_calls_.pop_back();
    calls_[number] = std::move(f);
  }
  queue_.push(std::max(time, now_), number, kNoPort, Event::Kind::call);
}

void World::post(Time time, Device& device, std::function<void()> f) {
  at(time, [this, &device, f = std::move(f)] {
    device.inbox().post(f);
    wake(now_, device, kNoPort);
  });
}

void World::run_until(Time end) {
  drain(end);
  now_ = std::max(now_, end);
}

bool World::run_until_idle(Time limit) {
  drain(limit);
  if (queue_.empty()) return true;
  now_ = std::max(now_, limit);
  return false;
}

void World::drain(Time until) {
  Event event;
  while (queue_.pop(until, event)) {
    now_ = event.time;
    check_progress();
    do {
      take(event);
    } while (queue_.pop(now_, event));
    step_due();
  }
}

inline void World::take(const Event& event) {
  ++statistics_.events;
  if (event.kind == Event::Kind::call) [[unlikely]]
    return run_call(event.target);
  if (event.target >= slots_.size() || slots_[event.target].device == nullptr) [[unlikely]] {
    ++statistics_.stale_wakes;
    return;
  }
  Slot& slot = slots_[event.target];
  if (event.kind == Event::Kind::self_wake) return self_wake(event.target, slot);
  if (event.port != kNoPort) slot.device->ready().set(event.port);
  set_due(event.target, slot);
}

// A device that puts its wish off, again and again, costs no event each time: the wake that is
// queued looks at the wish when it comes, and is queued again for later.
inline void World::self_wake(std::uint32_t id, Slot& slot) {
  if (slot.depth == 0 || slot.queued[slot.depth - 1U] != now_) {
    ++statistics_.stale_wakes;
    return;
  }
  --slot.depth;
  if (slot.wanted <= now_) return set_due(id, slot);
  ++statistics_.stale_wakes;
  schedule(id, slot, slot.wanted);
}

inline void World::schedule(std::uint32_t id, Slot& slot, Time wanted) {
  slot.wanted = wanted;
  if (wanted == Time::max()) return;
  wanted = std::max(wanted, now_);
  if (slot.depth != 0 && slot.queued[slot.depth - 1U] <= wanted) return;
  // When the array is full its earliest is forgotten; that wake will find no time here.
  if (slot.depth < Slot::kDepth) ++slot.depth;
  slot.queued[slot.depth - 1U] = wanted;
  queue_.push(wanted, id, kNoPort, Event::Kind::self_wake);
}

void World::step_due() {
  // Steps may make others due (a call inside a step): those run in the next round.
  stepping_.swap(due_);
  for (const std::uint32_t id : stepping_) {
    slots_[id].due = false;
    Device* device = slots_[id].device;
    if (device == nullptr) continue;
    Context ctx{now_, device->rng(), pool_, trace_ ? &hops_ : nullptr};
    ctx.device = id;
    const Time wanted = device->step(ctx);
    ++statistics_.steps;
    statistics_.work += ctx.work;
    schedule(id, slots_[id], wanted);
  }
  stepping_.clear();
}

void World::run_call(std::uint32_t number) {
  step_due();  // what was asked for before it
  const std::function<void()> f = std::exchange(calls_[number], nullptr);
  free_calls_.push_back(number);
  f();
}

// A device that wants to run "now" for ever would hang the World. A million rounds at one time is
// no simulation.
void World::check_progress() {
  if (now_ != round_time_) {
    round_time_ = now_;
    rounds_ = 0;
  } else if (++rounds_ == 1'000'000) {
    std::string names;
    for (const Slot& slot : slots_) {
      if (slot.device != nullptr && slot.wanted <= now_) names += " '" + slot.device->name() + "'";
    }
    throw std::logic_error("virtual time stands still at " + std::to_string(now_.ns()) +
                           " ns; devices that want to run again and again:" + names);
  }
}

}  // namespace frond::sim
