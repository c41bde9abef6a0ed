// SPDX-License-Identifier: BSD-3-Clause
// Links of an emulation: wires in the process, hosts' taps and veths, ports that lead outside.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "dpdk/ethdev_port.hpp"
#include "fabric/emulation_parts.hpp"
#include "netdev/interface.hpp"

namespace frond::fabric {

using topology::End;
using topology::kNone;

namespace {

std::string device_signature(const Plan& plan, End end) {
  const auto found = plan.devices.find(end);
  if (found == plan.devices.end()) return "";
  const dpdk::EthdevConfig& d = found->second;
  return std::string(dpdk::to_string(d.driver)) + "|" + d.target + "|" + d.args + "|" + d.netns +
         "|" + (d.server ? "server" : "client");
}

// Two links with the same signature differ in nothing that would need another cable.
std::string signature(const Plan& plan, std::uint32_t link) {
  const topology::Link& l = plan.topology.links[link];
  return std::to_string(static_cast<int>(plan.links[link].driver)) + ";" +
         std::to_string(l.delay.ns()) + ";" + std::to_string(l.mtu) + ";" +
         std::to_string(static_cast<int>(plan.hosts.attach)) + ";" +
         std::to_string(static_cast<int>(plan.hosts.driver)) + ";" + device_signature(plan, l.a) +
         ";" + device_signature(plan, l.b);
}

std::string outside_name(const Plan& plan, End end) { return plan.topology.end_name(end) + "-"; }

// In the state directory before it is made, so that `frond down` can remove it after any crash. One
// that is there already is not ours, and never becomes it.
Status record_namespace(const std::string& directory, const std::string& name,
                        const std::string& path) {
  if (directory.empty() || access(path.c_str(), F_OK) == 0) return {};
  std::ofstream file(directory + "/namespaces", std::ios::app);
  file << name << '\n' << std::flush;
  if (file) return {};
  return Error{Error::Code::unavailable, "cannot write " + directory + "/namespaces"};
}

Error start_error(const StartError& e) { return {Error::Code::unavailable, e.what()}; }

}  // namespace

// --- One link ---

Emulation::LinkView Emulation::RunningLink::view() const {
  LinkView view;
  view.impairable = true;
  if (wire != nullptr) {
    view.from_a = wire->a().impairment();
    view.from_b = wire->b().impairment();
    return view;
  }
  for (unsigned i = 0; i < 2; ++i) {
    if (sides[i].io == nullptr) continue;
    (i == 0 ? view.from_a : view.from_b) = sides[i].io->out();
    if (sides[1 - i].io == nullptr) (i == 0 ? view.from_b : view.from_a) = sides[i].io->in();
  }
  return view;
}

void Emulation::RunningLink::impair(unsigned from, const link::Impairment& impairment) {
  if (wire != nullptr) {
    (from == 0 ? wire->a() : wire->b()).impair(impairment);
  } else if (sides[from].io != nullptr) {
    sides[from].io->impair_out(impairment);
  } else if (sides[1 - from].io != nullptr) {
    sides[1 - from].io->impair_in(impairment);
  }
}

void Emulation::RunningLink::set_carrier(Time now) {
  const bool up = sides[0].admin && sides[1].admin;
  if (wire != nullptr) wire->set_carrier(now, up);
  // A tap that is gone has no carrier to lose.
  if (tap != nullptr) [[maybe_unused]]
    const Status status = tap->set_carrier(up);
}

Emulation::RunningLink* Emulation::link_at(End end) const {
  const std::uint32_t link = plan_->topology.port(end).link;
  const auto found =
      links_.find(link == kNone ? outside_name(*plan_, end)
                                : plan_->topology.link_name(plan_->topology.links[link]));
  return found == links_.end() ? nullptr : found->second.get();
}

// --- The difference ---

Status Emulation::remove_links(const Plan& next) {
  std::map<std::string, std::string> wanted;
  for (std::uint32_t i = 0; i < next.topology.links.size(); ++i) {
    wanted[next.topology.link_name(next.topology.links[i])] = signature(next, i);
  }
  for (const auto& [end, device] : next.devices) {
    if (next.topology.port(end).link == kNone) {
      wanted[outside_name(next, end)] = device_signature(next, end);
    }
  }
  std::erase_if(links_, [&](auto& entry) {
    const auto found = wanted.find(entry.first);
    if (found != wanted.end() && found->second == entry.second->signature) return false;
    for (const RunningLink::Side& side : entry.second->sides) {
      if (side.at_switch) detach(side.node, side.port);
    }
    return true;
  });
  return {};
}

Status Emulation::add_links(const Plan& next, const Say& say) {
  for (std::uint32_t i = 0; i < next.topology.links.size(); ++i) {
    const std::string name = next.topology.link_name(next.topology.links[i]);
    if (links_.count(name) != 0) continue;
    say("link " + name);
    if (Status s = add_link(next, i); !s.ok()) return s;
  }
  for (const auto& [end, device] : next.devices) {
    if (next.topology.port(end).link != kNone || !ours(next, end.node)) continue;
    if (links_.count(outside_name(next, end)) != 0) continue;
    say("port " + next.topology.end_name(end));
    if (Status s = add_outside(next, end); !s.ok()) return s;
  }
  return {};
}

Status Emulation::add_link(const Plan& next, std::uint32_t link) {
  const topology::Link& l = next.topology.links[link];
  auto running = std::make_unique<RunningLink>();
  running->plan = next.links[link];
  running->rate = l.rate;
  running->delay = l.delay;
  running->mtu = l.mtu;
  running->signature = signature(next, link);
  const std::array<End, 2> ends = {l.a, l.b};
  unsigned outside = 0;
  for (unsigned i = 0; i < 2; ++i) {
    if (!ours(next, ends[i].node)) continue;
    RunningLink::Side& side = running->sides[i];
    side.node = next.topology.nodes[ends[i].node].name;
    side.port = next.topology.port(ends[i]).name;
    side.at_switch = next.topology.nodes[ends[i].node].is_switch();
    outside += next.devices.count(ends[i]) != 0;
  }
  try {
    if (outside > 0 || running->sides[0].node.empty() || running->sides[1].node.empty()) {
      for (unsigned i = 0; i < 2; ++i) {
        const auto device = next.devices.find(ends[i]);
        if (device == next.devices.end() || !running->sides[i].at_switch) continue;
        plug(next, *running, i,
             std::make_unique<dpdk::EthdevPort>(device->second, eal_, pool_, monitor_));
      }
    } else if (running->sides[0].at_switch && running->sides[1].at_switch) {
      if (Status s = join_switches(next, *running); !s.ok()) return s;
    } else if (running->sides[0].at_switch || running->sides[1].at_switch) {
      if (Status s = join_host(next, *running, running->sides[0].at_switch ? 0 : 1); !s.ok()) {
        return s;
      }
    }
  } catch (const StartError& e) {
    return start_error(e);
  }
  running->impair(0, running->plan.from_a);
  running->impair(1, running->plan.from_b);
  if (!running->plan.admin_up) {
    running->sides[0].admin = false;
    running->set_carrier(clock_.now());
  }
  links_.emplace(next.topology.link_name(l), std::move(running));
  return {};
}

Status Emulation::add_outside(const Plan& next, End end) {
  auto running = std::make_unique<RunningLink>();
  running->signature = device_signature(next, end);
  running->sides[0] = {.node = next.topology.nodes[end.node].name,
                       .port = next.topology.port(end).name,
                       .at_switch = true};
  try {
    plug(next, *running, 0,
         std::make_unique<dpdk::EthdevPort>(next.devices.at(end), eal_, pool_, monitor_));
  } catch (const StartError& e) {
    return start_error(e);
  }
  links_.emplace(outside_name(next, end), std::move(running));
  return {};
}

Status Emulation::update_links(const Plan& next) {
  for (std::uint32_t i = 0; i < next.topology.links.size(); ++i) {
    const topology::Link& l = next.topology.links[i];
    const auto found = links_.find(next.topology.link_name(l));
    if (found == links_.end()) continue;
    RunningLink& running = *found->second;
    const LinkPlan& plan = next.links[i];
    if (running.rate != l.rate) {
      running.rate = l.rate;
      for (const RunningLink::Side& side : running.sides) {
        if (!side.at_switch) continue;
        SwitchUnit& unit = *find_switch(side.node);
        const auto port = topology::port_index(topology::Role::leaf, side.port);
        on_switch(unit, [&] { unit.device().set_rate(*port, l.rate); });
        // A host has no line of its own: we are both ends'.
        const RunningLink::Side& other =
            side.port == running.sides[0].port && side.node == running.sides[0].node
                ? running.sides[1]
                : running.sides[0];
        if (side.io != nullptr && !other.node.empty() && !other.at_switch) {
          side.io->set_in_rate(l.rate);
        }
      }
    }
    // What was changed by hand since stays, unless the file says something new.
    if (running.plan.from_a != plan.from_a) running.impair(0, plan.from_a);
    if (running.plan.from_b != plan.from_b) running.impair(1, plan.from_b);
    if (running.plan.admin_up != plan.admin_up) {
      running.sides[0].admin = running.sides[1].admin = plan.admin_up;
      running.set_carrier(clock_.now());
    }
    running.plan = plan;
  }
  return {};
}

// --- Media ---

Status Emulation::join_switches(const Plan& next, RunningLink& running) {
  const End a = *next.topology.find_end(running.sides[0].node + ":" + running.sides[0].port);
  const End b = *next.topology.find_end(running.sides[1].node + ":" + running.sides[1].port);
  const std::string name = next.topology.end_name(a) + "-" + next.topology.end_name(b);
  if (running.plan.driver == config::LinkDriver::wire) {
    running.wire = std::make_unique<link::Wire>(
        name, next.seed, link::WireConfig{.delay = running.delay, .mtu = running.mtu},
        link::Wire::Threads::two, pool_);
    attach(next, a, &running.wire->a());
    attach(next, b, &running.wire->b());
    return {};
  }
  std::array<dpdk::EthdevConfig, 2> devices;
  if (running.plan.driver == config::LinkDriver::memif) {
    for (unsigned i = 0; i < 2; ++i) {
      devices[i] = {.driver = dpdk::Driver::memif,
                    .target = options_.directory + "/" + running.sides[0].node + "-" +
                              running.sides[0].port + ".memif",
                    .mtu = running.mtu,
                    .server = i == 0,
                    .wait = true};
    }
  } else {
    if (Status s = need_switch_namespace(); !s.ok()) return s;
    auto network = netdev::Rtnetlink::open(*switch_namespace_);
    if (!network.ok()) return network.error();
    std::array<std::string, 2> names;
    for (unsigned i = 0; i < 2; ++i) names[i] = running.sides[i].node + "-" + running.sides[i].port;
    Status s = network->create_veth(names[0], *switch_namespace_, names[1]);
    for (unsigned i = 0; i < 2 && s.ok(); ++i) {
      s = network->configure(names[i], {.mtu = running.mtu, .up = true});
      devices[i] = {.driver = dpdk::Driver::af_packet,
                    .target = names[i],
                    .netns = namespaces_.path("frond-" + options_.name)};
    }
    if (!s.ok()) return s;
  }
  for (unsigned i = 0; i < 2; ++i) {
    plug(next, running, i, std::make_unique<dpdk::EthdevPort>(devices[i], eal_, pool_, monitor_));
  }
  return {};
}

Status Emulation::join_host(const Plan& next, RunningLink& running, unsigned at_switch) {
  const RunningLink::Side& s = running.sides[at_switch];
  const RunningLink::Side& h = running.sides[1 - at_switch];
  const End host = *next.topology.find_end(h.node + ":" + h.port);
  const topology::Interface& interface = next.addressing.at(host);
  RunningHost& where = *hosts_.at(h.node);
  const std::uint32_t mtu = std::min(interface.mtu, next.hosts.mtu);
  if (next.hosts.attach == config::Attach::tap) {
    auto tap = std::make_unique<netdev::TapPort>(
        netdev::TapPort::Config{.interface = h.port, .mac = interface.mac, .mtu = mtu}, where.ns,
        pool_, monitor_, &running_worker(s.node).ready);
    running.tap = tap.get();
    if (Status status = configure_host(next, host); !status.ok()) return status;
    plug(next, running, at_switch, std::move(tap));
    running.sides[at_switch].io->set_in_rate(running.rate);
    return {};
  }
  if (Status status = need_switch_namespace(); !status.ok()) return status;
  auto network = netdev::Rtnetlink::open(*switch_namespace_);
  if (!network.ok()) return network.error();
  const std::string ours = s.node + "-" + s.port;
  Status status = network->create_veth(ours, where.ns, h.port);
  if (status.ok()) status = network->configure(ours, {.mtu = mtu, .up = true});
  if (status.ok()) status = configure_host(next, host);
  if (!status.ok()) return status;
  plug(next, running, at_switch,
       std::make_unique<dpdk::EthdevPort>(
           dpdk::EthdevConfig{.driver = next.hosts.driver == config::VethDriver::af_xdp
                                            ? dpdk::Driver::af_xdp
                                            : dpdk::Driver::af_packet,
                              .target = ours,
                              .netns = namespaces_.path("frond-" + options_.name)},
           eal_, pool_, monitor_));
  running.sides[at_switch].io->set_in_rate(running.rate);
  return {};
}

Emulation::RunningWorker& Emulation::running_worker(const std::string& node) const {
  return *running(node)->worker;
}

Status Emulation::need_switch_namespace() {
  if (switch_namespace_) return {};
  const std::string name = "frond-" + options_.name;
  if (Status s = record_namespace(options_.directory, name, namespaces_.path(name)); !s.ok())
    return s;
  auto made = namespaces_.create(name);
  if (!made.ok()) return made.error();
  switch_namespace_ = std::move(*made);
  return {};
}

Status Emulation::add_hosts(const Plan& next, const Say& say) {
  for (std::uint32_t node = 0; node < next.topology.nodes.size(); ++node) {
    const topology::Node& n = next.topology.nodes[node];
    if (n.is_switch() || !options_.only.empty() || hosts_.count(n.name) != 0) continue;
    say("host " + n.name);
    const std::string name = host_namespace(n.name);
    if (Status s = record_namespace(options_.directory, name, namespaces_.path(name)); !s.ok())
      return s;
    auto made = namespaces_.create(name);
    if (!made.ok()) return made.error();
    auto host = std::make_unique<RunningHost>(RunningHost{std::move(*made)});
    const Status prepared = netdev::prepare_host(host->ns);
    hosts_.emplace(n.name, std::move(host));
    if (!prepared.ok()) return prepared;
  }
  return {};
}

// Its address, and everything else through its switch.
Status Emulation::configure_host(const Plan& next, End host) {
  const topology::Interface& own = next.addressing.at(host);
  const std::string& name = next.topology.nodes[host.node].name;
  auto network = netdev::Rtnetlink::open(hosts_.at(name)->ns);
  if (!network.ok()) return network.error();
  netdev::InterfaceConfig config{.mac = own.mac,
                                 .mtu = std::min(own.mtu, next.hosts.mtu),
                                 .up = true,
                                 .addresses = own.addresses};
  for (const bool v6 : {false, true}) {
    const auto gateway = topology::gateway(next.topology, next.addressing, host, v6);
    if (!gateway || host.port != 0) continue;
    config.routes.push_back({*IpPrefix::parse(v6 ? "::/0" : "0.0.0.0/0"), *gateway});
  }
  return network->configure(next.topology.port(host).name, config);
}

// --- Ports of switches ---

void Emulation::plug(const Plan& next, RunningLink& running, unsigned side,
                     std::unique_ptr<Port> io) {
  RunningLink::Side& s = running.sides[side];
  s.io =
      std::make_unique<link::ImpairedPort>(s.node + ":" + s.port, next.seed, std::move(io), pool_);
  attach(next, *next.topology.find_end(s.node + ":" + s.port), s.io.get());
}

void Emulation::attach(const Plan& next, End end, Port* io) {
  SwitchUnit& unit = *find_switch(next.topology.nodes[end.node].name);
  on_switch(unit, [&] {
    configure_port(unit, next.topology, next.addressing, end);
    watch_neighbor(unit, next.topology, next.addressing, end);
    unit.device().attach(end.port, io);
  });
}

void Emulation::detach(const std::string& node, const std::string& port) {
  SwitchUnit* unit = find_switch(node);
  if (unit == nullptr) return;
  const std::uint16_t index = *topology::port_index(topology::Role::leaf, port);
  on_switch(*unit, [&] {
    unit->device().attach(index, nullptr);
    unit->bfd().remove(index);
    unit->router().set_interface(index, {});
  });
  // A step later the switch has seen that the carrier is gone.
  on_switch(*unit, [] {});
}

// --- What people do to links ---

Status Emulation::set_admin(End end, bool up) {
  Status status;
  control_.call([&] {
    RunningLink* running = link_at(end);
    if (running == nullptr) {
      status =
          Error{Error::Code::not_found, plan_->topology.end_name(end) + " is attached to nothing"};
      return;
    }
    const std::string& node = plan_->topology.nodes[end.node].name;
    RunningLink::Side& side = running->sides[running->side(node, plan_->topology.port(end).name)];
    side.admin = up;
    if (side.at_switch) {
      SwitchUnit& unit = *find_switch(node);
      on_switch(unit, [&] { unit.device().set_admin_up(unit.context(), end.port, up); });
    }
    running->set_carrier(clock_.now());
  });
  return status;
}

bool Emulation::admin_up(End end) const {
  const RunningLink* running = link_at(end);
  if (running == nullptr) return true;
  return running
      ->sides[running->side(plan_->topology.nodes[end.node].name, plan_->topology.port(end).name)]
      .admin;
}

Status Emulation::impair(End end, const link::Impairment& impairment) {
  Status status;
  control_.call([&] {
    RunningLink* running = link_at(end);
    if (running == nullptr) {
      status =
          Error{Error::Code::not_found, plan_->topology.end_name(end) + " is attached to nothing"};
      return;
    }
    const unsigned side =
        running->side(plan_->topology.nodes[end.node].name, plan_->topology.port(end).name);
    running->impair(side, impairment);
  });
  return status;
}

}  // namespace frond::fabric
