// SPDX-License-Identifier: BSD-3-Clause
// Trace and capture of a running fabric. A trace asks each switch on the way what its stages would
// decide about the packet; only decide() runs, on a packet of ours, so nothing is learned or
// counted.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/real_time.hpp"
#include "fabric/managed.hpp"
#include "wire/build.hpp"

namespace frond::fabric {

using topology::End;
using topology::kNone;

namespace {

constexpr unsigned kMaxHops = 64;

struct Entry {
  End end;  // the switch's port where the packet comes in
  std::vector<std::uint8_t> frame;
};

Error invalid(std::string message) { return {Error::Code::invalid_argument, std::move(message)}; }

// A host, or node:port.
Result<End> start_of(const Plan& plan, const std::string& from) {
  const auto end = plan.topology.find_end(from);
  if (!end) return invalid("'" + from + "' is neither a host nor a port (leaf1:p1) of this fabric");
  if (plan.topology.nodes[end->node].is_switch()) return *end;
  const auto peer = plan.topology.peer(*end);
  if (!peer) return invalid("host '" + from + "' is connected to nothing");
  return *peer;
}

Result<std::vector<std::uint8_t>> frame_of(const Plan& plan, const management::TraceRequest& r,
                                           End at) {
  if (!r.frame.empty()) return r.frame;
  wire::FrameSpec spec;
  spec.dst_mac = plan.addressing.at(at).mac;
  spec.proto = r.protocol;
  spec.src_port = r.sport;
  spec.dst_port = r.dport;
  spec.tos = static_cast<std::uint8_t>(r.dscp << 2);
  spec.ttl = r.ttl;
  const bool v6 = r.dst ? r.dst->v6 : r.ipv6;
  if (r.dst) {
    spec.dst = *r.dst;
  } else {
    const auto to = plan.topology.find_end(r.to);
    const auto address = to ? plan.addressing.address(*to, v6) : std::nullopt;
    if (!address) return invalid("'" + r.to + "' has no address here: give --dst");
    spec.dst = address->address;
  }
  const auto peer = plan.topology.peer(at);
  if (peer) spec.src_mac = plan.addressing.at(*peer).mac;
  const auto source = peer ? plan.addressing.address(*peer, v6) : std::nullopt;
  if (!r.src && !source) return invalid("no source address is known at " + r.from + ": give --src");
  spec.src = r.src ? *r.src : source->address;
  const std::size_t headers = wire::build(spec).size();
  if (r.size > headers) spec.zeros = static_cast<std::uint32_t>(r.size - headers);
  return wire::build(spec);
}

class EmulationCapture final : public management::Capture {
 public:
  // The emulation outlives every capture: the server that hands them out ends first.
  struct Tap {
    std::string node;
    std::vector<std::string> ports;  // names by index
    std::shared_ptr<CaptureRing> ring;
    std::map<std::string_view, std::string_view> stages;  // of each drop
  };
  EmulationCapture(const Managed& managed, Emulation& emulation, std::vector<Tap> taps)
      : managed_(managed), emulation_(emulation), taps_(std::move(taps)) {}
  ~EmulationCapture() override {
    const auto held = emulation_.hold();
    for (const Tap& tap : taps_) {
      SwitchUnit* unit = emulation_.find_switch(tap.node);
      if (unit != nullptr) emulation_.remove_capture(*unit, tap.ring.get());
    }
  }

  Status read(std::vector<management::CapturedFrame>& frames, Time timeout) override {
    const Deadline deadline(timeout);
    for (;;) {
      const std::size_t before = frames.size();
      for (const Tap& tap : taps_) {
        if (!alive(tap)) {
          return Error{Error::Code::not_found, tap.node + " is not there any more"};
        }
        drain(tap, frames);
      }
      if (frames.size() > before) {
        std::stable_sort(frames.begin() + static_cast<std::ptrdiff_t>(before), frames.end(),
                         [](const auto& a, const auto& b) { return a.time < b.time; });
        return {};
      }
      if (deadline.passed()) return {};
      deadline.pause(Time::ms(1));
    }
  }

  std::uint64_t lost() const override {
    std::uint64_t n = 0;
    for (const Tap& tap : taps_) n += tap.ring->lost();
    return n;
  }

 private:
  bool alive(const Tap& tap) const {
    const auto held = emulation_.hold();
    return emulation_.find_switch(tap.node) != nullptr;
  }

  void drain(const Tap& tap, std::vector<management::CapturedFrame>& frames) const {
    tap.ring->drain([&](const CaptureRing::Frame& f) {
      management::CapturedFrame m;
      m.time = managed_.unix_time(f.time);
      m.interface = tap.node + ":" + (f.port < tap.ports.size() ? tap.ports[f.port] : "?");
      m.direction = static_cast<management::CapturedFrame::Direction>(f.direction);
      m.wire_length = f.frame_length;
      const auto stage = tap.stages.find(f.comment);
      if (stage != tap.stages.end()) m.comment = std::string(stage->second) + " ";
      m.comment += f.comment;
      m.bytes.assign(f.bytes.begin(), f.bytes.end());
      frames.push_back(std::move(m));
    });
  }

  const Managed& managed_;
  Emulation& emulation_;
  std::vector<Tap> taps_;
};

}  // namespace

Result<management::TraceReport> Managed::trace(const management::TraceRequest& request) const {
  const auto held = emulation_.hold();
  const Plan& plan = emulation_.plan();
  const Result<End> start = start_of(plan, request.from);
  if (!start.ok()) return start.error();
  Result<std::vector<std::uint8_t>> frame = frame_of(plan, request, *start);
  if (!frame.ok()) return frame.error();

  management::TraceReport report;
  PacketPtr packet(emulation_.pool().make(*frame));
  if (!packet) return Error{Error::Code::resource_exhausted, "no packet buffer is free: try again"};
  End at = *start;
  for (unsigned hop = 0; hop < kMaxHops; ++hop) {
    const topology::Node& n = plan.topology.nodes[at.node];
    SwitchUnit* unit = emulation_.find_switch(n.name);
    if (unit == nullptr) {
      report.outcome = "leaves this process towards " + plan.topology.end_name(at);
      return report;
    }
    Explanation explanation;
    bool out_up = false;
    emulation_.on_switch(*unit, [&] {
      packet->reset_meta();
      packet->meta().ingress = at.port;
      explanation = unit->explain(*packet);
      const std::uint16_t out = packet->meta().egress;
      out_up = out < unit->device().port_count() && unit->device().oper_up(out);
    });
    management::TraceHop& step = report.hops.emplace_back();
    step.node = n.name;
    step.in_port = plan.topology.port(at).name;
    step.verdict = explanation.verdict;
    step.stage = explanation.stage;
    for (StageLine& line : explanation.lines) {
      step.lines.push_back({std::move(line.stage), std::move(line.text)});
    }
    // Rewrite punts what has a way but no MAC address yet: the agent asks, then sends it on.
    const bool waits = explanation.verdict == "punt" && explanation.stage == "rewrite";
    if (explanation.verdict != "forward" && !waits) {
      const bool punt = explanation.verdict == "punt";
      report.outcome = punt ? fmt::format("ends at {}: {} hands it to the control agent", n.name,
                                          explanation.stage)
                            : fmt::format("dropped at {}: {} {}", n.name, explanation.stage,
                                          explanation.verdict);
      report.delivered = punt && !step.lines.empty() && step.lines.back().stage == "route";
      return report;
    }
    const std::uint16_t out = packet->meta().egress;
    step.out_port = topology::port_name(n.role, out);
    if (!out_up) {
      step.verdict = "port_down";
      step.stage = "queue";
      report.outcome = fmt::format("dropped at {}: {} is down", n.name, step.out_port);
      return report;
    }
    const auto peer = out < n.ports.size() ? plan.topology.peer({at.node, out}) : std::nullopt;
    if (!peer) {
      report.outcome = fmt::format("leaves the fabric at {}:{}", n.name, step.out_port);
      report.delivered = true;
      return report;
    }
    if (!plan.topology.nodes[peer->node].is_switch()) {
      report.outcome = "delivered to " + plan.topology.nodes[peer->node].name +
                       (waits ? ", once it has answered for its address" : "");
      report.delivered = true;
      return report;
    }
    at = *peer;
  }
  report.outcome = fmt::format("still under way after {} switches: a loop", kMaxHops);
  return report;
}

Result<std::unique_ptr<management::Capture>> Managed::capture(
    const management::CaptureRequest& request) {
  constexpr unsigned kFrames = 4096;
  const auto held = emulation_.hold();
  const Plan& plan = emulation_.plan();
  std::vector<EmulationCapture::Tap> taps;
  for (std::uint32_t node = 0; node < plan.topology.nodes.size(); ++node) {
    const topology::Node& n = plan.topology.nodes[node];
    std::string only = request.port;
    std::string name = n.name;
    // A host's link is seen at the switch's end of it.
    if (!n.is_switch()) {
      if (request.node != n.name) continue;
      const auto peer = plan.topology.peer({node, 0});
      if (!peer) continue;
      name = plan.topology.nodes[peer->node].name;
      only = plan.topology.port(*peer).name;
    } else if (!request.node.empty() && request.node != n.name) {
      continue;
    }
    SwitchUnit* unit = emulation_.find_switch(name);
    if (unit == nullptr) continue;
    const topology::Node& at = plan.topology.nodes[plan.topology.find(name)];
    PortSet ports(unit->device().port_count());
    EmulationCapture::Tap tap{name, {}, std::make_shared<CaptureRing>(kFrames, request.snap), {}};
    for (const StageDrop& d : unit->device().drop_list()) tap.stages.emplace(d.info.name, d.stage);
    for (std::uint16_t port = 0; port < at.ports.size(); ++port) {
      tap.ports.push_back(at.ports[port].name);
      if (at.ports[port].used() && (only.empty() || only == at.ports[port].name)) ports.set(port);
    }
    if (!ports.any()) continue;
    emulation_.add_capture(*unit, tap.ring, std::move(ports), request.drops);
    taps.push_back(std::move(tap));
  }
  if (taps.empty()) {
    return Error{Error::Code::not_found,
                 "there is no port " + request.node + ":" + request.port + " in this fabric"};
  }
  return std::unique_ptr<management::Capture>(
      std::make_unique<EmulationCapture>(*this, emulation_, std::move(taps)));
}

}  // namespace frond::fabric
