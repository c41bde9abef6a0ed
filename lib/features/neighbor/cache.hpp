// SPDX-License-Identifier: BSD-3-Clause
// Cache: what is known of the neighbours at all ports (RFC 4861 5.1). Entries are found by (port,
// address), so what is heard at one port never touches those of another. Its size is bounded in
// all and per port, and those that nobody has answered for are bounded once more, so that a scan
// of a subnet does not keep its real hosts out.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "base/address.hpp"
#include "engine/timer_wheel.hpp"
#include "features/neighbor/wait_queue.hpp"

namespace frond::neighbor {

// RFC 4861 7.3.2, without DELAY: nothing tells whether the data path uses an entry, so a stale one
// is probed after the same delay whether it is used or not (as switch chips do).
enum class Reach : std::uint8_t {
  incomplete,  // asked for, no answer yet; packets wait
  reachable,   // confirmed less than the ageing time ago
  stale,       // usable, but not confirmed, or no longer
  probe,       // usable; asked, no answer yet
  failed,      // nobody answered; not asked again before a pause has passed
};

struct Entry {
  IpAddress address;
  std::uint16_t port = 0;
  Reach state = Reach::incomplete;
  std::uint8_t asked = 0;   // solicitations sent in this state
  MacAddress mac;           // when usable()
  TimerWheel::Timer timer;  // its key: this entry's index
  WaitQueue::List waiting;  // while incomplete

  bool usable() const { return state != Reach::incomplete && state != Reach::failed; }

 private:
  friend class Cache;
  bool live_ = false;
  Entry* chain_ = nullptr;  // of its bucket, or of the free entries
};

class Cache {
 public:
  struct Limits {
    std::uint32_t total = 4096;
    std::uint32_t per_port = 1024;
    std::uint32_t unresolved_per_port = 128;
  };

  // seed: so that nobody can choose addresses that share a bucket.
  Cache(const Limits& limits, unsigned ports, std::uint64_t seed)
      : limits_(limits), seed_(seed), buckets_(kBuckets), ports_(ports) {}

  Entry* find(std::uint16_t port, const IpAddress& address);
  // A new one, in state incomplete; nullptr when a limit is reached.
  Entry* add(std::uint16_t port, const IpAddress& address, bool resolved);
  // All changes of state go through here: unresolved ones are counted.
  void set_state(Entry& entry, Reach state);
  // Nothing waits for it and its timer is not armed.
  void remove(Entry& entry);

  Entry& at(std::uint32_t index) { return entries_[index]; }
  std::uint32_t size() const { return size_; }
  std::uint32_t size(std::uint16_t port) const { return ports_[port].entries; }

  // f may remove the entry that it is given.
  template <class F> void for_each(F&& f) {
    for (Entry& entry : entries_) {
      if (entry.live_) f(entry);
    }
  }

 private:
  static constexpr unsigned kBuckets = 256;
  struct PortCount {
    std::uint32_t entries = 0;
    std::uint32_t unresolved = 0;
  };

  Entry*& bucket(std::uint16_t port, const IpAddress& address);
  static bool resolved(Reach state) { return state != Reach::incomplete && state != Reach::failed; }

  Limits limits_;
  std::uint64_t seed_;
  std::vector<Entry*> buckets_;
  std::deque<Entry> entries_;  // never shrinks, never moves
  Entry* free_ = nullptr;
  std::uint32_t size_ = 0;
  std::vector<PortCount> ports_;
};

}  // namespace frond::neighbor
