// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/managed.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include <rte_version.h>

#include "base/real_time.hpp"
#include "control/config/change.hpp"
#include "control/config/load.hpp"
#include "topology/graph.hpp"

namespace frond::fabric {

using topology::End;
using topology::kNone;

namespace {

management::Impairment shown(const link::Impairment& i) {
  management::Impairment m;
  auto fraction = [](Probability p) { return static_cast<double>(p.parts()) / 4294967296.0; };
  m.loss = fraction(i.loss);
  m.corrupt = fraction(i.corruption);
  m.duplicate = fraction(i.duplication);
  m.reorder = fraction(i.reordering);
  if (i.reordering.possible()) m.reorder_delay = i.reorder_delay;
  m.delay = i.delay;
  m.jitter = i.jitter;
  m.silent = i.blackhole;
  return m;
}

link::Impairment wanted(const management::Impairment& m) {
  link::Impairment i;
  auto probability = [](double p) {
    return Probability::parts(
        static_cast<std::uint64_t>(std::clamp(p, 0.0, 1.0) * 4294967296.0 + 0.5));
  };
  i.loss = probability(m.loss);
  i.corruption = probability(m.corrupt);
  i.duplication = probability(m.duplicate);
  i.reordering = probability(m.reorder);
  i.reorder_delay = m.reorder_delay;
  i.delay = m.delay;
  i.jitter = m.jitter;
  i.blackhole = m.silent;
  return i;
}

std::string attachment(const Plan& plan, End end) {
  const auto device = plan.devices.find(end);
  if (device != plan.devices.end()) return std::string(dpdk::to_string(device->second.driver));
  const auto peer = plan.topology.peer(end);
  if (!peer) return "";
  const std::uint32_t link = plan.topology.port(end).link;
  if (plan.topology.nodes[peer->node].is_switch() && plan.topology.nodes[end.node].is_switch()) {
    return std::string(
        enum_names(config::LinkDriver{})[static_cast<std::size_t>(plan.links[link].driver)]);
  }
  if (plan.hosts.attach == config::Attach::tap) return "tap";
  return fmt::format("veth ({})",
                     enum_names(config::VethDriver{})[static_cast<std::size_t>(plan.hosts.driver)]);
}

constexpr auto kReachNames =
    std::to_array<std::string_view>({"incomplete", "reachable", "stale", "probe", "failed"});

}  // namespace

Managed::Managed(Emulation& emulation, const config::FabricConfig& config, std::string file,
                 std::string hosts_file, std::function<void()> stop)
    : emulation_(emulation),
      config_(config),
      file_(std::move(file)),
      hosts_file_(std::move(hosts_file)),
      stop_(std::move(stop)),
      epoch_(frond::unix_time() - emulation.now()),
      started_(emulation.now()) {
  emulation_.on_event([this](const Emulation::SeenEvent& seen) {
    {
      std::lock_guard lock(mutex_);
      last_change_[seen.node + ":" + seen.port] = seen.time;
    }
    management::Event event;
    event.time = unix_time(seen.time);
    event.kind = seen.up ? "link-up" : "link-down";
    event.node = seen.node;
    event.port = seen.port;
    event.mechanism = seen.mechanism;
    event.detection = seen.detection;
    event.text = fmt::format("{}:{} is {} ({}{}); all routes followed within {:.3f} ms", seen.node,
                             seen.port, seen.up ? "up" : "down", seen.mechanism,
                             seen.detection == Time() ? std::string()
                                                      : fmt::format(", silent for {:.1f} ms",
                                                                    seen.detection.seconds() * 1e3),
                             (seen.converged - seen.time).seconds() * 1e3);
    log_.post(std::move(event));
  });
  write_hosts();
}

// A program that has the old file bound over its /etc/hosts sees the new text: same inode.
void Managed::write_hosts() const {
  if (hosts_file_.empty()) return;
  const auto held = emulation_.hold();
  std::ofstream(hosts_file_, std::ios::trunc) << hosts_text(emulation_.plan());
}

Managed::~Managed() { emulation_.on_event({}); }

void Managed::post(std::string kind, std::string node, std::string port, std::string text) {
  management::Event event;
  event.time = unix_time(emulation_.now());
  event.kind = std::move(kind);
  event.node = std::move(node);
  event.port = std::move(port);
  event.text = std::move(text);
  log_.post(std::move(event));
}

management::FabricInfo Managed::info() const {
  const auto held = emulation_.hold();
  management::FabricInfo info;
  info.name = emulation_.plan().name;
  info.mode = "emulated";
  info.version = FROND_VERSION;
  info.dpdk = rte_version();
  info.config_file = file_;
  info.lost = emulation_.lost();
  info.fidelity = info.lost == Time() ? std::string("not CPU-bound")
                                      : fmt::format("CPU-bound: {:.1f} ms of line time lost",
                                                    info.lost.seconds() * 1e3);
  info.pid = getpid();
  info.now = unix_time(emulation_.now());
  info.started = unix_time(started_);
  info.seed = emulation_.plan().seed;
  info.workers = emulation_.workers();
  const double alive = emulation_.now().seconds() * emulation_.workers();
  info.busy = alive > 0 ? static_cast<double>(emulation_.busy_ns()) * 1e-9 / alive : 0;
  return info;
}

std::vector<management::Node> Managed::nodes() const {
  const auto held = emulation_.hold();
  std::vector<management::Node> all;
  const topology::Topology& topology = emulation_.plan().topology;
  for (std::uint32_t node = 0; node < topology.nodes.size(); ++node) {
    topology.nodes[node].is_switch() ? add_switch(node, all) : add_host(node, all);
  }
  return all;
}

void Managed::add_switch(std::uint32_t node, std::vector<management::Node>& all) const {
  const topology::Node& n = emulation_.plan().topology.nodes[node];
  const SwitchUnit* unit = emulation_.find_switch(n.name);
  if (unit == nullptr) return;  // another process's
  management::Node result;
  result.name = n.name;
  result.role = topology::role_name(n.role);
  for (std::uint16_t port = 0; port < n.ports.size(); ++port) {
    if (n.ports[port].used()) result.interfaces.push_back(interface_of(*unit, {node, port}));
  }
  all.push_back(std::move(result));
}

management::Interface Managed::interface_of(const SwitchUnit& unit, End end) const {
  const Plan& plan = emulation_.plan();
  const SwitchBase& device = unit.device();
  const topology::Interface& address = plan.addressing.at(end);
  management::Interface i;
  i.name = plan.topology.port(end).name;
  i.index = end.port + 1U;
  i.admin_up = device.admin_up(end.port);
  i.oper_up = device.oper_up(end.port);
  i.mtu = address.mtu;
  i.speed = device.rate(end.port);
  i.mac = address.mac;
  i.addresses = address.addresses;
  i.last_clear = unix_time(started_);
  i.last_change = i.last_clear;
  {
    std::lock_guard lock(mutex_);
    const auto change = last_change_.find(plan.topology.end_name(end));
    if (change != last_change_.end()) i.last_change = unix_time(change->second);
  }
  if (!i.oper_up) i.down_reason = device.down_reason(end.port);
  if (const auto peer = plan.topology.peer(end)) i.peer = plan.topology.end_name(*peer);
  i.attachment = attachment(plan, end);
  if (const Port* io = device.io(end.port)) {
    const std::string why = io->why_closed();
    if (!why.empty()) i.attachment += ", closed: " + why;
  }
  i.queue_bytes = device.queue_bytes(end.port);
  i.queue_limit = plan.switches[end.node].queue.count();

  const InterfaceCounters& c = device.counters(end.port);
  i.counters.in_octets = c.in_octets.value();
  i.counters.in_pkts = c.in_pkts.value();
  i.counters.in_multicast_pkts = c.in_multicast_pkts.value();
  i.counters.in_broadcast_pkts = c.in_broadcast_pkts.value();
  i.counters.in_unicast_pkts =
      i.counters.in_pkts - i.counters.in_multicast_pkts - i.counters.in_broadcast_pkts;
  i.counters.out_octets = c.out_octets.value();
  i.counters.out_pkts = c.out_pkts.value();
  i.counters.out_multicast_pkts = c.out_multicast_pkts.value();
  i.counters.out_broadcast_pkts = c.out_broadcast_pkts.value();
  i.counters.out_unicast_pkts =
      i.counters.out_pkts - i.counters.out_multicast_pkts - i.counters.out_broadcast_pkts;
  i.counters.carrier_transitions = c.carrier_transitions.value();
  const auto list = device.drop_list();
  for (unsigned d = 0; d < list.size(); ++d) {
    const std::uint64_t n = device.drop_count(end.port, d);
    if (n == 0) continue;
    const bool egress = list[d].stage == "queue";
    (egress ? i.counters.out_discards : i.counters.in_discards) += n;
    i.drops.push_back({std::string(list[d].stage), std::string(list[d].info.name), egress, n});
  }
  if (const Port* io = device.io(end.port)) {
    const auto info = io->drop_info();
    for (unsigned d = 0; d < info.size(); ++d) {
      const std::uint64_t n = io->drops(d);
      if (n == 0) continue;
      i.counters.in_errors += n;
      i.drops.push_back({"port", std::string(info[d].name), false, n});
    }
  }
  return i;
}

void Managed::add_host(std::uint32_t node, std::vector<management::Node>& all) const {
  const Plan& plan = emulation_.plan();
  const topology::Node& n = plan.topology.nodes[node];
  management::Node result;
  result.name = n.name;
  result.kind = management::Node::Kind::host;
  result.role = "host";
  result.netns = emulation_.host_namespace(n.name);
  for (std::uint16_t port = 0; port < n.ports.size(); ++port) {
    if (!n.ports[port].used()) continue;
    const End end{node, port};
    const topology::Interface& address = plan.addressing.at(end);
    management::Interface i;
    i.name = n.ports[port].name;
    i.index = port + 1U;
    i.admin_up = emulation_.admin_up(end);
    i.mtu = std::min(address.mtu, plan.hosts.mtu);
    i.speed = plan.topology.links[n.ports[port].link].rate;
    i.mac = address.mac;
    i.addresses = address.addresses;
    i.attachment = attachment(plan, end);
    i.last_change = i.last_clear = unix_time(started_);
    // The host's own counters are its kernel's; what the fabric knows is the other end.
    if (const auto peer = plan.topology.peer(end)) {
      i.peer = plan.topology.end_name(*peer);
      const SwitchUnit* unit = emulation_.find_switch(plan.topology.nodes[peer->node].name);
      if (unit != nullptr) {
        i.oper_up = unit->device().oper_up(peer->port);
        const InterfaceCounters& c = unit->device().counters(peer->port);
        i.counters.in_octets = c.out_octets.value();
        i.counters.in_pkts = c.out_pkts.value();
        i.counters.out_octets = c.in_octets.value();
        i.counters.out_pkts = c.in_pkts.value();
      }
    }
    if (!i.oper_up) i.down_reason = i.admin_up ? "carrier" : "admin";
    result.interfaces.push_back(std::move(i));
  }
  all.push_back(std::move(result));
}

std::vector<management::Link> Managed::links() const {
  const auto held = emulation_.hold();
  const Plan& plan = emulation_.plan();
  std::vector<management::Link> all;
  auto up = [&](End end) {
    const SwitchUnit* unit = emulation_.find_switch(plan.topology.nodes[end.node].name);
    return unit == nullptr ? emulation_.admin_up(end) : unit->device().oper_up(end.port);
  };
  for (std::uint32_t link = 0; link < plan.topology.links.size(); ++link) {
    const topology::Link& l = plan.topology.links[link];
    const Emulation::LinkView view = emulation_.look_at_link(link);
    management::Link m;
    m.a = {plan.topology.nodes[l.a.node].name, plan.topology.port(l.a).name, shown(view.from_a)};
    m.b = {plan.topology.nodes[l.b.node].name, plan.topology.port(l.b).name, shown(view.from_b)};
    m.up = up(l.a) && up(l.b);
    m.rate = l.rate;
    m.delay = l.delay;
    m.impairable = view.impairable;
    all.push_back(std::move(m));
  }
  return all;
}

std::vector<management::Neighbor> Managed::neighbors(const std::string& node) const {
  const auto held = emulation_.hold();
  const Plan& plan = emulation_.plan();
  std::vector<management::Neighbor> all;
  for (const topology::Node& n : plan.topology.nodes) {
    SwitchUnit* unit = emulation_.find_switch(n.name);
    if (unit == nullptr || (!node.empty() && n.name != node)) continue;
    std::vector<neighbor::Neighbors::Known> known;
    emulation_.on_switch(*unit, [&] { known = unit->neighbors(); });
    for (const auto& k : known) {
      management::Neighbor m;
      m.node = n.name;
      m.port = topology::port_name(n.role, k.port);
      m.address = k.address;
      m.mac = k.mac;
      m.state = kReachNames[std::min<std::size_t>(static_cast<std::size_t>(k.state),
                                                  kReachNames.size() - 1)];
      all.push_back(std::move(m));
    }
  }
  return all;
}

Result<End> Managed::find_end(const std::string& node, const std::string& port) const {
  const auto end = emulation_.plan().topology.find_end(node + ":" + port);
  if (end) return *end;
  return Error{Error::Code::not_found, "there is no port " + node + ":" + port + " in this fabric"};
}

Status Managed::set_link_admin(const std::string& node, const std::string& port, bool up) {
  End end;
  {
    const auto held = emulation_.hold();
    const Result<End> found = find_end(node, port);
    if (!found.ok()) return found.error();
    end = *found;
  }
  return emulation_.set_admin(end, up);
}

Status Managed::set_impairment(const std::string& node, const std::string& port,
                               const management::Impairment& impairment) {
  End end;
  {
    const auto held = emulation_.hold();
    const Result<End> found = find_end(node, port);
    if (!found.ok()) return found.error();
    end = *found;
  }
  const Status status = emulation_.impair(end, wanted(impairment));
  if (status.ok()) post("impair", node, port, node + ":" + port + ": impairments changed");
  return status;
}

Result<management::ApplyReport> Managed::apply(const std::string& yaml, const std::string& file,
                                               bool dry_run) {
  const config::Loaded loaded = config::parse_config(yaml, file);
  management::ApplyReport report;
  for (const config::Diagnostic& d : loaded.diagnostics.list()) {
    if (d.severity == config::Severity::note) continue;
    report.diagnostics.push_back(
        {d.severity == config::Severity::error ? management::Diagnostic::Severity::error
                                               : management::Diagnostic::Severity::warning,
         file, static_cast<unsigned>(d.mark.line), static_cast<unsigned>(d.mark.column),
         d.suggestion.empty() ? d.message : d.message + "; did you mean '" + d.suggestion + "'?"});
  }
  report.valid = loaded.config.has_value();
  if (!report.valid) return report;

  std::lock_guard one(apply_mutex_);
  config::FabricConfig next = *loaded.config;
  next.name = config_.name;  // a fabric keeps the name that it was brought up with
  const std::vector<config::Change> changes = config::diff(&config_, &next);
  std::string text = config::change_text(changes);
  for (std::size_t at = 0; at < text.size() && !changes.empty();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    report.changes.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (config::needs_restart(changes)) {
    return Error{Error::Code::invalid_argument, "this change needs a restart (frond down " +
                                                    config_.name + ", then frond up " + file +
                                                    "): " + report.changes.front()};
  }
  if (dry_run || changes.empty()) return report;
  try {
    auto plan = std::make_shared<const Plan>(make_plan(next));
    Status status = emulation_.apply(plan);
    if (!status.ok()) {
      // Back to what was there: the same path, the other way.
      [[maybe_unused]] const Status back =
          emulation_.apply(std::make_shared<const Plan>(make_plan(config_)));
      return status.error();
    }
  } catch (const StartError& e) {
    return Error{Error::Code::unavailable, e.what()};
  }
  config_ = std::move(next);
  write_hosts();
  report.applied = true;
  post("apply", "", "", fmt::format("{} applied: {} changes", file, report.changes.size()));
  return report;
}

Result<std::string> Managed::graph(const std::string& format) const {
  const std::vector<management::Link> state = links();
  const auto held = emulation_.hold();
  const topology::Topology& topology = emulation_.plan().topology;
  topology::Picture picture;
  for (const management::Link& l : state) {
    topology::LinkPicture p;
    p.up = l.up;
    p.impaired = l.a.out != management::Impairment{} || l.b.out != management::Impairment{};
    picture.links.push_back(p);
  }
  if (format == "text") return topology::graph_text(topology, picture);
  if (format == "dot") return topology::graph_dot(topology, picture);
  if (format == "svg") return topology::graph_svg(topology, picture);
  if (format == "html") return topology::graph_html(topology, picture);
  if (format == "mermaid") return topology::graph_mermaid(topology, picture);
  return Error{Error::Code::invalid_argument,
               "'" + format + "' is no picture format; there are text, dot, svg, html, mermaid"};
}

}  // namespace frond::fabric
