// SPDX-License-Identifier: BSD-3-Clause
// FakeFabric: a Fabric in memory, for tests and fuzzers of what stands on one: two leaves, two
// spines, two hosts. It keeps the contract: it checks what it is told, and aborts on what a correct
// caller never asks for.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <deque>
#include <mutex>

#include "control/management/event_log.hpp"
#include "control/management/fabric.hpp"

namespace frond::management {

class FakeFabric : public Fabric {
 public:
  FakeFabric() {
    add_node("leaf1", "leaf", {"p1", "p2", "p3"});
    add_node("leaf2", "leaf", {"p1", "p2", "p3"});
    add_node("spine1", "spine", {"p1", "p2"});
    add_node("spine2", "spine", {"p1", "p2"});
    add_node("h1", "host", {"eth0"});
    add_node("h2", "host", {"eth0"});
    add_link("leaf1", "p1", "h1", "eth0");
    add_link("leaf2", "p1", "h2", "eth0");
    add_link("leaf1", "p2", "spine1", "p1");
    add_link("leaf1", "p3", "spine2", "p1");
    add_link("leaf2", "p2", "spine1", "p2");
    add_link("leaf2", "p3", "spine2", "p2");
    interface("leaf1", "p1")->counters.in_octets = (std::uint64_t{1} << 60) + 1;
    interface("leaf1", "p1")->counters.in_pkts = 10;
    interface("leaf1", "p1")->drops = {{"parse", "ipv4_bad_checksum", false, 3},
                                       {"route", "route_no_route", false, 5},
                                       {"queue", "queue_tail_drop", true, 7}};
    log_.post({.kind = "up", .text = "the fabric is up"});
  }

  FabricInfo info() const override {
    std::lock_guard lock(mutex_);
    FabricInfo i;
    i.name = "demo";
    i.mode = "emulated";
    i.version = "0.1.0";
    i.dpdk = "22.11";
    i.config_file = "demo.yaml";
    i.fidelity = "not CPU-bound";
    i.pid = 4242;
    i.now = Time::s(1'700'000'000) + Time::ms(++clock_);
    i.started = Time::s(1'700'000'000);
    i.seed = 7;
    i.workers = 1;
    i.busy = 0.25;
    return i;
  }
  std::vector<Node> nodes() const override {
    std::lock_guard lock(mutex_);
    return nodes_;
  }
  std::vector<Link> links() const override {
    std::lock_guard lock(mutex_);
    return links_;
  }
  std::vector<Neighbor> neighbors(const std::string& node) const override {
    std::vector<Neighbor> all = {{"leaf1", "p1", *IpAddress::parse("10.0.1.1"),
                                  *MacAddress::parse("02:00:00:00:00:01"), "reachable",
                                  Time::s(3)}};
    if (!node.empty()) std::erase_if(all, [&](const Neighbor& n) { return n.node != node; });
    return all;
  }
  std::vector<Event> events(std::uint64_t after, Time timeout) const override {
    return log_.read(after, timeout);
  }
  std::uint64_t last_event() const override { return log_.last(); }

  Status set_link_admin(const std::string& node, const std::string& port, bool up) override {
    {
      std::lock_guard lock(mutex_);
      ++changes;
      Interface* i = interface(node, port);
      if (i == nullptr) std::abort();  // the caller looked it up
      if (fail_admin == node + ":" + port)
        return Error{Error::Code::unavailable, "the port is stuck"};
      i->admin_up = i->oper_up = up;
      i->down_reason = up ? "" : "admin";
      ++i->counters.carrier_transitions;
    }
    log_.post(
        {.kind = up ? "link-up" : "link-down", .node = node, .port = port, .mechanism = "admin"});
    return {};
  }
  Status set_impairment(const std::string& node, const std::string& port,
                        const Impairment& n) override {
    {
      std::lock_guard lock(mutex_);
      ++changes;
      for (double p : {n.loss, n.corrupt, n.duplicate, n.reorder}) {
        if (!(p >= 0 && p <= 1)) std::abort();
      }
      if (n.delay < Time() || n.jitter < Time() || n.reorder_delay < Time()) std::abort();
      LinkEnd* e = end(node, port);
      if (e == nullptr) std::abort();
      e->out = n;
    }
    log_.post({.kind = "impair", .node = node, .port = port});
    return {};
  }

  Result<ApplyReport> apply(const std::string& yaml, const std::string& file,
                            bool dry_run) override {
    ApplyReport report;
    if (yaml.find("bad") != yaml.npos) {
      report.diagnostics.push_back({Diagnostic::Severity::error, file, 14, 9, "unknown key 'bad'"});
      return report;
    }
    report.valid = true;
    report.applied = !dry_run;
    report.changes = {"+ link leaf1:p4 -- spine1:p3"};
    return report;
  }
  Result<TraceReport> trace(const TraceRequest& r) const override {
    if (r.from != "h1")
      return Error{Error::Code::not_found, fmt::format("there is no host '{}'", r.from)};
    return TraceReport{
        true,
        "delivered to " + r.to,
        {{"leaf1",
          "p1",
          "p2",
          "forward",
          "",
          {{"parse", fmt::format("parse    dscp {}", r.dscp)},
           {"route", "route    10.0.2.0/24 ecmp 2 -> spine1"}}},
         {"spine1", "p1", "p2", "forward", "", {{"route", "route    10.0.2.0/24 -> leaf2"}}},
         {"leaf2", "p2", "p1", "deliver", "", {{"route", "route    connected"}}}}};
  }
  Result<std::unique_ptr<Capture>> capture(const CaptureRequest& r) override {
    if (r.node != "leaf1")
      return Error{Error::Code::not_found, fmt::format("there is no node '{}'", r.node)};
    return std::unique_ptr<Capture>(std::make_unique<FakeCapture>(*this, r.port));
  }
  Result<std::string> graph(const std::string& format) const override {
    if (format != "dot") return Error{Error::Code::invalid_argument, "formats: dot"};
    return std::string("graph demo {}");
  }
  void shutdown() override { stopped = true; }

  // For tests: what a capture shows next, and the events.
  void push_frame(CapturedFrame frame) {
    std::lock_guard lock(mutex_);
    frames_.push_back(std::move(frame));
  }
  EventLog& log() { return log_; }
  template <class F> void change(F&& f) {
    std::lock_guard lock(mutex_);
    f(nodes_);
  }
  int captures() const { return captures_; }

  std::string fail_admin;  // this port's admin state cannot be changed
  std::atomic<int> changes = 0;
  std::atomic<bool> stopped = false;

 private:
  class FakeCapture final : public Capture {
   public:
    FakeCapture(FakeFabric& fabric, std::string port) : fabric_(fabric), port_(std::move(port)) {
      ++fabric_.captures_;
    }
    ~FakeCapture() override { --fabric_.captures_; }
    Status read(std::vector<CapturedFrame>& frames, Time timeout) override {
      {
        std::lock_guard lock(fabric_.mutex_);
        for (auto& f : fabric_.frames_) {
          if (port_.empty() || f.interface == "leaf1:" + port_) frames.push_back(f);
        }
        fabric_.frames_.clear();
      }
      if (frames.empty()) (void)fabric_.log_.read(fabric_.log_.last(), timeout);
      return {};
    }
    std::uint64_t lost() const override { return 2; }

   private:
    FakeFabric& fabric_;
    std::string port_;
  };

  void add_node(const std::string& name, const std::string& role,
                const std::vector<std::string>& ports) {
    Node n;
    n.name = name;
    n.role = role;
    n.kind = role == "host" ? Node::Kind::host : Node::Kind::network_switch;
    if (role == "host") n.netns = "demo-" + name;
    for (const auto& p : ports) {
      Interface i;
      i.name = p;
      i.index = static_cast<std::uint32_t>(n.interfaces.size() + 1);
      i.oper_up = true;
      i.mtu = 9000;
      i.speed = Rate::gbps(10);
      i.mac = *MacAddress::parse("02:00:00:00:00:0a");
      i.addresses = {*IpPrefix::parse("10.0.1.0/31"), *IpPrefix::parse("fd00::/127")};
      i.attachment = "wire";
      i.queue_limit = 1 << 20;
      n.interfaces.push_back(i);
    }
    nodes_.push_back(n);
  }
  void add_link(const std::string& an, const std::string& ap, const std::string& bn,
                const std::string& bp) {
    links_.push_back({{an, ap, {}}, {bn, bp, {}}, true, Rate::gbps(10), Time::us(1), true});
    interface(an, ap)->peer = bn + ":" + bp;
    interface(bn, bp)->peer = an + ":" + ap;
  }
  Interface* interface(const std::string& node, const std::string& port) {
    for (Node& n : nodes_) {
      if (n.name != node) continue;
      for (Interface& i : n.interfaces) {
        if (i.name == port) return &i;
      }
    }
    return nullptr;
  }
  LinkEnd* end(const std::string& node, const std::string& port) {
    for (Link& l : links_) {
      for (LinkEnd* e : {&l.a, &l.b}) {
        if (e->node == node && e->port == port) return e;
      }
    }
    return nullptr;
  }

  mutable std::mutex mutex_;
  mutable std::int64_t clock_ = 0;
  std::vector<Node> nodes_;
  std::vector<Link> links_;
  std::deque<CapturedFrame> frames_;
  EventLog log_;
  std::atomic<int> captures_ = 0;
};

}  // namespace frond::management
