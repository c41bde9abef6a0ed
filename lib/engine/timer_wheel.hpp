// SPDX-License-Identifier: BSD-3-Clause
// TimerWheel: the timers of one feature of one device. Hierarchical (Varghese, Lauck 1987): arming
// and cancelling cost a list link, nothing is allocated. Expiry is exact: the wheel only sorts
// coarsely, and each timer keeps its nanosecond, so virtual time sees no rounding.
//
// A timer's level is the highest group of six bits in which its tick differs from the wheel's
// position. So all timers of a level are due before all of the next one, and the earliest is in
// the first occupied slot of the first occupied level.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "base/time.hpp"

namespace frond {

class TimerWheel {
 public:
  // Lives in its owner's object, which must not move and must cancel it before it dies.
  class Timer {
   public:
    explicit Timer(std::uint32_t timer_key = 0) : key(timer_key) {}
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    bool armed() const { return armed_; }
    Time due() const { return due_; }  // when armed
    std::uint32_t key;                 // the owner's: which object this is

   private:
    friend class TimerWheel;
    Time due_;
    Timer* next_ = nullptr;
    Timer* prev_ = nullptr;
    bool armed_ = false;
    std::uint8_t level_ = 0;
    std::uint8_t slot_ = 0;
  };

  TimerWheel() = default;
  TimerWheel(const TimerWheel&) = delete;
  TimerWheel& operator=(const TimerWheel&) = delete;

  // An armed timer is moved. Time::max() means never: the timer is cancelled. A time that has
  // passed is due at the next expire().
  void arm(Timer& timer, Time due) {
    cancel(timer);
    if (due == Time::max()) return;
    timer.due_ = due;
    timer.armed_ = true;
    ++size_;
    link(timer);
    if (known_) next_ = std::min(next_, due);
  }

  void cancel(Timer& timer) {
    if (!timer.armed_) return;
    unlink(timer);
    timer.armed_ = false;
    --size_;
    if (timer.due_ == next_) known_ = false;
  }

  // The earliest timer that is due at `now`, no longer armed; nullptr when there is none. Of equal
  // times the one that was armed first. `now` must not go back.
  Timer* expire(Time now) {
    const std::uint64_t now_tick = tick(now);
    for (;;) {
      const unsigned level = first_level();
      if (level == kLevels) break;
      const auto slot = static_cast<unsigned>(std::countr_zero(used_[level]));
      const std::uint64_t start = slot_start(level, slot);
      if (start > now_tick) break;
      position_ = std::max(position_, start);
      if (level > 0) {
        cascade(level, slot);
        continue;
      }
      Timer* first = earliest(level, slot);
      if (first->due_ > now) return nullptr;
      cancel(*first);
      return first;
    }
    position_ = std::max(position_, now_tick);
    return nullptr;
  }

  // When the earliest timer is due; Time::max() without one. Looks at the timers of one slot, and
  // only when the earliest has changed.
  Time next_due() const {
    if (!known_) {
      const unsigned level = first_level();
      next_ = level == kLevels
                  ? Time::max()
                  : earliest(level, static_cast<unsigned>(std::countr_zero(used_[level])))->due_;
      known_ = true;
    }
    return next_;
  }

  unsigned size() const { return size_; }

 private:
  static constexpr unsigned kTickShift = 12;  // 4 us
  static constexpr unsigned kBits = 6;
  static constexpr unsigned kSlots = 1U << kBits;
  static constexpr unsigned kLevels = 9;  // 12 + 54 bits: more than Time has

  static std::uint64_t tick(Time t) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(t.ns(), 0)) >> kTickShift;
  }

  unsigned first_level() const {
    unsigned level = 0;
    while (level < kLevels && used_[level] == 0) ++level;
    return level;
  }

  // The first tick of an occupied slot: it shares the position's bits above its level.
  std::uint64_t slot_start(unsigned level, unsigned slot) const {
    const unsigned shift = level * kBits;
    const std::uint64_t above = position_ >> shift & ~std::uint64_t{kSlots - 1};
    return (above | slot) << shift;
  }

  void link(Timer& timer) {
    const std::uint64_t at = std::max(tick(timer.due_), position_);
    const std::uint64_t differs = at ^ position_;
    const unsigned level =
        differs == 0 ? 0 : (63U - static_cast<unsigned>(std::countl_zero(differs))) / kBits;
    const auto slot = static_cast<unsigned>(at >> (level * kBits)) & (kSlots - 1);
    timer.level_ = static_cast<std::uint8_t>(level);
    timer.slot_ = static_cast<std::uint8_t>(slot);
    timer.next_ = nullptr;
    List& list = lists_[level][slot];
    timer.prev_ = list.last;
    (list.last == nullptr ? list.first : list.last->next_) = &timer;
    list.last = &timer;
    used_[level] |= std::uint64_t{1} << slot;
  }

  void unlink(Timer& timer) {
    List& list = lists_[timer.level_][timer.slot_];
    (timer.prev_ == nullptr ? list.first : timer.prev_->next_) = timer.next_;
    (timer.next_ == nullptr ? list.last : timer.next_->prev_) = timer.prev_;
    if (list.first == nullptr) used_[timer.level_] &= ~(std::uint64_t{1} << timer.slot_);
  }

  // The position has entered this slot: its timers move to lower levels, in order.
  void cascade(unsigned level, unsigned slot) {
    Timer* timer = lists_[level][slot].first;
    lists_[level][slot] = {};
    used_[level] &= ~(std::uint64_t{1} << slot);
    while (timer != nullptr) {
      Timer* next = timer->next_;
      link(*timer);
      timer = next;
    }
  }

  Timer* earliest(unsigned level, unsigned slot) const {
    Timer* first = lists_[level][slot].first;
    for (Timer* t = first->next_; t != nullptr; t = t->next_) {
      if (t->due_ < first->due_) first = t;
    }
    return first;
  }

  struct List {
    Timer* first = nullptr;
    Timer* last = nullptr;
  };
  std::array<std::array<List, kSlots>, kLevels> lists_{};
  std::array<std::uint64_t, kLevels> used_{};  // a bit an occupied slot
  std::uint64_t position_ = 0;                 // in ticks; never behind a timer's slot
  unsigned size_ = 0;
  mutable Time next_ = Time::max();  // valid when known_
  mutable bool known_ = true;
};

}  // namespace frond
