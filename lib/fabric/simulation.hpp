// SPDX-License-Identifier: BSD-3-Clause
// Simulation: a Plan in virtual time: switches, wires and hosts in one World, with the controller's
// decisions delivered as events.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "fabric/controller.hpp"
#include "fabric/plan.hpp"
#include "link/wire.hpp"
#include "sim/udp_host.hpp"
#include "sim/world.hpp"

namespace frond::fabric {

class Simulation {
 public:
  // After EAL. Throws StartError.
  explicit Simulation(const Plan& plan);
  ~Simulation();

  // Up to the plan's duration, then until the last packet has arrived or died (bounded).
  void run();
  // Up to that time: for tests that look in between.
  void run_until(Time end) { world_.run_until(end); }

  // What a port noticed, in order.
  struct SeenEvent {
    Time time;
    topology::End end;
    bool up;
    std::string mechanism;
    Time detection;
    Time converged;  // when the last switch had its new routes; the time itself if none changed
  };

  const Plan& plan() const { return plan_; }
  sim::World& world() { return world_; }
  const sim::World& world() const { return world_; }
  SwitchUnit& unit(std::uint32_t node) { return *units_[node]; }
  const SwitchUnit* find_unit(std::uint32_t node) const { return units_[node].get(); }
  sim::UdpHost& host(std::uint32_t node) { return *hosts_[node]; }
  const sim::UdpHost* find_host(std::uint32_t node) const { return hosts_[node].get(); }
  link::Wire& wire(std::uint32_t link) { return *wires_[link]; }
  const link::Wire& wire(std::uint32_t link) const { return *wires_[link]; }
  const std::vector<SeenEvent>& events() const { return events_; }
  // The time by which the traffic had ended and the network was empty.
  Time ended() const { return ended_; }

 private:
  link::Wire::End& wire_end(topology::End end);
  void build_switches();
  void build_hosts();
  void build_wires();
  void know_host(SwitchUnit& unit, topology::End port);
  void schedule_events();
  void port_event(std::uint32_t node, const PortEvent& event);
  void install(const SwitchChange& change);
  void deliver(std::vector<SwitchChange> changes);

  Plan plan_;
  sim::World world_;
  Controller controller_;
  // Before the devices: what these hold goes first.
  std::vector<std::unique_ptr<link::Wire>> wires_;    // by link
  std::vector<std::unique_ptr<SwitchUnit>> units_;    // by node
  std::vector<std::unique_ptr<sim::UdpHost>> hosts_;  // by node
  std::vector<SeenEvent> events_;
  Time ended_;
};

}  // namespace frond::fabric
