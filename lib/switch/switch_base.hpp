// SPDX-License-Identifier: BSD-3-Clause
// SwitchBase: what a switch is apart from its pipeline: ports with queues and lines, counters, and
// the face that control sees. It includes no feature.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/rate.hpp"
#include "engine/device.hpp"
#include "engine/pipeline.hpp"
#include "engine/port.hpp"
#include "engine/serialiser.hpp"
#include "switch/fifo.hpp"
#include "telemetry/counter.hpp"

namespace frond {

// Written by the switch's worker only. Octets count the FCS, as ifInOctets does (RFC 2863).
struct InterfaceCounters {
  Counter in_octets, in_pkts, in_multicast_pkts, in_broadcast_pkts;
  Counter out_octets, out_pkts, out_multicast_pkts, out_broadcast_pkts;
  Counter carrier_transitions;
};

// Why a port's state changed, and how long it took to notice.
struct PortEvent {
  Time time;
  std::uint16_t port;
  bool up;
  std::string_view mechanism;  // "admin", "carrier", "bfd"
  Time detection;              // bfd: since the last packet that was heard; else 0
};

class SwitchBase : public Device {
 public:
  struct PortConfig {
    std::string name;
    Rate rate = Rate::gbps(100);
    Bytes queue = Bytes::mib(1);
    bool admin_up = true;
  };

  // The switch's own drops; those of its pipeline come before them in drop_list().
  enum OwnDrop : std::uint8_t { queue_tail_drop, port_tx_full, port_down, kOwnDrops };
  static constexpr std::array<DropInfo, kOwnDrops> kOwnDropInfo{{
      {"queue_tail_drop", "the egress queue was full"},
      {"port_tx_full", "the port's ring was full when the line was free: the host is too slow"},
      {"port_down", "the egress or ingress port was down"},
  }};

  SwitchBase(std::string name, std::uint32_t id, std::uint64_t seed,
             const std::vector<PortConfig>& ports);
  ~SwitchBase() override;

  // --- Control face. Before the first step, or on the owner's thread (inbox). ---
  // The port must outlive the switch, or be detached (nullptr) first.
  void attach(std::uint16_t port, Port* io);
  void set_admin_up(Context& ctx, std::uint16_t port, bool up);
  void set_rate(std::uint16_t port, Rate rate);
  void set_queue_limit(std::uint16_t port, Bytes limit);
  // nullptr: stop. Ports whose bit is not set are not shown.
  void set_capture(CaptureSink* sink, PortSet ports);
  // Told on the owner's thread of every change of a port's state.
  void on_port_event(std::function<void(const PortEvent&)> callback) {
    port_event_ = std::move(callback);
  }

  // --- Readable by any thread ---
  unsigned port_count() const { return port_count_; }
  const std::string& port_name(std::uint16_t port) const { return ports_[port].name; }
  const InterfaceCounters& counters(std::uint16_t port) const { return ports_[port].counters; }
  // What keeps it down now, the nearest cause: "admin", "carrier", "bfd"; "" when nothing does.
  std::string_view down_reason(std::uint16_t port) const;
  bool admin_up(std::uint16_t port) const { return ports_[port].admin.value() != 0; }
  bool oper_up(std::uint16_t port) const { return ports_[port].oper.value() != 0; }
  std::uint64_t queue_bytes(std::uint16_t port) const { return ports_[port].depth.value(); }
  // Time that the line's timeline was rebased by: the CPU was too slow for the declared rate.
  Time line_lost(std::uint16_t port) const {
    return Time::ns(static_cast<std::int64_t>(ports_[port].lost.value()));
  }
  Rate rate(std::uint16_t port) const { return ports_[port].line.rate(); }
  const Port* io(std::uint16_t port) const { return ports_[port].io; }
  // All drops of the pipeline, then the switch's own (stage "queue").
  virtual std::span<const StageDrop> drop_list() const = 0;
  // At a port: where the packet came in; for the switch's own drops, where it would have left.
  virtual std::uint64_t drop_count(std::uint16_t port, unsigned index) const = 0;

 protected:
  struct PortSlot {
    std::string name;
    Port* io = nullptr;
    Serialiser line;
    Fifo queue;
    Gauge admin, carrier, alive, oper, depth, lost;  // alive: BFD has not said otherwise
    InterfaceCounters counters;
    std::array<Counter, kOwnDrops> drops;
  };

  // The pipeline's part of a port's change of state.
  virtual void port_changed(Context& ctx, std::uint16_t port, bool up) = 0;

  // The steps of a step, in order.
  void look_at_carrier(Context& ctx);
  // Appends what has arrived to arrivals_, in order of arrival time. Returns the time up to which
  // they are complete: later ones wait for the next step.
  Time receive(Context& ctx);
  void enqueue(Context& ctx, Batch& batch);
  void enqueue_own(Context& ctx);  // what slow paths sent
  void transmit(Context& ctx, Time until);
  Time next_departure() const;

  std::uint64_t own_drops(std::uint16_t port, unsigned index) const {
    return ports_[port].drops[index].value();
  }

  void set_alive(Context& ctx, std::uint16_t port, bool alive, Time detection);

  std::vector<Packet*> arrivals_;
  std::vector<Packet*> out_;
  Time sent_until_ = Time::min();  // the last transmit()
  CaptureSink* capture_ = nullptr;
  PortSet captured_;

 private:
  void update_oper(Context& ctx, std::uint16_t port, std::string_view mechanism, Time detection);
  void count_in(PortSlot& slot, std::uint16_t index, Packet* const* packets, unsigned n);
  void count_out(PortSlot& slot, const Batch& batch, std::uint64_t octets, bool group);
  void flush(Context& ctx, std::uint16_t index, Batch& batch, std::uint64_t octets, bool group);
  void push(Context& ctx, Packet* packet);
  void drop(Context& ctx, PortSlot& slot, Packet* packet, OwnDrop reason);

  std::unique_ptr<PortSlot[]> ports_;
  std::uint16_t port_count_;
  PortSet backlog_;  // ports whose queue is not empty
  std::function<void(const PortEvent&)> port_event_;
};

}  // namespace frond
