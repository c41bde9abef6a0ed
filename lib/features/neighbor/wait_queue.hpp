// SPDX-License-Identifier: BSD-3-Clause
// WaitQueue: packets that wait for their neighbour's MAC address, in order of arrival. One pool of
// places for all neighbours of a switch, so what hostile peers can make it hold is bounded.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "packet/packet.hpp"

namespace frond::neighbor {

class WaitQueue {
 public:
  static constexpr std::uint32_t kNone = 0xffffffff;

  // The packets of one neighbour. Empty before its neighbour goes.
  struct List {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
    std::uint32_t size = 0;
  };

  explicit WaitQueue(std::uint32_t limit) : limit_(limit) {}

  bool full() const { return size_ == limit_; }
  std::uint32_t size() const { return size_; }

  // Not when full().
  void push(List& list, Packet* packet) {
    std::uint32_t place = free_;
    if (place == kNone) {  // places are made when first needed: most switches never queue
      place = static_cast<std::uint32_t>(places_.size());
      places_.push_back({});
    } else {
      free_ = places_[place].next;
    }
    places_[place] = {packet, kNone};
    (list.size == 0 ? list.first : places_[list.last].next) = place;
    list.last = place;
    ++list.size;
    ++size_;
  }

  // The oldest; nullptr when there is none.
  Packet* pop(List& list) {
    if (list.size == 0) return nullptr;
    const std::uint32_t place = list.first;
    Packet* packet = places_[place].packet;
    list.first = places_[place].next;
    --list.size;
    --size_;
    places_[place].next = std::exchange(free_, place);
    return packet;
  }

 private:
  struct Place {
    Packet* packet = nullptr;
    std::uint32_t next = kNone;
  };
  std::vector<Place> places_;
  std::uint32_t free_ = kNone;
  std::uint32_t size_ = 0;
  std::uint32_t limit_;
};

}  // namespace frond::neighbor
