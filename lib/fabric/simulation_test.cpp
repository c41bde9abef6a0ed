// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/simulation.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "fabric/report.hpp"

namespace frond::fabric {
namespace {

Plan leaf_spine_plan(std::uint64_t seed = 7) {
  Plan plan;
  plan.name = "t";
  plan.seed = seed;
  plan.topology = topology::leaf_spine("t", {.leaves = 2,
                                             .spines = 2,
                                             .hosts_per_leaf = 2,
                                             .host_rate = Rate::gbps(10),
                                             .uplink_rate = Rate::gbps(10),
                                             .delay = Time::ns(500)});
  plan.addressing = *topology::assign_addresses(plan.topology);
  plan.switches.resize(plan.topology.nodes.size());
  plan.links.resize(plan.topology.links.size());
  plan.duration = Time::ms(2);
  return plan;
}

void add_flow(Plan& plan, const char* from, const char* to, sim::UdpFlow flow, bool v6 = false) {
  const std::uint32_t source = plan.topology.find(from), sink = plan.topology.find(to);
  flow.dst = plan.addressing.address({sink, 0}, v6)->address;
  flow.id = static_cast<std::uint32_t>(plan.flows.size());
  flow.src_port = static_cast<std::uint16_t>(49152 + flow.id);
  plan.flows.push_back({source, flow});
}

TEST(Simulation, EveryPacketArrivesAndTheHashIsReproducible) {
  std::string first;
  for (int run = 0; run < 2; ++run) {
    Plan plan = leaf_spine_plan();
    for (const char* to : {"h2", "h3", "h4"}) {
      for (bool v6 : {false, true}) {
        add_flow(plan, "h1", to, {.rate = Rate::gbps(1), .frame = 1500, .count = 50}, v6);
      }
    }
    Simulation s(plan);
    s.run();
    const auto report = nlohmann::json::parse(report_json(s));
    EXPECT_EQ(report["sent"], 300);
    EXPECT_EQ(report["delivered"], 300);
    EXPECT_EQ(report["dropped"].size(), 0U) << report["dropped"];
    if (run == 0) first = report_json(s);
    EXPECT_EQ(report_json(s), first);
  }
  Plan other = leaf_spine_plan(8);
  add_flow(other, "h1", "h3", {.rate = Rate::gbps(1), .frame = 1500, .count = 50});
  Simulation s(other);
  s.run();
  EXPECT_NE(nlohmann::json::parse(report_json(s))["trace_hash"],
            nlohmann::json::parse(first)["trace_hash"]);
}

// A full-size packet of one flow on empty lines: four lines and three hops of store-and-forward.
TEST(Simulation, LatencyIsExact) {
  Plan plan = leaf_spine_plan();
  add_flow(plan, "h1", "h3",
           {.rate = Rate::mbps(100), .frame = 1500, .start = Time::ms(1), .count = 5});
  Simulation s(plan);
  s.run();
  const auto report = nlohmann::json::parse(report_json(s));
  // (1500 + 20) bytes at 10G: 1216 ns, four times; 500 ns of cable, four times.
  EXPECT_EQ(report["latency_ns"]["min"], 4 * 1216 + 4 * 500);
}

// A link that dies without notice: BFD finds it after three of its intervals, the leaf re-hashes at
// once, the other leaf when the controller has told it.
TEST(Simulation, ASilentLinkIsFoundByBfd) {
  Plan plan = leaf_spine_plan();
  plan.duration = Time::ms(400);
  for (int i = 0; i < 16; ++i) {
    add_flow(plan, "h1", "h3", {.rate = Rate::mbps(10), .frame = 500});
  }
  const topology::End port = *plan.topology.find_end("leaf1:p3");
  plan.events.push_back({.at = Time::ms(200),
                         .end = port,
                         .kind = LinkEvent::Kind::impair,
                         .impairment = {.blackhole = true}});
  Simulation s(plan);
  s.run();
  const Simulation::SeenEvent* down = nullptr;
  for (const auto& e : s.events()) {
    if (!e.up && e.mechanism == "bfd" && down == nullptr) down = &e;
  }
  ASSERT_NE(down, nullptr);
  EXPECT_EQ(plan.topology.nodes[down->end.node].name, "spine1")
      << "whom the packets no longer reach";
  EXPECT_GT(down->time, Time::ms(220));
  EXPECT_LE(down->time, Time::ms(231));
  EXPECT_LE(down->detection, Time::ms(31));
}

}  // namespace
}  // namespace frond::fabric
