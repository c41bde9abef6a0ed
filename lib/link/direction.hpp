// SPDX-License-Identifier: BSD-3-Clause
// Direction: half of a wire, from one device to the other. The sending device's worker calls send;
// the receiving one's calls receive; control calls the rest. In a World all three are one thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/rng.hpp"
#include "base/time.hpp"
#include "engine/device.hpp"
#include "engine/verdict.hpp"
#include "link/impairment.hpp"
#include "link/spsc_ring.hpp"
#include "packet/batch.hpp"
#include "packet/pool.hpp"
#include "telemetry/counter.hpp"

namespace frond::link {

enum WireDrop : std::uint8_t {
  wire_loss,
  wire_blackhole,
  wire_down,
  wire_mtu,
  wire_full,
  wire_no_buffer,
  kWireDrops
};
inline constexpr std::array<DropInfo, kWireDrops> kWireDropInfo{{
    {"wire_loss", "lost by the wire's impairment"},
    {"wire_blackhole", "lost by an impairment that loses everything and leaves the carrier up"},
    {"wire_down", "sent while the carrier was down, or in flight when it went down"},
    {"wire_mtu", "longer than the wire's MTU allows"},
    {"wire_full", "the receiver did not keep up: more in flight than the wire holds"},
    {"wire_no_buffer", "no buffer for a duplicated or corrupted copy"},
}};

// Written by the sender's worker.
struct WireCounters {
  Counter packets;  // that went onto the wire and were not lost; duplicates included
  Counter octets;   // their bytes, with FCS and padding: (octets + 20 * packets) is line time
  Counter corrupted, duplicated, reordered;
};

class Direction {
 public:
  struct Config {
    Time delay;
    std::uint32_t mtu;
    unsigned ring;
    bool one_thread;
  };
  Direction(const Config& config, Rng rng, PacketPool& pool);
  ~Direction();
  Direction(const Direction&) = delete;
  Direction& operator=(const Direction&) = delete;

  // --- Sender: takes the whole batch ---
  void send(Batch& batch, bool up);

  // --- Receiver ---
  // down_count: how often the carrier has gone down. When that is news, what is in flight is lost;
  // on two threads that includes what was sent since it came back.
  unsigned receive(Time now, Batch& batch, bool up, std::uint32_t down_count);
  // Who is told of arrivals. Before the first step; nullptr: the receiver polls.
  void on_arrival(Device* device, unsigned port, Waker* waker) {
    device_ = device;
    port_ = port;
    waker_ = waker;
  }
  void tell(Time now) {
    if (waker_ != nullptr) waker_->wake(now, *device_, port_);
  }
  // The carrier went down, for the down_count-th time: what is in flight is lost.
  void cut(std::uint32_t down_count) {
    down_seen_ = down_count;
    discard();
  }

  // Nothing is in flight. The receiver's question.
  bool empty() { return held_.empty() && ring_.front() == nullptr; }

  // --- Control: takes effect with the next packet that is sent ---
  void impair(const Impairment& impairment);

  // --- Any thread ---
  const WireCounters& counters() const { return counters_; }
  std::uint64_t drops(unsigned index) const {
    return drops_[index].value() + (index == wire_down ? cut_off_.value() : 0);
  }

 private:
  struct InFlight {
    Time arrival;
    Packet* packet = nullptr;
  };
  struct Held {
    InFlight flight;
    std::uint64_t sequence;
    // For a heap whose top is the earliest.
    bool operator<(const Held& o) const {
      return flight.arrival != o.flight.arrival ? flight.arrival > o.flight.arrival
                                                : sequence > o.sequence;
    }
  };

  bool fits(const Packet& packet) const;
  void launch(Packet* packet, Time arrival);
  void launch_impaired(Packet* packet, Time arrival);
  Time impaired_arrival(Time arrival);
  Packet* corrupt(Packet* packet);
  void drop(Packet* packet, WireDrop reason) {
    ++drops_[reason];
    packet->free();
  }
  unsigned receive_in_order(Time now, Batch& batch);
  unsigned receive_by_arrival(Time now, Batch& batch);
  static void hand_over(const InFlight& flight, Batch& batch);
  void discard();

  // Sender, for every packet: one cache line.
  alignas(64) const Time delay_;
  std::atomic<Impairment*> pending_ = nullptr;  // control writes; the sender takes it
  const std::uint32_t mtu_;
  unsigned port_ = 0;
  Waker* waker_ = nullptr;
  Device* device_ = nullptr;  // the receiver
  Time latest_arrival_;
  Time woken_ = Time::min();  // within one send(): one wake for packets that arrive together
  bool impaired_ = false;

  // Sender writes, anyone reads.
  alignas(64) WireCounters counters_;
  std::array<Counter, kWireDrops> drops_;
  // Counts packets that arrive before one that was sent earlier. Written before the ring's
  // publish(), so the receiver that sees the packet sees the count.
  alignas(64) std::atomic<std::uint64_t> overtakings_ = 0;

  // Sender, where there is an impairment.
  Rng rng_;
  Impairment impairment_;
  PacketPool& pool_;

  SpscRing<InFlight> ring_;

  // Receiver only.
  alignas(64) std::vector<Held> held_;  // a heap; used while packets overtake each other
  std::uint64_t held_sequence_ = 0;
  std::uint64_t overtakings_seen_ = 0;
  std::uint32_t down_seen_ = 0;
  const std::size_t held_limit_;
  Counter cut_off_;  // in flight when the carrier went down
};

}  // namespace frond::link
