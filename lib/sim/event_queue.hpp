// SPDX-License-Identifier: BSD-3-Clause
// EventQueue: what is to happen, earliest first; equal times in the order in which they were asked
// for. Virtual time never runs backwards, so this is a radix queue (Ahuja, Mehlhorn, Orlin, Tarjan
// 1990) of wide digits: an event waits at the level of the highest digit in which its time differs
// from the queue's, in the slot of that digit. Level 0 has a slot a nanosecond. A slot is a list,
// and an event only ever moves down, to the end of a list, so order among equals needs no number.
// Push and pop are O(1), an event moves down at most kLevels - 1 times; nothing is allocated once
// the pool of nodes has grown to the largest number of pending events.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/time.hpp"

namespace frond::sim {

struct Event {
  enum class Kind : std::uint8_t { arrival, self_wake, call };
  Time time;
  std::uint32_t target = 0;  // device id; of a call: its number
  std::uint16_t port = 0;    // of an arrival
  Kind kind = Kind::arrival;
};

template <unsigned kDigitBits> class BasicEventQueue {
 public:
  BasicEventQueue() : levels_(std::make_unique<std::array<Level, kLevels>>()) {}

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  // Not before the last event that was popped, nor before the `until` of a pop that found nothing.
  void push(Time time, std::uint32_t target, std::uint16_t port, Event::Kind kind) {
    ++size_;
    std::uint32_t node = free_;
    if (node != kNone) [[likely]] {
      free_ = nodes_[node].next;
    } else {
      node = static_cast<std::uint32_t>(nodes_.size());
      nodes_.emplace_back();
    }
    // Field by field, here and in pop: a copy of a struct that was just written in parts waits for
    // its stores (no store forwarding).
    Node& n = nodes_[node];
    n.event.time = time;
    n.event.target = target;
    n.event.port = port;
    n.event.kind = kind;
    n.next = kNone;
    place(node, time.ns());
  }

  // Takes the earliest event if its time is not after `until`.
  bool pop(Time until, Event& event) {
    Level& bottom = (*levels_)[0];
    while (!bottom.any()) {
      if (!descend(until)) return false;
    }
    const unsigned slot = bottom.first();
    if ((base_ & ~std::int64_t{kSlots - 1}) + slot > until.ns()) return false;
    List& list = bottom.lists[slot];
    const std::uint32_t node = list.head;
    Node& n = nodes_[node];
    event.time = n.event.time;
    event.target = n.event.target;
    event.port = n.event.port;
    event.kind = n.event.kind;
    list.head = n.next;
    if (list.head == kNone) {
      bottom.clear(slot);
    } else {
      __builtin_prefetch(&nodes_[list.head]);
    }
    n.next = free_;
    free_ = node;
    base_ = n.event.time.ns();
    --size_;
    return true;
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  static constexpr unsigned kSlots = 1U << kDigitBits;
  static constexpr unsigned kLevels = (63 + kDigitBits - 1) / kDigitBits;
  static constexpr unsigned kWords = kSlots / 64;
  static_assert(kDigitBits >= 6 && kDigitBits <= 12, "a summary word has a bit per 64 slots");

  struct Node {
    Event event;
    std::uint32_t next;
  };
  struct List {
    std::uint32_t head, tail;
  };
  struct Level {
    std::uint64_t summary = 0;  // which words are not zero
    std::array<std::uint64_t, kWords> words{};
    std::array<List, kSlots> lists;  // valid where the bit is set

    bool any() const { return summary != 0; }
    unsigned first() const {
      const auto word = static_cast<unsigned>(std::countr_zero(summary));
      return word * 64 + static_cast<unsigned>(std::countr_zero(words[word]));
    }
    bool test(unsigned slot) const { return (words[slot / 64] >> (slot % 64) & 1) != 0; }
    void set(unsigned slot) {
      words[slot / 64] |= std::uint64_t{1} << (slot % 64);
      summary |= std::uint64_t{1} << (slot / 64);
    }
    void clear(unsigned slot) {
      words[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
      if (words[slot / 64] == 0) summary &= ~(std::uint64_t{1} << (slot / 64));
    }
  };

  void place(std::uint32_t node, std::int64_t time) {
    const auto differs = static_cast<std::uint64_t>(time ^ base_) | 1;
    const unsigned level = (63U - static_cast<unsigned>(std::countl_zero(differs))) / kDigitBits;
    const auto slot = static_cast<unsigned>(time >> (level * kDigitBits)) & (kSlots - 1);
    Level& l = (*levels_)[level];
    List& list = l.lists[slot];
    if (l.test(slot)) {
      nodes_[list.tail].next = node;
      list.tail = node;
    } else {
      list = {node, node};
      l.set(slot);
    }
  }

  // Opens the earliest slot of the lowest level that has one: its events move down. False when
  // nothing there can be due by `until`.
  bool descend(Time until) {
    for (unsigned level = 1; level < kLevels; ++level) {
      Level& l = (*levels_)[level];
      if (!l.any()) continue;
      const unsigned slot = l.first();
      const unsigned shift = level * kDigitBits;
      // The digits above this level are those of base_, the ones below are zero.
      const std::uint64_t above =
          shift + kDigitBits >= 64 ? 0 : ~std::uint64_t{0} << (shift + kDigitBits);
      const auto start = static_cast<std::int64_t>((static_cast<std::uint64_t>(base_) & above) |
                                                   std::uint64_t{slot} << shift);
      if (start > until.ns()) return false;
      base_ = start;
      std::uint32_t node = l.lists[slot].head;
      l.clear(slot);
      while (node != kNone) {
        const std::uint32_t next = nodes_[node].next;
        nodes_[node].next = kNone;
        place(node, nodes_[node].event.time.ns());
        node = next;
      }
      return true;
    }
    return false;
  }

  std::unique_ptr<std::array<Level, kLevels>> levels_;
  std::vector<Node> nodes_;
  std::uint32_t free_ = kNone;
  std::int64_t base_ = 0;  // no pending event is earlier
  std::size_t size_ = 0;
};

// 4,096 slots a level: see perf/micro/event_queue_bench.cpp.
using EventQueue = BasicEventQueue<12>;

}  // namespace frond::sim
