// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/simulation.hpp"

#include <algorithm>
#include <utility>

#include "base/result.hpp"

namespace frond::fabric {

using topology::End;
using topology::kNone;

namespace {

// Packets in flight at once are bounded by queues, but only their sum is: take what a fabric of
// this size can hold with every queue a tenth full, within limits.
sim::World::Config world_config(const Plan& plan) {
  const std::size_t ports = plan.topology.links.size() * 2;
  sim::World::Config config;
  config.name = "world-" + plan.name;
  config.pool.packets =
      static_cast<unsigned>(std::clamp<std::size_t>(ports * 256, 65'536, 1'048'576)) - 1;
  config.pool.data_room = 256;  // payload is elided; control frames are short
  return config;
}

}  // namespace

Simulation::Simulation(const Plan& plan)
    : plan_(plan),
      world_(world_config(plan_)),
      controller_(plan_.topology, plan_.addressing),
      units_(plan_.topology.nodes.size()),
      hosts_(plan_.topology.nodes.size()) {
  build_switches();
  build_hosts();
  build_wires();
  for (const SwitchChange& change : controller_.initial()) install(change);
  for (auto& unit : units_) {
    if (unit) world_.add(unit->device());
  }
  for (auto& host : hosts_) {
    if (host) world_.add(*host);
  }
  schedule_events();
}

Simulation::~Simulation() = default;

void Simulation::build_switches() {
  const topology::Topology& topology = plan_.topology;
  for (std::uint32_t node = 0; node < topology.nodes.size(); ++node) {
    if (!topology.nodes[node].is_switch()) continue;
    const auto ports = static_cast<unsigned>(topology.nodes[node].ports.size());
    units_[node] = make_switch(topology, node, node, plan_.seed, ports, plan_.switches[node]);
    units_[node]->device().on_port_event(
        [this, node](const PortEvent& event) { port_event(node, event); });
  }
}

void Simulation::build_hosts() {
  const topology::Topology& topology = plan_.topology;
  for (std::uint32_t node = 0; node < topology.nodes.size(); ++node) {
    if (topology.nodes[node].is_switch()) continue;
    const auto peer = topology.peer({node, 0});
    if (!peer) continue;  // a host that nothing connects
    const topology::Interface& own = plan_.addressing.at({node, 0});
    sim::UdpHost::Config config{.mac = own.mac,
                                .gateway = plan_.addressing.at(*peer).mac,
                                .rate = topology.links[topology.port({node, 0}).link].rate};
    for (const IpPrefix& address : own.addresses) config.addresses.push_back(address.address);
    hosts_[node] = std::make_unique<sim::UdpHost>(topology.nodes[node].name, node, plan_.seed,
                                                  std::move(config));
  }
  for (const HostFlow& flow : plan_.flows) hosts_[flow.host]->add(flow.flow);
}

void Simulation::build_wires() {
  for (std::uint32_t i = 0; i < plan_.topology.links.size(); ++i) {
    const topology::Link& link = plan_.topology.links[i];
    wires_.push_back(
        std::make_unique<link::Wire>(plan_.topology.link_name(link), plan_.seed,
                                     link::WireConfig{.delay = link.delay, .mtu = link.mtu},
                                     link::Wire::Threads::one, world_.pool()));
    link::Wire& wire = *wires_.back();
    wire.a().impair(plan_.links[i].from_a);
    wire.b().impair(plan_.links[i].from_b);
    if (!plan_.links[i].admin_up) wire.set_carrier(Time(), false);
    for (const End end : {link.a, link.b}) {
      link::Wire::End& io = wire_end(end);
      if (units_[end.node]) {
        SwitchUnit& unit = *units_[end.node];
        io.attach(unit.device(), end.port, &world_);
        configure_port(unit, plan_.topology, plan_.addressing, end);
        watch_neighbor(unit, plan_.topology, plan_.addressing, end);
        know_host(unit, end);
        unit.device().attach(end.port, &io);
      } else {
        io.attach(*hosts_[end.node], 0, &world_);
        hosts_[end.node]->attach(&io);
      }
    }
  }
}

// Traffic starts at full rate: hosts are known, as if they had talked before.
void Simulation::know_host(SwitchUnit& unit, End port) {
  const auto peer = plan_.topology.peer(port);
  if (!peer || plan_.topology.nodes[peer->node].is_switch()) return;
  const topology::Interface& host = plan_.addressing.at(*peer);
  for (const IpPrefix& address : host.addresses) {
    const Status status = unit.router().set_static_neighbor(port.port, address.address, host.mac);
    if (!status.ok()) throw StartError(unit.device().name() + ": " + status.error().message);
  }
}

link::Wire::End& Simulation::wire_end(End end) {
  const std::uint32_t link = plan_.topology.port(end).link;
  return plan_.topology.links[link].a == end ? wires_[link]->a() : wires_[link]->b();
}

void Simulation::schedule_events() {
  for (const LinkEvent& event : plan_.events) {
    world_.at(event.at, [this, event] {
      const std::uint32_t link = plan_.topology.port(event.end).link;
      switch (event.kind) {
        case LinkEvent::Kind::down:
          wires_[link]->set_carrier(world_.now(), false);
          break;
        case LinkEvent::Kind::up:
          wires_[link]->set_carrier(world_.now(), true);
          break;
        case LinkEvent::Kind::impair:
          wire_end(event.end).impair(event.impairment);
          break;
      }
    });
  }
}

void Simulation::port_event(std::uint32_t node, const PortEvent& event) {
  const End end{node, event.port};
  events_.push_back(
      {event.time, end, event.up, std::string(event.mechanism), event.detection, event.time});
  auto changes = controller_.port_changed(end, event.up);
  if (changes.empty()) return;
  const Time due = event.time + plan_.control_delay;
  events_.back().converged = due;
  world_.at(due, [this, changes = std::move(changes)]() mutable { deliver(std::move(changes)); });
}

void Simulation::deliver(std::vector<SwitchChange> changes) {
  for (SwitchChange& change : changes) {
    SwitchUnit& unit = *units_[change.node];
    world_.post(world_.now(), unit.device(), [this, c = std::move(change)] { install(c); });
  }
}

void Simulation::install(const SwitchChange& change) {
  SwitchUnit& unit = *units_[change.node];
  const Status status = unit.routes().apply(plan_.topology, plan_.addressing, change.node,
                                            change.changes, unit.router());
  // A plan that asks for more than a switch holds cannot be run at all.
  if (!status.ok()) throw StartError(unit.device().name() + ": " + status.error().message);
}

void Simulation::run() {
  world_.run_until(plan_.duration);
  // BFD never ends, so the World never idles: look until nothing is under way, for a second.
  ended_ = plan_.duration;
  const Time limit = plan_.duration + Time::s(1);
  while (world_.pool().in_use() != 0 && world_.now() < limit) {
    world_.run_until(world_.now() + Time::us(100));
  }
  ended_ = world_.now();
}

}  // namespace frond::fabric
