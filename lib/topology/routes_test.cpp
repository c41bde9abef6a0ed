// SPDX-License-Identifier: BSD-3-Clause
#include "topology/routes.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "base/rng.hpp"

namespace frond::topology {
namespace {

struct Fabric {
  Topology t;
  Addressing a;
  explicit Fabric(Topology topology) : t(std::move(topology)), a(*assign_addresses(t)) {}
  Routes routes(const LinkStates& s = {}) const { return compute_routes(t, a, s); }
  LinkStates all_up() const { return LinkStates(t.links.size(), true); }
  std::uint32_t link(const char* end) const { return t.port(*t.find_end(end)).link; }
  const Group* group(const Routes& r, const char* at, const char* to) const {
    return r[t.find(at)].find(group_id(t.nodes[t.find(to)]));
  }
  std::string members(const Routes& r, const char* at, const char* to) const {
    const Group* g = group(r, at, to);
    if (g == nullptr) return "none";
    std::string text;
    for (const Member& m : g->members) {
      text += t.nodes[t.find(at)].ports[m.port].name + (m.alive ? "" : "!") +
              (m.weight == 1 ? "" : "*" + std::to_string(m.weight)) + " ";
    }
    return text;
  }
};

// Follows every living path of every pair: each ends at its destination, over links that are up,
// and in up-down routing none goes up after it went down. Returns how many pairs are connected.
unsigned walk(const Fabric& f, const Routes& routes, const LinkStates& states) {
  const bool up_down = routing_of(f.t) == Routing::up_down;
  unsigned connected = 0;
  for (std::uint32_t d = 0; d < f.t.nodes.size(); ++d) {
    if (!f.t.nodes[d].is_switch() || f.a.blocks[d].empty()) continue;
    // Depth first; a node that is on the path again is a loop.
    const std::function<bool(std::uint32_t, bool, unsigned)> follow =
        [&](std::uint32_t n, bool went_down, unsigned hops) -> bool {
      if (n == d) return true;
      EXPECT_LT(hops, f.t.nodes.size()) << "loop";
      if (hops >= f.t.nodes.size()) return false;
      const Group* g = routes[n].find(group_id(f.t.nodes[d]));
      bool any = false;
      if (g == nullptr) return false;
      for (const Member& m : g->members) {
        if (!m.alive) continue;
        const End end{n, m.port};
        EXPECT_TRUE(states.empty() || states[f.t.port(end).link]);
        const std::uint32_t next = f.t.peer(end)->node;
        const bool down = f.t.nodes[next].role < f.t.nodes[n].role;
        EXPECT_FALSE(up_down && went_down && !down) << "valley";
        EXPECT_TRUE(follow(next, went_down || down, hops + 1)) << "black hole";
        any = true;
      }
      return any;
    };
    for (std::uint32_t s = 0; s < f.t.nodes.size(); ++s) {
      if (s != d && f.t.nodes[s].is_switch() && !f.a.blocks[s].empty()) {
        connected += follow(s, false, 0) ? 1 : 0;
      }
    }
  }
  return connected;
}

// With every pattern of failures, prefixes and groups stay; only members' life changes.
void expect_only_groups_change(const Routes& before, const Routes& after) {
  for (std::size_t n = 0; n < before.size(); ++n) {
    const RouteChanges c = diff(before[n], after[n]);
    EXPECT_TRUE(c.set_routes.empty() && c.removed_routes.empty() && c.removed_groups.empty());
    EXPECT_EQ(before[n].groups.size(), after[n].groups.size());
  }
}

TEST(Routes, LeafSpine) {
  const Fabric f(leaf_spine("t", {.leaves = 3, .spines = 2, .hosts_per_leaf = 2}));
  EXPECT_EQ(routing_of(f.t), Routing::up_down);
  const Routes r = f.routes();
  EXPECT_EQ(f.members(r, "leaf1", "leaf2"), "p3 p4 ");
  EXPECT_EQ(f.members(r, "spine1", "leaf2"), "p2 ");
  EXPECT_EQ(f.members(r, "leaf1", "spine2"), "p4 ");
  EXPECT_EQ(f.members(r, "spine1", "spine2"), "none");
  EXPECT_TRUE(r[f.t.find("h1")].groups.empty());
  EXPECT_EQ(walk(f, r, {}), 6U);
  // Prefixes of leaf2: loopbacks and blocks, of both families.
  const std::uint32_t id = group_id(f.t.nodes[f.t.find("leaf2")]);
  std::set<std::string> prefixes;
  for (const Route& route : r[f.t.find("leaf1")].routes) {
    if (route.group == id) prefixes.insert(route.prefix.to_string());
  }
  EXPECT_EQ(prefixes, (std::set<std::string>{"10.0.2.0/24", "10.253.0.2/32", "fd00:0:0:2::/64",
                                             "fd00:fffe::2/128"}));
}

TEST(Routes, RemoteFailureKillsTheMemberForThatDestinationOnly) {
  const Fabric f(leaf_spine("t", {.leaves = 3, .spines = 2, .hosts_per_leaf = 2}));
  LinkStates s = f.all_up();
  s[f.link("leaf2:p3")] = false;  // to spine1
  const Routes r = f.routes(s);
  EXPECT_EQ(f.members(r, "leaf1", "leaf2"), "p3! p4 ");
  EXPECT_EQ(f.members(r, "leaf1", "leaf3"), "p3 p4 ");
  EXPECT_EQ(f.members(r, "leaf2", "leaf1"), "p3! p4 ");
  EXPECT_EQ(f.members(r, "spine1", "leaf2"), "p2! ");
  EXPECT_EQ(walk(f, r, s), 6U);
  expect_only_groups_change(f.routes(), r);
  const RouteChanges c = diff(f.routes()[f.t.find("leaf3")], r[f.t.find("leaf3")]);
  ASSERT_EQ(c.set_groups.size(), 1U);
  EXPECT_EQ(c.set_groups[0].destination, f.t.find("leaf2"));
  // And back: the same value as at first.
  EXPECT_TRUE(diff(f.routes()[0], f.routes(f.all_up())[0]).empty());
}

TEST(Routes, NoDetourThroughAnotherRack) {
  const Fabric f(leaf_spine("t", {.leaves = 3, .spines = 2, .hosts_per_leaf = 2}));
  LinkStates s = f.all_up();
  s[f.link("leaf1:p4")] = false;
  s[f.link("leaf2:p3")] = false;
  const Routes r = f.routes(s);
  EXPECT_EQ(f.members(r, "leaf1", "leaf2"), "p3! p4! ");
  EXPECT_EQ(walk(f, r, s), 4U);
}

TEST(Routes, FatTreeSurvivesEverySingleFailureWithoutLoops) {
  const Fabric f(fat_tree("t", {.k = 4}));
  EXPECT_EQ(routing_of(f.t), Routing::up_down);
  const Routes base = f.routes();
  EXPECT_EQ(f.members(base, "leaf1", "leaf2"), "p3 p4 ");
  EXPECT_EQ(f.members(base, "spine1", "leaf8"), "p3 p4 ");
  EXPECT_EQ(f.members(base, "core1", "leaf8"), "p4 ");
  EXPECT_EQ(walk(f, base, {}), 56U);
  for (std::uint32_t l = 0; l < f.t.links.size(); ++l) {
    const Link& link = f.t.links[l];
    if (!f.t.nodes[link.b.node].is_switch()) continue;
    LinkStates s = f.all_up();
    s[l] = false;
    const Routes r = f.routes(s);
    EXPECT_EQ(walk(f, r, s), 56U) << f.t.link_name(link);
    expect_only_groups_change(base, r);
  }
}

TEST(Routes, FatTreeNeverLoopsWhateverFails) {
  const Fabric f(fat_tree("t", {.k = 4}));
  const Routes base = f.routes();
  Rng rng(11);
  for (int round = 0; round < 200; ++round) {
    LinkStates s = f.all_up();
    for (std::size_t l = 0; l < s.size(); ++l) s[l] = rng.below(4) != 0;
    const Routes r = f.routes(s);
    walk(f, r, s);
    expect_only_groups_change(base, r);
  }
}

// A ring has links within a tier: shortest paths, and the long way round after a failure.
TEST(Routes, RingTakesTheLongWayRound) {
  Topology t;
  for (int i = 1; i <= 5; ++i) t.add_node("leaf" + std::to_string(i), Role::leaf);
  for (int i = 1; i <= 5; ++i) t.add_node("h" + std::to_string(i), Role::host);
  t.finish();
  for (std::uint32_t i = 0; i < 5; ++i) {
    for (const char* p : {"p1", "p2", "p3"}) t.add_port(i, p);
    t.add_port(5 + i, "eth0");
  }
  for (std::uint32_t i = 0; i < 5; ++i) {
    t.add_link({i, 0}, {5 + i, 0}, Rate::gbps(1), {}, 1500);
    t.add_link({i, 1}, {(i + 1) % 5, 2}, Rate::gbps(1), {}, 1500);
  }
  const Fabric f(std::move(t));
  EXPECT_EQ(routing_of(f.t), Routing::shortest_path);
  const Routes base = f.routes();
  EXPECT_EQ(f.members(base, "leaf1", "leaf3"), "p2 ");
  EXPECT_EQ(walk(f, base, {}), 20U);
  LinkStates s = f.all_up();
  s[f.link("leaf2:p2")] = false;
  const Routes r = f.routes(s);
  EXPECT_EQ(f.members(r, "leaf1", "leaf3"), "p2! p3 ");
  EXPECT_EQ(walk(f, r, s), 20U);
  expect_only_groups_change(base, r);
}

// leaf1 - spine1 - leaf2 - spine2 - leaf3 has no up-down path from end to end.
TEST(Routes, ZigzagFallsBackToShortestPaths) {
  Topology t = leaf_spine("t", {.leaves = 3, .spines = 2, .hosts_per_leaf = 1});
  Topology z;
  for (const Node& n : t.nodes) z.add_node(n.name, n.role, n.id);
  for (const Link& l : t.links) {
    const std::string name = t.link_name(l);
    if (name == "leaf1:p3-spine2:p1" || name == "leaf3:p2-spine1:p3") continue;
    z.add_port(l.a.node, t.port(l.a).name);
    z.add_port(l.b.node, t.port(l.b).name);
    z.add_link(l.a, l.b, l.rate, l.delay, l.mtu);
  }
  const Fabric f(std::move(z));
  EXPECT_EQ(routing_of(f.t), Routing::shortest_path);
  EXPECT_EQ(walk(f, f.routes(), {}), 6U);
}

TEST(Routes, WeightsFollowTheCapacityBehind) {
  Topology t = leaf_spine("t", {.leaves = 2,
                                .spines = 3,
                                .hosts_per_leaf = 1,
                                .host_rate = Rate::gbps(10),
                                .uplink_rate = Rate::gbps(100)});
  const auto set = [&](const char* end, Rate rate) {
    t.links[t.port(*t.find_end(end)).link].rate = rate;
  };
  set("leaf1:p3", Rate::gbps(40));  // our own link to spine2 is slower
  set("leaf2:p4", Rate::gbps(25));  // spine3 cannot pass on more
  const Fabric f(std::move(t));
  const Routes r = f.routes();
  EXPECT_EQ(f.members(r, "leaf1", "leaf2"), "p2*20 p3*8 p4*5 ");
  // A failure does not touch the others' weights.
  LinkStates s = f.all_up();
  s[f.link("leaf2:p2")] = false;
  EXPECT_EQ(f.members(f.routes(s), "leaf1", "leaf2"), "p2!*20 p3*8 p4*5 ");
}

TEST(Routes, NetworksOfExternalPortsAreRouted) {
  Topology t = leaf_spine("t", {});
  t.add_port(t.find("leaf2"), "p9");
  Port& p = t.nodes[t.find("leaf2")].ports[8];
  p.external = true;
  p.addresses = {*IpPrefix::parse("192.0.2.1/24"), *IpPrefix::parse("10.0.2.77/31")};
  const Fabric f(std::move(t));
  unsigned found = 0;
  const auto tables = f.routes();  // outlives the loop over a part of it
  for (const Route& r : tables[f.t.find("leaf1")].routes) {
    EXPECT_NE(r.prefix.to_string(), "10.0.2.76/31") << "already in the block";
    if (r.prefix.to_string() != "192.0.2.0/24") continue;
    ++found;
    EXPECT_EQ(r.group, group_id(f.t.nodes[f.t.find("leaf2")]));
  }
  EXPECT_EQ(found, 1U);
}

TEST(Routes, TwoThousandHosts) {
  for (const Topology& t : {leaf_spine("a", {.leaves = 64, .spines = 32, .hosts_per_leaf = 32}),
                            fat_tree("b", {.k = 20})}) {
    const Fabric f(t);
    const Routes r = f.routes();
    unsigned leaves = 0;
    for (std::uint32_t n = 0; n < f.t.nodes.size(); ++n) {
      if (f.t.nodes[n].role != Role::leaf) continue;
      ++leaves;
      for (const Group& g : r[n].groups) EXPECT_FALSE(g.members.empty());
    }
    EXPECT_EQ(leaves, f.t.count(Role::leaf));
  }
}

}  // namespace
}  // namespace frond::topology
