// SPDX-License-Identifier: BSD-3-Clause
// For tests: a leaf of a fat-tree, and in the second tier the spine above one of its paths, over
// ports of any kind.
//
//   ecmp_switches INGRESS UPLINK...      ports as in lab.hpp
//
// Standard input: `PATHS TIERS SEED EQUAL` builds the switches anew and answers once their ports
// are up; `?` answers with counters. One tier: the uplinks are the leaf's. Two: they are the
// spine's, which hangs on the leaf by a wire, and the leaf's other paths end here, counted.
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/clock.hpp"
#include "fabric/controller.hpp"
#include "fabric/switch_unit.hpp"
#include "link/wire.hpp"
#include "tests/system/ecmp/lab.hpp"

namespace {

using namespace frond;
using fabric::SwitchUnit;
using topology::End;
using topology::Role;

// Where a path ends that nobody follows.
class Sink final : public Port {
 public:
  unsigned receive(Time, Batch&) override { return 0; }
  unsigned transmit(Time, Batch& batch) override {
    const unsigned n = batch.size();
    batch.free_all();
    return n;
  }
  bool up() const override { return true; }
};

struct Request {
  unsigned paths = 0, tiers = 0, equal = 0;
  unsigned long seed = 0;
};

class Tiers {
 public:
  Tiers(const Request& request, const std::vector<fabric::SwitchChange>& routes,
        const std::vector<std::unique_ptr<Port>>& ports, PacketPool& pool)
      : plan_(ecmp_lab::fat_tree(request.paths, request.seed, request.equal != 0)) {
    const topology::Topology& t = plan_.topology;
    leaf_ = build(t.find("leaf1"), routes);
    up_ = ecmp_lab::ports_to(t, t.find("leaf1"), Role::spine);
    host_ = ecmp_lab::ports_to(t, t.find("leaf1"), Role::host).front();
    attach(*leaf_, host_, ports[0].get());
    const topology::Interface& host = plan_.addressing.at(*t.peer(host_));
    for (const IpPrefix& a : host.addresses) {
      if (!leaf_->router().set_static_neighbor(host_.port, a.address, host.mac).ok())
        throw StartError("no room for a neighbour");
    }
    if (request.tiers == 1) {
      for (unsigned i = 0; i < request.paths; ++i) attach(*leaf_, up_[i], ports[1 + i].get());
      out_ = up_;
      return;
    }
    const auto followed = static_cast<unsigned>(request.seed % request.paths);
    const End below = *t.peer(up_[followed]);
    spine_ = build(below.node, routes);
    wire_ = std::make_unique<link::Wire>("wire", request.seed, link::WireConfig{},
                                         link::Wire::Threads::two, pool);
    for (unsigned i = 0; i < request.paths; ++i)
      attach(*leaf_, up_[i], i == followed ? static_cast<Port*>(&wire_->a()) : &sink_);
    attach(*spine_, below, &wire_->b());
    out_ = ecmp_lab::ports_to(t, below.node, Role::core);
    for (unsigned i = 0; i < request.paths; ++i) attach(*spine_, out_[i], ports[1 + i].get());
  }

  unsigned step(const Clock& clock, PacketPool& pool) {
    unsigned work = 0;
    for (SwitchUnit* unit : {leaf_.get(), spine_.get()}) {
      if (unit == nullptr) continue;
      Device& device = unit->device();
      device.poll_all();
      Context ctx{clock.now(), device.rng(), pool};
      device.step(ctx);
      work += ctx.work;
    }
    return work;
  }

  bool up() const {
    bool all = leaf_->device().oper_up(host_.port);
    for (const End e : up_) all = all && leaf_->device().oper_up(e.port);
    for (const End e : out_) all = all && last().device().oper_up(e.port);
    return all;
  }

  void report() const {
    const SwitchBase& leaf = leaf_->device();
    std::printf("{\"in\": %lu, ", leaf.counters(host_.port).in_pkts.value());
    list("leaf_out", leaf, up_);
    list("out", last().device(), out_);
    std::printf("\"drops\": {");
    const char* separator = "";
    for (const SwitchUnit* unit : {leaf_.get(), spine_.get()}) {
      if (unit == nullptr) continue;
      const SwitchBase& device = unit->device();
      for (unsigned d = 0; d < device.drop_list().size(); ++d) {
        std::uint64_t n = 0;
        for (unsigned p = 0; p < device.port_count(); ++p)
          n += device.drop_count(static_cast<std::uint16_t>(p), d);
        if (n == 0) continue;
        std::printf("%s\"%s %s\": %lu", separator, device.name().c_str(),
                    device.drop_list()[d].info.name.data(), n);
        separator = ", ";
      }
    }
    std::printf("}}\n");
    std::fflush(stdout);
  }

 private:
  std::unique_ptr<SwitchUnit> build(std::uint32_t node,
                                    const std::vector<fabric::SwitchChange>& routes) {
    const topology::Topology& t = plan_.topology;
    auto unit =
        make_switch(t, node, node, plan_.seed, static_cast<unsigned>(t.nodes[node].ports.size()),
                    plan_.switches[node]);
    for (const fabric::SwitchChange& change : routes) {
      if (change.node != node) continue;
      const Status s =
          unit->routes().apply(t, plan_.addressing, node, change.changes, unit->router());
      if (!s.ok()) throw StartError(s.error().message);
    }
    return unit;
  }

  void attach(SwitchUnit& unit, End end, Port* port) {
    fabric::configure_port(unit, plan_.topology, plan_.addressing, end);
    unit.device().attach(end.port, port);
  }

  const SwitchUnit& last() const { return spine_ ? *spine_ : *leaf_; }

  static void list(const char* name, const SwitchBase& device, const std::vector<End>& ends) {
    std::printf("\"%s\": [", name);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      const InterfaceCounters& c = device.counters(ends[i].port);
      std::printf("%s%lu", i == 0 ? "" : ", ",
                  c.out_pkts.value() - c.out_multicast_pkts.value() - c.out_broadcast_pkts.value());
    }
    std::printf("], ");
  }

  fabric::Plan plan_;
  Sink sink_;
  std::unique_ptr<link::Wire> wire_;
  std::unique_ptr<SwitchUnit> leaf_, spine_;
  End host_;
  std::vector<End> up_, out_;
};

void run(const std::vector<std::string>& specs) {
  dpdk::Eal eal({.memory = dpdk::Eal::Config::Memory::ordinary});
  PacketPool pool("packets", {.packets = 32767, .cache = 0});
  netdev::LinkMonitor monitor;
  netdev::ReadySet ready;
  const Clock clock;
  std::vector<std::unique_ptr<Port>> ports;
  ports.reserve(specs.size());
  for (const std::string& spec : specs)
    ports.push_back(ecmp_lab::make_port(spec, eal, pool, monitor, ready));
  std::printf("ready\n");
  std::fflush(stdout);
  // Seeds change neither topology nor routes.
  std::map<unsigned, std::vector<fabric::SwitchChange>> routes;
  std::unique_ptr<Tiers> tiers;
  std::string line;
  unsigned quiet = 0;
  for (unsigned round = 0;; ++round) {
    if ((tiers == nullptr || round % 256 == 0) &&
        !ecmp_lab::take_line(line, tiers == nullptr ? 1000 : 0))
      break;
    Request request;
    if (line.starts_with("?") && tiers != nullptr) {
      tiers->report();
    } else if (std::sscanf(line.c_str(), "%u %u %lu %u", &request.paths, &request.tiers,
                           &request.seed, &request.equal) == 4) {
      tiers.reset();
      if (routes.count(request.paths) == 0) {
        const fabric::Plan plan = ecmp_lab::fat_tree(request.paths, 1, false);
        routes[request.paths] = fabric::Controller(plan.topology, plan.addressing).initial();
      }
      tiers = std::make_unique<Tiers>(request, routes[request.paths], ports, pool);
      const Time limit = clock.now() + Time::s(5);
      do tiers->step(clock, pool);
      while (!tiers->up() && clock.now() < limit);
      if (!tiers->up()) throw StartError("after 5 s there are ports that are not up");
      std::printf("up\n");
      std::fflush(stdout);
    }
    line.clear();
    if (tiers == nullptr) continue;
    quiet = tiers->step(clock, pool) != 0 ? 0 : quiet + 1;
    if (quiet > 200) usleep(20);
  }
  tiers.reset();
  ports.clear();
  std::printf("{\"left\": %u}\n", pool.in_use());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2 + static_cast<int>(ecmp_lab::kMaxPaths))
      throw StartError("usage: ecmp_switches INGRESS and eight UPLINKs");
    run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
