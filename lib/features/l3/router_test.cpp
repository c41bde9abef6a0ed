// SPDX-License-Identifier: BSD-3-Clause
#include "features/l3/router.hpp"

#include <gtest/gtest.h>

#include <set>

#include "wire/ethernet.hpp"

namespace frond::l3 {
namespace {

IpAddress ip(const char* text) { return *IpAddress::parse(text); }
IpPrefix prefix(const char* text) { return *IpPrefix::parse(text); }
MacAddress mac(std::uint8_t last) { return {{2, 0, 0, 0, 0, last}}; }

class RouterTest : public testing::Test {
 protected:
  RouterTest() : router_({.ports = 4}) {
    router_.set_interface(0, {mac(0), 1500, {prefix("10.0.1.0/31"), prefix("fd00::/127")}});
    router_.set_interface(1, {mac(1), 9000, {prefix("10.0.2.1/24")}});
    router_.set_interface(2, {mac(2), 9000, {prefix("10.254.0.0/31")}});
    router_.set_interface(3, {mac(3), 9000, {prefix("10.254.0.2/31")}});
    for (std::uint16_t p = 0; p < 4; ++p) router_.set_port_up(p, true);
  }
  NextHop::Kind kind(const char* a) { return router_.lookup(ip(a)).kind(); }
  void uplinks() {
    ASSERT_TRUE(router_.set_group({7}, {{2, ip("10.254.0.1")}, {3, ip("10.254.0.3")}}).ok());
    ASSERT_TRUE(router_.add_route(prefix("0.0.0.0/0"), RouteTarget::to({7})).ok());
  }
  std::set<std::uint16_t> ports_of(std::uint32_t group) {
    std::set<std::uint16_t> all;
    for (std::uint32_t bits : router_.buckets(group).next_hops()) {
      const NextHop n = NextHop::from_bits(bits);
      all.insert(n.kind() == NextHop::Kind::adjacency ? router_.adjacency(n.index()).port
                                                      : kNoPort);
    }
    return all;
  }

  Router router_;
};

using Kind = NextHop::Kind;

TEST_F(RouterTest, AnInterfaceMakesLocalAndConnectedRoutes) {
  EXPECT_EQ(kind("10.0.1.0"), Kind::local);
  EXPECT_EQ(router_.lookup(ip("10.0.1.1")), NextHop::connected(0));
  EXPECT_EQ(kind("fd00::"), Kind::local);
  EXPECT_EQ(router_.lookup(ip("fd00::1")), NextHop::connected(0));
  EXPECT_EQ(kind("10.0.2.1"), Kind::local);
  EXPECT_EQ(router_.lookup(ip("10.0.2.200")), NextHop::connected(1));
  EXPECT_EQ(kind("10.0.2.255"), Kind::blackhole) << "RFC 2644";
  EXPECT_EQ(kind("10.0.2.0"), Kind::blackhole);
  EXPECT_EQ(kind("10.0.3.1"), Kind::none);
  EXPECT_TRUE(router_.is_local(ip("10.0.2.1")));
  EXPECT_FALSE(router_.is_local(ip("10.0.2.2")));
}

TEST_F(RouterTest, ChangingAnInterfaceLeavesNothingBehind) {
  const std::size_t before = router_.route_count();
  router_.set_neighbor(1, ip("10.0.2.9"), mac(9));
  router_.set_interface(1, {mac(8), 4000, {prefix("10.0.3.1/24")}});
  EXPECT_EQ(kind("10.0.2.1"), Kind::none);
  EXPECT_EQ(kind("10.0.2.9"), Kind::none) << "its neighbour's host route too";
  EXPECT_EQ(kind("10.0.3.1"), Kind::local);
  EXPECT_EQ(router_.mtu(1), 4000U);
  router_.set_interface(1, {mac(1), 9000, {prefix("10.0.2.1/24")}});
  EXPECT_EQ(kind("10.0.2.9"), Kind::adjacency);
  router_.remove_neighbor(1, ip("10.0.2.9"));
  EXPECT_EQ(router_.route_count(), before);
}

TEST_F(RouterTest, LocalBeatsWhatControlConfigures) {
  ASSERT_TRUE(router_.add_route(prefix("10.0.1.0/32"), RouteTarget::blackhole()).ok());
  EXPECT_EQ(kind("10.0.1.0"), Kind::local);
  ASSERT_TRUE(router_.add_route(prefix("10.0.2.0/24"), RouteTarget::blackhole()).ok());
  EXPECT_EQ(kind("10.0.2.7"), Kind::connected);
  router_.set_interface(1, {mac(1), 1500, {}});
  EXPECT_EQ(kind("10.0.2.7"), Kind::blackhole);
  ASSERT_TRUE(router_.remove_route(prefix("10.0.2.0/24")).ok());
  EXPECT_EQ(router_.remove_route(prefix("10.0.2.0/24")).error().code, Error::Code::not_found);
  EXPECT_EQ(kind("10.0.2.7"), Kind::none);
}

TEST_F(RouterTest, NeighboursOnTheLinkGetHostRoutes) {
  router_.set_neighbor(1, ip("10.0.2.5"), mac(55));
  const NextHop n = router_.lookup(ip("10.0.2.5"));
  ASSERT_EQ(n.kind(), Kind::adjacency);
  const Adjacency& a = router_.adjacency(n.index());
  EXPECT_TRUE(a.resolved);
  EXPECT_EQ(a.dst, mac(55));
  EXPECT_EQ(a.src, mac(1));
  EXPECT_EQ(a.port, 1);
  router_.set_neighbor(1, ip("10.0.2.5"), mac(56));
  EXPECT_EQ(router_.lookup(ip("10.0.2.5")), n);
  EXPECT_EQ(router_.adjacency(n.index()).dst, mac(56));
  router_.remove_neighbor(1, ip("10.0.2.5"));
  EXPECT_EQ(kind("10.0.2.5"), Kind::connected);
  router_.set_neighbor(1, ip("10.0.9.9"), mac(57));
  EXPECT_EQ(kind("10.0.9.9"), Kind::none) << "not on that link";
  router_.set_neighbor(1, ip("fe80::1"), mac(58));
  EXPECT_EQ(kind("fe80::1"), Kind::none) << "link-local addresses are never routed";
}

TEST_F(RouterTest, AScanLeavesNoIndicesBehind) {
  for (int i = 0; i < 1000; ++i) {
    router_.set_neighbor(1, ip("10.0.2.5"), mac(1));
    EXPECT_EQ(router_.lookup(ip("10.0.2.5")).index(), 0U);
    router_.remove_neighbor(1, ip("10.0.2.5"));
  }
}

TEST_F(RouterTest, GroupMembersFollowTheirPorts) {
  uplinks();
  EXPECT_EQ(router_.lookup(ip("1.2.3.4")), NextHop::group(7));
  EXPECT_EQ(ports_of(7), (std::set<std::uint16_t>{2, 3}));
  router_.set_port_up(2, false);
  EXPECT_EQ(ports_of(7), (std::set<std::uint16_t>{3}));
  router_.set_port_up(3, false);
  EXPECT_EQ(ports_of(7), (std::set<std::uint16_t>{kNoPort}));
  EXPECT_FALSE(router_.way(ip("1.2.3.4")));
  router_.set_port_up(2, true);
  EXPECT_EQ(ports_of(7), (std::set<std::uint16_t>{2}));
  EXPECT_EQ(router_.way(ip("1.2.3.4"))->next_hop, ip("10.254.0.1"));
  ASSERT_TRUE(
      router_.set_group({7}, {{2, ip("10.254.0.1"), 1, false}, {3, ip("10.254.0.3")}}).ok());
  EXPECT_EQ(ports_of(7), (std::set<std::uint16_t>{kNoPort}));
}

TEST_F(RouterTest, APortThatGoesDownForgetsItsNeighbours) {
  uplinks();
  router_.set_neighbor(2, ip("10.254.0.1"), mac(77));
  router_.set_neighbor(1, ip("10.0.2.5"), mac(78));
  ASSERT_TRUE(router_.set_static_neighbor(2, ip("10.254.0.0"), mac(79)).ok());
  const std::uint32_t id = NextHop::from_bits(router_.buckets(7).choose(0)).index();
  router_.set_port_up(2, false);
  router_.set_port_up(2, true);
  EXPECT_FALSE(router_.adjacency(id).resolved);
  EXPECT_EQ(NextHop::from_bits(router_.buckets(7).choose(0)).index(), id) << "the same index";
  EXPECT_EQ(kind("10.0.2.5"), Kind::adjacency) << "another port's";
  EXPECT_TRUE(router_.is_static_neighbor(2, ip("10.254.0.0")));
}

TEST_F(RouterTest, StaticNeighboursAreFixed) {
  ASSERT_TRUE(router_.set_static_neighbor(1, ip("10.0.2.5"), mac(9)).ok());
  router_.set_neighbor(1, ip("10.0.2.5"), mac(66));
  router_.remove_neighbor(1, ip("10.0.2.5"));
  const NextHop n = router_.lookup(ip("10.0.2.5"));
  ASSERT_EQ(n.kind(), Kind::adjacency);
  EXPECT_EQ(router_.adjacency(n.index()).dst, mac(9));
  EXPECT_EQ(router_.static_neighbor(1, ip("10.0.2.5")), mac(9));
  EXPECT_FALSE(router_.set_static_neighbor(1, ip("10.9.0.1"), mac(9)).ok());
  EXPECT_FALSE(router_.set_static_neighbor(1, ip("10.0.2.6"), wire::kBroadcastMac).ok());
}

TEST_F(RouterTest, BadRequestsAreErrors) {
  EXPECT_EQ(router_.add_route(prefix("1.0.0.0/8"), RouteTarget::to({9})).error().code,
            Error::Code::not_found);
  EXPECT_EQ(router_.set_group({0}, {{9, ip("10.0.0.1")}}).error().code,
            Error::Code::invalid_argument);
  EXPECT_EQ(router_.set_group({0}, std::vector<Member>(129)).error().code,
            Error::Code::invalid_argument);
  EXPECT_TRUE(router_.set_group({0}, std::vector<Member>(128, {1, ip("10.0.2.9")})).ok());
  EXPECT_EQ(router_.set_group({kMaxGroups}, {}).error().code, Error::Code::invalid_argument);
  uplinks();
  ASSERT_TRUE(router_.remove_group({7}).ok());
  EXPECT_FALSE(router_.remove_group({7}).ok());
  EXPECT_FALSE(router_.way(ip("1.2.3.4")));
}

TEST_F(RouterTest, PendingChangesAreAppliedInSteps) {
  uplinks();
  std::vector<RouteChange> changes;
  for (std::uint32_t i = 0; i < 1000; ++i) {
    changes.push_back({{Ip4{0x14000000 | i << 8}, 24}, RouteTarget::to({7})});
  }
  changes.push_back({prefix("21.0.0.0/8"), std::nullopt});
  const std::size_t before = router_.route_count();
  router_.queue_routes(changes);
  EXPECT_TRUE(router_.apply_pending(300));
  EXPECT_EQ(router_.route_count(), before + 300);
  while (router_.apply_pending()) {
  }
  EXPECT_EQ(router_.route_count(), before + 1000);
  EXPECT_EQ(router_.failed_changes(), 1U) << "there was no 21/8 to remove";
}

TEST_F(RouterTest, SpeaksFromThePortOrTheLoopback) {
  EXPECT_EQ(router_.source_address(1, false), ip("10.0.2.1"));
  EXPECT_FALSE(router_.source_address(1, true));
  router_.set_loopback({ip("10.253.0.1"), ip("fd00:ffff::1")});
  EXPECT_EQ(router_.source_address(1, true), ip("fd00:ffff::1"));
  EXPECT_EQ(kind("10.253.0.1"), Kind::local);
  EXPECT_EQ(router_.matched(ip("10.0.2.77")), prefix("10.0.2.0/24"));
  router_.set_loopback({});
  EXPECT_EQ(kind("10.253.0.1"), Kind::none);
}

}  // namespace
}  // namespace frond::l3
