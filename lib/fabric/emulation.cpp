// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/emulation.hpp"

#include <algorithm>
#include <future>
#include <utility>

#include "fabric/emulation_parts.hpp"

namespace frond::fabric {

using topology::End;
using topology::kNone;

Emulation::Emulation(const Options& options, dpdk::Eal& eal)
    : options_(options),
      eal_(eal),
      pool_("packets", {.packets = options.packets}),
      plan_(std::make_shared<Plan>()) {
  const std::size_t workers = std::max<std::size_t>(1, options.cpus.size());
  for (std::size_t i = 0; i < workers; ++i) {
    Worker::Config config{.name = "worker" + std::to_string(i), .idle = options.idle};
    if (!options.cpus.empty()) config.cpu = options.cpus[i];
    workers_.push_back(std::make_unique<RunningWorker>(std::move(config), clock_, pool_));
    workers_.back()->worker.start();
  }
}

Emulation::~Emulation() {
  // To nothing: this cannot fail in a way that anybody could still do something about.
  [[maybe_unused]] const Status status = apply(std::make_shared<Plan>());
}

Status Emulation::apply(std::shared_ptr<const Plan> plan, const Say& say) {
  Status status;
  control_.call([&] {
    std::unique_lock lock(structure_);
    const std::pair<const char*, std::function<Status()>> steps[] = {
        {"links to remove", [&] { return remove_links(*plan); }},
        {"nodes to remove", [&] { return remove_nodes(*plan); }},
        {"switches", [&] { return add_switches(*plan, say); }},
        {"hosts", [&] { return add_hosts(*plan, say); }},
        {"links", [&] { return add_links(*plan, say); }},
        {"settings of switches", [&] { return update_switches(*plan); }},
        {"settings of links", [&] { return update_links(*plan); }},
    };
    for (const auto& [name, step] : steps) {
      status = step();
      if (!status.ok()) return;
    }
    const std::shared_ptr<const Plan> before = std::exchange(plan_, plan);
    std::vector<SwitchChange> changes;
    if (controller_) {
      changes = controller_->rebase(plan->topology, plan->addressing);
    } else {
      controller_.emplace(plan->topology, plan->addressing);
      changes = controller_->initial();
    }
    install(plan, changes);
  });
  return status;
}

// --- Switches ---

bool Emulation::ours(const Plan& plan, std::uint32_t node) const {
  const topology::Node& n = plan.topology.nodes[node];
  return options_.only.empty() || n.name == options_.only;
}

Emulation::RunningSwitch* Emulation::running(const std::string& node) const {
  const auto found = switches_.find(node);
  return found == switches_.end() ? nullptr : found->second.get();
}

SwitchUnit* Emulation::find_switch(const std::string& name) const {
  RunningSwitch* found = running(name);
  return found == nullptr ? nullptr : found->unit.get();
}

void Emulation::on_switch(SwitchUnit& unit, const std::function<void()>& f) const {
  std::promise<void> done;
  unit.device().inbox().post([&] {
    f();
    done.set_value();
  });
  done.get_future().wait();
}

Status Emulation::add_switches(const Plan& next, const Say& say) {
  for (std::uint32_t node = 0; node < next.topology.nodes.size(); ++node) {
    const topology::Node& n = next.topology.nodes[node];
    if (!n.is_switch() || !ours(next, node) || running(n.name) != nullptr) continue;
    say("switch " + n.name);
    auto added = std::make_unique<RunningSwitch>();
    added->role = n.role;
    // Room for more ports than there are, so that a link can be added to a running switch.
    added->unit = make_switch(next.topology, node, next_id_++, next.seed, topology::kMaxPorts,
                              next.switches[node]);
    added->unit->device().on_port_event([this, name = n.name](const PortEvent& event) {
      control_.post([this, name, event] { port_event(name, event); });
    });
    added->worker = workers_[next_worker_++ % workers_.size()].get();
    added->worker->worker.call([&] { added->worker->worker.add(added->unit->device()); });
    switches_.emplace(n.name, std::move(added));
  }
  return {};
}

Status Emulation::update_switches(const Plan& next) {
  Status status;
  for (std::uint32_t node = 0; node < next.topology.nodes.size() && status.ok(); ++node) {
    const topology::Node& n = next.topology.nodes[node];
    RunningSwitch* found = running(n.name);
    if (found == nullptr) continue;
    on_switch(*found->unit, [&] {
      SwitchUnit& unit = *found->unit;
      for (std::uint16_t port = 0; port < n.ports.size(); ++port) {
        unit.device().set_queue_limit(port, next.switches[node].queue);
      }
      std::vector<IpAddress> loopback;
      for (const IpPrefix& p : next.addressing.loopbacks[node]) loopback.push_back(p.address);
      if (loopback != unit.router().loopback()) unit.router().set_loopback(std::move(loopback));
      status = unit.routes().apply_static(next.routes[node], unit.router());
    });
  }
  return status;
}

Status Emulation::remove_nodes(const Plan& next) {
  auto gone = [&](const std::string& name, bool is_switch) {
    const std::uint32_t node = next.topology.find(name);
    return node == kNone || next.topology.nodes[node].is_switch() != is_switch;
  };
  std::erase_if(switches_, [&](auto& entry) {
    if (!gone(entry.first, true)) return false;
    RunningSwitch& s = *entry.second;
    s.worker->worker.call([&] { s.worker->worker.remove(s.unit->device()); });
    return true;
  });
  Status status;
  std::erase_if(hosts_, [&](auto& entry) {
    if (!gone(entry.first, false)) return false;
    Status removed = namespaces_.remove(host_namespace(entry.first));
    if (!removed.ok()) status = std::move(removed);
    return true;
  });
  if (next.topology.nodes.empty() && switch_namespace_) {
    switch_namespace_.reset();
    Status removed = namespaces_.remove("frond-" + options_.name);
    if (!removed.ok()) status = std::move(removed);
  }
  return status;
}

// --- Events ---

void Emulation::port_event(const std::string& node, const PortEvent& event) {
  const std::uint32_t index = plan_->topology.find(node);
  if (index == kNone || running(node) == nullptr) return;
  const End end{index, event.port};
  if (event.port >= plan_->topology.nodes[index].ports.size()) return;
  SeenEvent seen{event.time,
                 node,
                 plan_->topology.port(end).name,
                 event.up,
                 std::string(event.mechanism),
                 event.detection,
                 event.time};
  const auto changes = controller_->port_changed(end, event.up);
  install(plan_, changes);
  seen.converged = clock_.now();
  if (on_event_) on_event_(seen);
}

void Emulation::install(const std::shared_ptr<const Plan>& plan,
                        const std::vector<SwitchChange>& changes) {
  for (const SwitchChange& change : changes) {
    SwitchUnit* unit = find_switch(plan->topology.nodes[change.node].name);
    if (unit == nullptr) continue;
    on_switch(*unit, [&] {
      // The router refuses what its tables don't hold; what fits is in, and the rest has no route,
      // which is a counted drop.
      [[maybe_unused]] const Status status = unit->routes().apply(
          plan->topology, plan->addressing, change.node, change.changes, unit->router());
    });
  }
}

// --- Views ---

Emulation::LinkView Emulation::look_at_link(std::uint32_t link) const {
  const auto found = links_.find(plan_->topology.link_name(plan_->topology.links[link]));
  if (found == links_.end()) return {};
  return found->second->view();
}

std::uint64_t Emulation::busy_ns() const {
  std::uint64_t total = 0;
  for (const auto& w : workers_) total += w->worker.busy_ns();
  return total;
}

Time Emulation::lost() const {
  Time total;
  for (const auto& [name, s] : switches_) {
    for (std::uint16_t port = 0; port < s->unit->device().port_count(); ++port) {
      total += s->unit->device().line_lost(port);
    }
  }
  return total;
}

void Emulation::add_capture(SwitchUnit& unit, std::shared_ptr<CaptureRing> ring, PortSet ports,
                            bool drops) const {
  CaptureFan& fan = running(unit.device().name())->fan;
  on_switch(unit, [&] {
    fan.add(std::move(ring), std::move(ports), drops);
    unit.device().set_capture(&fan, fan.ports(unit.device().port_count()));
  });
}

void Emulation::remove_capture(SwitchUnit& unit, const CaptureRing* ring) const {
  CaptureFan& fan = running(unit.device().name())->fan;
  on_switch(unit, [&] {
    fan.remove(ring);
    unit.device().set_capture(fan.empty() ? nullptr : &fan, fan.ports(unit.device().port_count()));
  });
}

}  // namespace frond::fabric
