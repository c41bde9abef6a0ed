// SPDX-License-Identifier: BSD-3-Clause
#include "topology/addressing.hpp"

#include <gtest/gtest.h>

#include <set>

namespace frond::topology {
namespace {

std::string addresses(const Topology& t, const Addressing& a, const char* end) {
  std::string text;
  for (const IpPrefix& p : a.at(*t.find_end(end)).addresses) text += p.to_string() + " ";
  return text;
}

// No address twice; both ends of a link share their networks and differ; a host's are in the block.
void expect_plan(const Topology& t) {
  const auto result = assign_addresses(t);
  ASSERT_TRUE(result.ok());
  const Addressing& a = *result;
  std::set<IpAddress> seen;
  std::set<MacAddress> macs;
  for (std::uint32_t n = 0; n < t.nodes.size(); ++n) {
    for (const IpPrefix& p : a.loopbacks[n]) EXPECT_TRUE(seen.insert(p.address).second);
    for (const Interface& i : a.interfaces[n]) {
      for (const IpPrefix& p : i.addresses) {
        EXPECT_TRUE(seen.insert(p.address).second) << p.to_string();
      }
      EXPECT_TRUE(macs.insert(i.mac).second);
      EXPECT_EQ(i.mac.bytes[0], 2);
    }
  }
  for (const Link& l : t.links) {
    for (bool v6 : {false, true}) {
      const auto x = a.address(l.a, v6);
      const auto y = a.address(l.b, v6);
      ASSERT_TRUE(x && y);
      EXPECT_EQ(x->network(), y->network());
      EXPECT_EQ(x->length, v6 ? 127 : 31);
      EXPECT_EQ(gateway(t, a, l.a, v6), y->address);
      const bool host = !t.nodes[l.b.node].is_switch();
      EXPECT_TRUE(!host || a.blocks[l.a.node][v6 ? 1 : 0].contains(y->address));
    }
  }
}

TEST(Addressing, PlanOfALeafSpine) {
  const Topology t = leaf_spine("demo", {.leaves = 2, .spines = 2, .hosts_per_leaf = 2});
  const auto a = assign_addresses(t);
  ASSERT_TRUE(a.ok());
  EXPECT_EQ(addresses(t, *a, "leaf2:p2"), "10.0.2.2/31 fd00:0:0:2::2/127 ");
  EXPECT_EQ(addresses(t, *a, "h4"), "10.0.2.3/31 fd00:0:0:2::3/127 ");
  EXPECT_EQ(addresses(t, *a, "leaf1:p4"), "10.254.1.6/31 fd00:ffff:0:1::6/127 ");
  EXPECT_EQ(addresses(t, *a, "spine2:p1"), "10.254.1.7/31 fd00:ffff:0:1::7/127 ");
  EXPECT_EQ(a->loopbacks[t.find("leaf2")][0].to_string(), "10.253.0.2/32");
  EXPECT_EQ(a->loopbacks[t.find("spine1")][0].to_string(), "10.253.64.1/32");
  EXPECT_EQ(a->loopbacks[t.find("spine1")][1].to_string(), "fd00:fffe:0:1::1/128");
  EXPECT_EQ(a->blocks[t.find("leaf2")][0].to_string(), "10.0.2.0/24");
  EXPECT_EQ(a->blocks[t.find("leaf2")][1].to_string(), "fd00:0:0:2::/64");
  EXPECT_TRUE(a->blocks[t.find("spine1")].empty());
}

TEST(Addressing, HoldsForAllShapes) {
  expect_plan(leaf_spine("a", {.leaves = 64, .spines = 32, .hosts_per_leaf = 32}));
  expect_plan(fat_tree("b", {.k = 4}));
  expect_plan(fat_tree("c", {.k = 20}));
  // 288 leaves and as many spines: past the readable plan, counted through.
  expect_plan(fat_tree("d", {.k = 24}));
}

TEST(Addressing, MacsDifferByFabric) {
  const auto a = assign_addresses(leaf_spine("one", {}));
  const auto b = assign_addresses(leaf_spine("two", {}));
  EXPECT_NE(a->interfaces[0][0].mac, b->interfaces[0][0].mac);
}

TEST(Addressing, WhatWasAskedForIsKept) {
  Topology t = leaf_spine("t", {});
  Port& p = t.port(*t.find_end("leaf1:p1"));
  p.addresses = {*IpPrefix::parse("192.168.1.1/24")};
  p.mac = MacAddress::parse("02:00:00:00:00:07");
  t.add_port(t.find("leaf1"), "p9");
  t.nodes[t.find("leaf1")].ports[8].external = true;
  const auto a = assign_addresses(t);
  EXPECT_EQ(addresses(t, *a, "leaf1:p1"), "192.168.1.1/24 ");
  EXPECT_EQ(addresses(t, *a, "h1"), "");
  EXPECT_EQ(addresses(t, *a, "leaf1:p9"), "");
  EXPECT_EQ(a->at(*t.find_end("leaf1:p1")).mac.to_string(), "02:00:00:00:00:07");
}

TEST(Addressing, RemovingALeafReaddressesNobody) {
  const Topology full = leaf_spine("t", {.leaves = 3});
  Topology part;
  part.name = "t";
  for (const Node& n : full.nodes) {
    if (n.name != "leaf2") part.add_node(n.name, n.role);
  }
  part.finish();
  for (const Link& l : full.links) {
    const auto end = [&](End e) {
      const auto node = part.find(full.nodes[e.node].name);
      if (node != kNone) part.add_port(node, full.port(e).name);
      return End{node, e.port};
    };
    const End a = end(l.a);
    const End b = end(l.b);
    if (a.node != kNone && b.node != kNone) part.add_link(a, b, l.rate, l.delay, l.mtu);
  }
  const auto x = assign_addresses(full);
  const auto y = assign_addresses(part);
  for (const char* name : {"leaf3:p1", "leaf3:p4", "spine1:p3", "h5"}) {
    EXPECT_EQ(addresses(full, *x, name), addresses(part, *y, name));
    EXPECT_EQ(x->at(*full.find_end(name)).mac, y->at(*part.find_end(name)).mac);
  }
}

TEST(Addressing, AnySwitchMayHaveHosts) {
  Topology t;
  const auto leaf = t.add_node("leaf1", Role::leaf);
  const auto spine = t.add_node("spine1", Role::spine);
  const auto h1 = t.add_node("h1", Role::host);
  t.finish();
  t.add_port(leaf, "p1");
  t.add_port(spine, "p2");
  t.add_port(h1, "eth0");
  t.add_port(h1, "eth1");
  t.add_link({leaf, 0}, {h1, 0}, Rate::gbps(1), {}, 1500);
  t.add_link({h1, 1}, {spine, 1}, Rate::gbps(1), {}, 1500);
  expect_plan(leaf_spine("x", {}));
  const auto a = assign_addresses(t);
  EXPECT_EQ(addresses(t, *a, "spine1:p2"), "10.0.2.2/31 fd00:0:0:2::2/127 ");
  EXPECT_EQ(addresses(t, *a, "h1:eth1"), "10.0.2.3/31 fd00:0:0:2::3/127 ");
}

}  // namespace
}  // namespace frond::topology
