// SPDX-License-Identifier: BSD-3-Clause
#include "topology/topology.hpp"

#include <gtest/gtest.h>

#include <set>

namespace frond::topology {
namespace {

// Each port is used by at most the one link that names it.
void expect_consistent(const Topology& t) {
  std::set<std::string> names;
  for (const Node& n : t.nodes) EXPECT_TRUE(names.insert(n.name).second) << n.name;
  std::set<End> ends;
  for (std::uint32_t i = 0; i < t.links.size(); ++i) {
    for (End e : {t.links[i].a, t.links[i].b}) {
      EXPECT_TRUE(ends.insert(e).second) << t.end_name(e);
      EXPECT_EQ(t.port(e).link, i);
    }
  }
}

TEST(Ports, NamesAndIndices) {
  EXPECT_EQ(port_index(Role::leaf, "p1"), 0);
  EXPECT_EQ(port_index(Role::spine, "p128"), 127);
  EXPECT_EQ(port_index(Role::host, "eth0"), 0);
  EXPECT_EQ(port_index(Role::host, "eth7"), 7);
  for (const char* bad :
       {"", "p", "p0", "p01", "p129", "p-1", "p1x", "eth0", "P1", "p99999999999"}) {
    EXPECT_FALSE(port_index(Role::leaf, bad)) << bad;
  }
  for (const char* bad : {"eth", "eth8", "p1", "eth00"}) EXPECT_FALSE(port_index(Role::host, bad));
  for (std::uint16_t i = 0; i < 128; ++i)
    EXPECT_EQ(port_index(Role::leaf, port_name(Role::leaf, i)), i);
}

TEST(LeafSpine, ShapeAndNames) {
  const Topology t = leaf_spine("t", {.leaves = 4, .spines = 2, .hosts_per_leaf = 3});
  expect_consistent(t);
  EXPECT_EQ(t.count(Role::leaf), 4U);
  EXPECT_EQ(t.count(Role::spine), 2U);
  EXPECT_EQ(t.count(Role::host), 12U);
  EXPECT_EQ(t.links.size(), 4U * 2 + 12);
  EXPECT_EQ(t.end_name(*t.peer(*t.find_end("h4"))), "leaf2:p1");
  EXPECT_EQ(t.end_name(*t.peer(*t.find_end("leaf3:p5"))), "spine2:p3");
  EXPECT_FALSE(t.find_end("leaf1"));
  EXPECT_FALSE(t.find_end("leaf1:p6"));
  EXPECT_FALSE(t.find_end("leaf9:p1"));
}

TEST(FatTree, ShapeAndNames) {
  for (unsigned k : {2U, 4U, 6U, 8U}) {
    const Topology t = fat_tree("t", {.k = k});
    expect_consistent(t);
    EXPECT_EQ(t.count(Role::core), k * k / 4);
    EXPECT_EQ(t.count(Role::spine), k * k / 2);
    EXPECT_EQ(t.count(Role::leaf), k * k / 2);
    EXPECT_EQ(t.count(Role::host), k * k * k / 4);
    EXPECT_EQ(t.links.size(), 3U * k * k * k / 4);
    for (const Node& n : t.nodes) {
      EXPECT_EQ(n.ports.size(), n.is_switch() ? k : 1U) << n.name;
      for (const Port& p : n.ports) EXPECT_TRUE(p.used()) << n.name << p.name;
    }
    // A core reaches each pod once.
    for (std::uint16_t p = 0; p < k; ++p) {
      const End spine = *t.peer({t.find("core1"), p});
      EXPECT_EQ((t.nodes[spine.node].id - 1) / (k / 2), p);
    }
  }
}

TEST(Topology, OversubscriptionIsHostsOverUplinks) {
  EXPECT_DOUBLE_EQ(oversubscription(leaf_spine("t", {.hosts_per_leaf = 6})), 3.0);
  EXPECT_DOUBLE_EQ(oversubscription(fat_tree("t", {.k = 4})), 1.0);
  EXPECT_DOUBLE_EQ(oversubscription(leaf_spine("t", {.spines = 0})), 0.0);
}

TEST(Topology, IdsFollowNamesAndStayWhenOthersGo) {
  Topology t;
  t.add_node("leaf3", Role::leaf);
  t.add_node("edge", Role::leaf);
  t.add_node("leaf1", Role::leaf);
  t.add_node("rack3", Role::leaf);
  t.add_node("x7", Role::leaf, 9);
  t.add_node("spine3", Role::spine);
  t.finish();
  std::vector<std::uint32_t> ids;
  for (const Node& n : t.nodes) ids.push_back(n.id);
  EXPECT_EQ(ids, (std::vector<std::uint32_t>{3, 2, 1, 4, 9, 3}));
}

TEST(Topology, AddingAPortLeavesTheOthersIndex) {
  Topology t;
  const auto n = t.add_node("leaf1", Role::leaf);
  EXPECT_EQ(t.add_port(n, "p49"), 48);
  EXPECT_EQ(t.nodes[n].ports.size(), 49U);
  EXPECT_EQ(t.add_port(n, "p2"), 1);
  EXPECT_EQ(t.nodes[n].ports[48].name, "p49");
  EXPECT_FALSE(t.nodes[n].ports[0].used());
  EXPECT_FALSE(t.add_port(n, "eth0"));
}

TEST(Topology, SeedsDifferBySwitchAndFabric) {
  EXPECT_NE(ecmp_seed(1, "leaf1"), ecmp_seed(1, "spine1"));
  EXPECT_NE(ecmp_seed(1, "leaf1"), ecmp_seed(2, "leaf1"));
  EXPECT_EQ(ecmp_seed(1, "leaf1"), ecmp_seed(1, "leaf1"));
}

}  // namespace
}  // namespace frond::topology
