// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <map>
#include <utility>

namespace frond::fabric {

using nlohmann::ordered_json;
using topology::End;

namespace {

// Preamble, SFD and gap: what a frame takes of a line beside its octets with FCS.
constexpr std::uint64_t kGap = kWireOverhead - kFcsBytes;

struct Totals {
  std::uint64_t sent = 0, received = 0, delivered = 0, reordered = 0, duplicates = 0;
  Histogram latency;  // ns
};

Totals totals(const Simulation& s) {
  Totals t;
  for (std::uint32_t node = 0; node < s.plan().topology.nodes.size(); ++node) {
    const sim::UdpHost* host = s.find_host(node);
    if (host == nullptr) continue;
    for (const sim::UdpSource& source : host->sources()) t.sent += source.sent();
    for (const sim::FlowMeter& meter : host->meters()) {
      t.received += meter.packets();
      t.delivered += meter.distinct();
      t.reordered += meter.reordered();
      t.duplicates += meter.duplicates();
      t.latency.merge(meter.latency());
    }
  }
  return t;
}

// Every drop of every device and wire, by name.
std::map<std::string, std::uint64_t> drops(const Simulation& s) {
  std::map<std::string, std::uint64_t> all;
  auto add = [&](std::string_view name, std::uint64_t n) {
    if (n != 0) all[std::string(name)] += n;
  };
  const topology::Topology& topology = s.plan().topology;
  for (std::uint32_t node = 0; node < topology.nodes.size(); ++node) {
    if (const SwitchUnit* unit = s.find_unit(node)) {
      const SwitchBase& device = unit->device();
      const auto list = device.drop_list();
      for (std::uint16_t port = 0; port < device.port_count(); ++port) {
        for (unsigned i = 0; i < list.size(); ++i)
          add(list[i].info.name, device.drop_count(port, i));
      }
    } else if (const sim::UdpHost* host = s.find_host(node)) {
      for (unsigned i = 0; i < sim::UdpHost::kDrops; ++i) {
        add(sim::UdpHost::kDropInfo[i].name, host->drops(i));
      }
    }
  }
  for (std::uint32_t link = 0; link < topology.links.size(); ++link) {
    for (unsigned i = 0; i < link::kWireDrops; ++i) {
      add(link::kWireDropInfo[i].name, s.wire(link).a().drops(i) + s.wire(link).b().drops(i));
    }
  }
  return all;
}

double utilisation(const link::WireCounters& counters, Rate rate, Time elapsed) {
  const std::uint64_t bits = 8 * (counters.octets.value() + kGap * counters.packets.value());
  const double capacity = static_cast<double>(rate.bps()) * elapsed.seconds();
  return capacity == 0 ? 0 : static_cast<double>(bits) / capacity;
}

ordered_json direction(const link::Wire::End& end, Rate rate, Time elapsed) {
  const link::WireCounters& counters = end.counters();
  ordered_json j;
  j["packets"] = counters.packets.value();
  j["octets"] = counters.octets.value();
  j["utilisation"] = utilisation(counters, rate, elapsed);
  return j;
}

ordered_json latency(const Histogram& h) {
  ordered_json j;
  j["min"] = h.min();
  j["p50"] = h.quantile(50, 100);
  j["p90"] = h.quantile(90, 100);
  j["p99"] = h.quantile(99, 100);
  j["p999"] = h.quantile(999, 1000);
  j["max"] = h.max();
  return j;
}

}  // namespace

std::string report_json(const Simulation& s) {
  const topology::Topology& topology = s.plan().topology;
  const Totals t = totals(s);
  ordered_json j;
  j["version"] = kReportVersion;
  j["name"] = s.plan().name;
  j["seed"] = s.plan().seed;
  j["switches"] = topology.nodes.size() - topology.count(topology::Role::host);
  j["hosts"] = topology.count(topology::Role::host);
  j["duration_ns"] = s.plan().duration.ns();
  j["ended_ns"] = s.ended().ns();
  j["trace_hash"] = fmt::format("{:016x}", s.world().hops().hash());
  j["packet_hops"] = s.world().hops().hops();
  j["sent"] = t.sent;
  j["delivered"] = t.delivered;
  j["reordered"] = t.reordered;
  j["duplicates"] = t.duplicates;
  j["dropped"] = ordered_json::object();
  for (const auto& [name, count] : drops(s)) j["dropped"][name] = count;
  j["in_flight"] = s.world().pool().in_use();
  j["latency_ns"] = latency(t.latency);
  j["links"] = ordered_json::array();
  for (std::uint32_t i = 0; i < topology.links.size(); ++i) {
    const topology::Link& link = topology.links[i];
    ordered_json row;
    row["a"] = topology.end_name(link.a);
    row["b"] = topology.end_name(link.b);
    row["rate_bps"] = link.rate.bps();
    row["a_to_b"] = direction(s.wire(i).a(), link.rate, s.plan().duration);
    row["b_to_a"] = direction(s.wire(i).b(), link.rate, s.plan().duration);
    j["links"].push_back(std::move(row));
  }
  j["events"] = ordered_json::array();
  for (const Simulation::SeenEvent& event : s.events()) {
    ordered_json row;
    row["time_ns"] = event.time.ns();
    row["port"] = topology.end_name(event.end);
    row["up"] = event.up;
    row["mechanism"] = event.mechanism;
    row["detection_ns"] = event.detection.ns();
    row["converged_ns"] = event.converged.ns();
    j["events"].push_back(std::move(row));
  }
  return j.dump(2) + "\n";
}

std::string report_text(const Simulation& s) {
  const topology::Topology& topology = s.plan().topology;
  const Totals t = totals(s);
  const auto all_drops = drops(s);
  std::string out = fmt::format(
      "{}: {} switches, {} hosts, {:.6f} s of virtual time, seed {}\n"
      "trace {:016x} over {} packet-hops\n\n"
      "sent       {:>12}\ndelivered  {:>12}\nreordered  {:>12}\nduplicates {:>12}\n",
      s.plan().name, topology.nodes.size() - topology.count(topology::Role::host),
      topology.count(topology::Role::host), s.plan().duration.seconds(), s.plan().seed,
      s.world().hops().hash(), s.world().hops().hops(), t.sent, t.delivered, t.reordered,
      t.duplicates);
  if (!all_drops.empty()) out += "\ndropped\n";
  for (const auto& [name, count] : all_drops) out += fmt::format("  {:<28}{:>12}\n", name, count);
  if (t.latency.count() != 0) {
    out += fmt::format("\nlatency     min {:.3f}  p50 {:.3f}  p99 {:.3f}  max {:.3f} us\n",
                       static_cast<double>(t.latency.min()) / 1e3,
                       static_cast<double>(t.latency.quantile(50, 100)) / 1e3,
                       static_cast<double>(t.latency.quantile(99, 100)) / 1e3,
                       static_cast<double>(t.latency.max()) / 1e3);
  }
  // The links between switches: where balance shows.
  std::size_t shown = 0;
  for (std::uint32_t i = 0; i < topology.links.size(); ++i) {
    const topology::Link& link = topology.links[i];
    if (!topology.nodes[link.a.node].is_switch() || !topology.nodes[link.b.node].is_switch())
      continue;
    if (shown == 0) out += fmt::format("\n{:<28}{:>10}{:>10}\n", "link", "->", "<-");
    if (++shown > 32) continue;
    out += fmt::format("{:<28}{:>9.1f}%{:>9.1f}%\n", topology.link_name(link),
                       100 * utilisation(s.wire(i).a().counters(), link.rate, s.plan().duration),
                       100 * utilisation(s.wire(i).b().counters(), link.rate, s.plan().duration));
  }
  if (shown > 32) out += fmt::format("... and {} more: --json has all\n", shown - 32);
  for (const Simulation::SeenEvent& event : s.events()) {
    if (event.time == Time()) continue;  // that all ports came up at the start
    out += fmt::format("{:>12.6f} s  {} {} ({}{})\n", event.time.seconds(),
                       topology.end_name(event.end), event.up ? "up" : "down", event.mechanism,
                       event.detection == Time() ? std::string()
                                                 : fmt::format(", noticed after {:.3f} ms",
                                                               event.detection.seconds() * 1e3));
  }
  return out;
}

}  // namespace frond::fabric
