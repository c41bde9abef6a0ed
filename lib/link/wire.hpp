// SPDX-License-Identifier: BSD-3-Clause
// Wire: an in-process, full-duplex link with two ends. It adds its propagation delay to a packet's
// departure; the line rate belongs to the device that sends (engine/serialiser.hpp).
//
// Both clocks. In a World (one_thread) the receiver is woken at each arrival and a wire holds what
// it must. Under Workers the ends may be on two threads: each direction is a bounded ring, and the
// receiver, which polls, is given what has arrived by now.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/fields.hpp"
#include "engine/port.hpp"
#include "link/direction.hpp"

namespace frond::link {

struct WireConfig {
  Time delay = Time::ns(500);  // 100 m of fibre
  std::uint32_t mtu = 9216;
  unsigned ring = 4096;

  template <class F> static void fields(F& f) {
    f("delay", &WireConfig::delay, "", "Propagation delay", at_least(Time()));
    f("mtu", &WireConfig::mtu, "bytes", "What may follow the Ethernet header and its VLAN tags",
      range(68, 65'521));
    f("ring", &WireConfig::ring, "packets", "In flight each way, at most (not in virtual time)",
      range(64, 1 << 20));
  }
};

class Wire {
 public:
  enum class Threads : std::uint8_t { one, two };

  class End final : public Port {
   public:
    // The device that holds this end, and its number for it. waker: the World's, or nullptr. Before
    // the first step.
    void attach(Device& device, unsigned port, Waker* waker) {
      in_->on_arrival(&device, port, waker);
    }
    void detach() { in_->on_arrival(nullptr, 0, nullptr); }

    unsigned receive(Time now, Batch& batch) override;
    unsigned transmit(Time now, Batch& batch) override;
    bool up() const override { return wire_->up(); }

    // Of the direction that starts here. Any thread.
    std::span<const DropInfo> drop_info() const override { return kWireDropInfo; }
    std::uint64_t drops(unsigned index) const override { return out_->drops(index); }
    const WireCounters& counters() const { return out_->counters(); }

    // Control: the direction that starts here.
    void impair(const Impairment& impairment) {
      configured_ = impairment;
      out_->impair(impairment);
    }
    const Impairment& impairment() const { return configured_; }

   private:
    friend class Wire;
    End(const Wire& wire, Direction& out, Direction& in) : wire_(&wire), out_(&out), in_(&in) {}
    const Wire* wire_;
    Direction* out_;
    Direction* in_;
    Impairment configured_;  // control only
  };

  // name and seed: of the two generators.
  Wire(std::string name, std::uint64_t seed, const WireConfig& config, Threads threads,
       PacketPool& pool);
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  End& a() { return a_; }
  End& b() { return b_; }
  const End& a() const { return a_; }
  const End& b() const { return b_; }
  const std::string& name() const { return name_; }
  const WireConfig& config() const { return config_; }

  // Control, one thread. Going down loses what is in flight both ways; both devices see it when
  // they poll, or are woken at `now`.
  void set_carrier(Time now, bool up);
  bool up() const { return up_.load(std::memory_order_acquire); }

 private:
  Direction::Config direction_config() const;

  const std::string name_;
  const WireConfig config_;
  const Threads threads_;
  // Control writes both; down_count_ first, so who sees the carrier back sees that it was away.
  std::atomic<bool> up_ = true;
  std::atomic<std::uint32_t> down_count_ = 0;
  Direction ab_, ba_;
  End a_, b_;
};

}  // namespace frond::link
