// SPDX-License-Identifier: BSD-3-Clause
// What ARP and the states of neighbours do; nd_test.cpp has neighbour discovery.
#include "features/neighbor/neighbor.hpp"

#include <algorithm>

#include "features/neighbor/neighbor_fixture.hpp"

namespace frond::neighbor {
namespace {

TEST_F(NeighborTest, AnswersForItsAddressAndLearnsWhoAsked) {
  arp(0, {.op = 1, .sha = kHostMac, .spa = "10.0.0.9", .tpa = "10.0.0.1"});
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].port, 0);
  EXPECT_EQ(frames[0].bytes.size(), 60U);
  EXPECT_EQ(frames[0].at<wire::Ethernet>(0).dst, kHostMac);
  EXPECT_EQ(frames[0].at<wire::Ethernet>(0).src, own_mac(0));
  const auto& reply = frames[0].at<wire::Arp>(14);
  EXPECT_EQ(reply.operation.host(), wire::Arp::kReply);
  EXPECT_EQ(reply.sender_mac, own_mac(0));
  EXPECT_EQ(Ip4{reply.sender_ip.host()}, ip("10.0.0.1").v4_address);
  EXPECT_EQ(reply.target_mac, kHostMac);
  EXPECT_EQ(Ip4{reply.target_ip.host()}, ip("10.0.0.9").v4_address);
  EXPECT_EQ(state(0, "10.0.0.9"), Reach::stale);
  EXPECT_EQ(router.lookup(ip("10.0.0.9")).kind(), l3::NextHop::Kind::adjacency);
  EXPECT_EQ(total_drops(), 0U);
}

TEST_F(NeighborTest, AnswersAProbeWithoutLearning) {
  arp(0, {.op = 1, .sha = kHostMac, .spa = "0.0.0.0", .tpa = "10.0.0.1"});
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].at<wire::Ethernet>(0).dst, kHostMac);
  EXPECT_TRUE(neighbors->table().empty());
}

TEST_F(NeighborTest, DoesNotAnswerForAnotherPortsAddress) {
  arp(0, {.op = 1, .sha = kHostMac, .spa = "10.0.0.9", .tpa = "10.0.2.1"});
  arp(0, {.op = 1, .sha = kHostMac, .spa = "10.0.0.9", .tpa = "10.0.0.77"});
  arp(0, {.op = 1, .sha = kHostMac, .spa = "0.0.0.0", .tpa = "10.0.0.77"});
  EXPECT_TRUE(sent().empty());
  EXPECT_EQ(drops(0, Neighbors::arp_not_for_us), 3U);
  EXPECT_TRUE(neighbors->table().empty());
}

TEST_F(NeighborTest, MalformedArpIsDropped) {
  const ArpSpec good{.op = 1, .sha = kHostMac, .spa = "10.0.0.9", .tpa = "10.0.0.1"};
  unsigned n = 0;
  for (std::size_t length = 14; length < 42; ++length, ++n) {
    Bytes8 frame = arp_frame(good);
    frame.resize(length);
    receive_arp(0, frame);
  }
  // hardware type, protocol, both lengths, operation
  for (const auto& [offset, value] :
       {std::pair{15U, 6U}, {16U, 0x86U}, {18U, 8U}, {19U, 16U}, {21U, 3U}, {20U, 1U}}) {
    Bytes8 frame = arp_frame(good);
    frame[offset] = static_cast<std::uint8_t>(value);
    receive_arp(0, frame);
    ++n;
  }
  for (const char* sha : {"ff:ff:ff:ff:ff:ff", "01:00:5e:00:00:01", "00:00:00:00:00:00"}) {
    arp(0, {.op = 1, .sha = mac(sha), .spa = "10.0.0.9", .tpa = "10.0.0.1"});
    ++n;
  }
  EXPECT_EQ(drops(0, Neighbors::arp_malformed), n);
  EXPECT_TRUE(sent().empty());
  EXPECT_TRUE(neighbors->table().empty());
}

TEST_F(NeighborTest, ASenderFromElsewhereIsNotAnswered) {
  for (const char* spa : {"10.0.2.9", "10.0.0.255", "10.0.0.0", "224.0.0.1", "192.0.2.1"}) {
    arp(0, {.op = 1, .sha = kHostMac, .spa = spa, .tpa = "10.0.0.1"});
  }
  EXPECT_EQ(drops(0, Neighbors::neighbor_off_link), 5U);
  EXPECT_TRUE(sent().empty());
}

TEST_F(NeighborTest, DefendsItsAddressOnceInTenSeconds) {
  const ArpSpec conflict{.op = 1, .sha = kHostMac, .spa = "10.0.0.1", .tpa = "10.0.0.1"};
  for (int i = 0; i < 5; ++i) arp(0, conflict);
  auto frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  const auto& defence = frames[0].at<wire::Arp>(14);
  EXPECT_EQ(defence.sender_ip, defence.target_ip);
  EXPECT_EQ(defence.sender_mac, own_mac(0));
  EXPECT_EQ(frames[0].at<wire::Ethernet>(0).dst, wire::kBroadcastMac);
  now += Time::s(10);
  arp(0, conflict);
  EXPECT_EQ(sent().size(), 1U);
  EXPECT_EQ(drops(0, Neighbors::neighbor_conflict), 6U);
}

TEST_F(NeighborTest, OurOwnFrameThatComesBackIsNoConflict) {
  arp(0, {.op = 1, .sha = own_mac(0), .spa = "10.0.0.1", .tpa = "10.0.0.1"});
  EXPECT_TRUE(sent().empty());
}

TEST_F(NeighborTest, UnsolicitedRepliesAndAnnouncementsTeachNothing) {
  arp(0, {.op = 2, .sha = kHostMac, .spa = "10.0.0.9", .tha = own_mac(0), .tpa = "10.0.0.1"});
  arp(0, {.op = 1, .sha = kHostMac, .spa = "10.0.0.9", .tpa = "10.0.0.9"});
  arp(0, {.op = 2, .sha = kHostMac, .spa = "10.0.0.9", .tpa = "10.0.0.9"});
  EXPECT_EQ(drops(0, Neighbors::neighbor_unsolicited), 3U);
  EXPECT_TRUE(neighbors->table().empty());
}

TEST_F(NeighborTest, AnAnnouncementMovesAKnownNeighbour) {
  learn(0, "10.0.0.9", kHostMac);
  arp(0, {.op = 1, .sha = kOtherMac, .spa = "10.0.0.9", .tpa = "10.0.0.9"});
  EXPECT_EQ(known(0, "10.0.0.9").mac, kOtherMac);
  EXPECT_EQ(state(0, "10.0.0.9"), Reach::stale) << "not confirmed: to be probed soon";
  EXPECT_EQ(adjacency_mac("10.0.0.9"), kOtherMac);
}

TEST_F(NeighborTest, AStaticNeighbourCannotBePoisoned) {
  ASSERT_TRUE(router.set_static_neighbor(0, ip("10.0.0.9"), kHostMac).ok());
  arp(0, {.op = 1, .sha = kOtherMac, .spa = "10.0.0.9", .tpa = "10.0.0.9"});
  arp(0, {.op = 1, .sha = kOtherMac, .spa = "10.0.0.9", .tpa = "10.0.0.1"});
  EXPECT_EQ(drops(0, Neighbors::neighbor_static), 2U);
  EXPECT_EQ(adjacency_mac("10.0.0.9"), kHostMac);
  sent();
  arp(0, {.op = 1, .sha = kHostMac, .spa = "10.0.0.9", .tpa = "10.0.0.1"});
  EXPECT_EQ(sent().size(), 1U) << "but it is answered";
  EXPECT_EQ(drops(0, Neighbors::neighbor_static), 2U);
}

TEST_F(NeighborTest, AnotherPortCannotPoisonIt) {
  learn(0, "10.0.0.9", kHostMac);
  sent();
  for (std::uint16_t port = 1; port < kPorts; ++port) {
    arp(port, {.op = 1, .sha = kOtherMac, .spa = "10.0.0.9", .tpa = "10.0.0.9"});
    arp(port, {.op = 1, .sha = kOtherMac, .spa = "10.0.0.9", .tpa = "10.0.2.1"});
    arp(port, {.op = 2, .sha = kOtherMac, .spa = "10.0.0.9", .tha = own_mac(0), .tpa = "10.0.0.1"});
  }
  EXPECT_EQ(adjacency_mac("10.0.0.9"), kHostMac);
  EXPECT_EQ(neighbors->table().size(), 1U);
  EXPECT_TRUE(sent().empty());
}

// --- Resolution ---

TEST_F(NeighborTest, PacketsWaitAndLeaveInOrder) {
  for (std::uint16_t id = 1; id <= 3; ++id) transit("10.0.0.9", id);
  auto frames = sent();
  ASSERT_EQ(frames.size(), 1U) << "asked once";
  EXPECT_EQ(frames[0].at<wire::Ethernet>(0).dst, wire::kBroadcastMac);
  EXPECT_EQ(Ip4{frames[0].at<wire::Arp>(14).sender_ip.host()}, ip("10.0.0.1").v4_address);
  EXPECT_EQ(Ip4{frames[0].at<wire::Arp>(14).target_ip.host()}, ip("10.0.0.9").v4_address);
  EXPECT_EQ(neighbors->waiting(), 3U);

  arp(0, {.op = 2, .sha = kHostMac, .spa = "10.0.0.9", .tha = own_mac(0), .tpa = "10.0.0.1"});
  frames = sent();
  ASSERT_EQ(frames.size(), 3U);
  for (std::uint16_t i = 0; i < 3; ++i) {
    const auto& h = frames[i].at<wire::Ipv4>(14);
    EXPECT_EQ(h.id.host(), i + 1);
    EXPECT_EQ(h.ttl, 63);
    EXPECT_TRUE(wire::header_valid(h));
    EXPECT_EQ(frames[i].at<wire::Ethernet>(0).dst, kHostMac);
    EXPECT_EQ(frames[i].at<wire::Ethernet>(0).src, own_mac(0));
    EXPECT_EQ(frames[i].port, 0);
  }
  EXPECT_EQ(state(0, "10.0.0.9"), Reach::reachable);
  EXPECT_EQ(neighbors->waiting(), 0U);
  EXPECT_EQ(total_drops(), 0U);
}

TEST_F(NeighborTest, TheOldestGivesWay) {
  make({.queue_limit = 2});
  for (std::uint16_t id = 1; id <= 5; ++id) transit("10.0.0.9", id);
  EXPECT_EQ(drops(2, Neighbors::neighbor_queue_full), 3U) << "counted where they came in";
  sent();
  learn(0, "10.0.0.9", kHostMac);
  auto frames = sent();
  ASSERT_EQ(frames.size(), 3U);  // and the ARP reply
  EXPECT_EQ(frames[0].at<wire::Ipv4>(14).id.host(), 4);
  EXPECT_EQ(frames[1].at<wire::Ipv4>(14).id.host(), 5);
}

TEST_F(NeighborTest, WhatWaitsInAllIsBounded) {
  make({.queue_limit = 4, .queue_total = 6});
  for (int host = 10; host < 20; ++host) {
    for (std::uint16_t id = 1; id <= 4; ++id) {
      transit(("10.0.0." + std::to_string(host)).c_str(), id);
    }
  }
  EXPECT_EQ(neighbors->waiting(), 6U);
  EXPECT_EQ(drops(2, Neighbors::neighbor_queue_full), 34U);
}

TEST_F(NeighborTest, AsksWithBackoffThenGivesUp) {
  const Time start = now;
  transit("10.0.0.9", 1);
  transit("10.0.0.9", 2);
  std::vector<Time> asked;
  for (Time t = tick(); t != Time::max() && unreachable.empty();) {
    if (!sent().empty()) asked.push_back(now - start);
    now = t;
    t = tick();
  }
  EXPECT_EQ(asked, (std::vector<Time>{Time(), Time::ms(250), Time::ms(750)}));
  EXPECT_EQ(now - start, Time::ms(1750));
  EXPECT_EQ(unreachable, (std::vector<unsigned>{1, 2})) << "their senders are told, in order";
  EXPECT_EQ(drops(2, Neighbors::neighbor_unresolved), 2U);
  EXPECT_EQ(neighbors->waiting(), 0U);

  // Not asked again at once.
  transit("10.0.0.9", 3);
  EXPECT_EQ(unreachable.size(), 3U);
  EXPECT_TRUE(sent().empty());
  now += Time::s(1);
  tick();
  transit("10.0.0.9", 4);
  EXPECT_EQ(sent().size(), 1U);
}

TEST_F(NeighborTest, AFailedNeighbourThatSpeaksIsKnownAtOnce) {
  transit("10.0.0.9", 1);
  run_for(Time::ms(1800));
  EXPECT_EQ(state(0, "10.0.0.9"), Reach::failed);
  learn(0, "10.0.0.9", kHostMac);
  EXPECT_EQ(adjacency_mac("10.0.0.9"), kHostMac);
}

TEST_F(NeighborTest, AScanDoesNotKeepHostsOut) {
  make({.unresolved_limit = 8});
  for (int host = 10; host < 60; ++host) transit(("10.0.0." + std::to_string(host)).c_str(), 1);
  EXPECT_EQ(neighbors->table().size(), 8U);
  EXPECT_EQ(drops(2, Neighbors::neighbor_table_full), 42U);
  EXPECT_EQ(sent().size(), 8U);
  learn(0, "10.0.0.200", kHostMac);
  EXPECT_EQ(adjacency_mac("10.0.0.200"), kHostMac);
  run_for(Time::s(4));
  EXPECT_EQ(neighbors->table().size(), 1U) << "what did not answer is gone";
}

TEST_F(NeighborTest, ThePeersOfAPortCannotGrowTheTable) {
  make({.limit = 100, .port_limit = 60});
  for (int host = 2; host < 200; ++host) {
    arp(0, {.op = 1, .sha = kHostMac, .spa = "10.0.0." + std::to_string(host), .tpa = "10.0.0.1"});
  }
  EXPECT_EQ(neighbors->table().size(), 60U);
  for (int host = 2; host < 200; ++host) {
    arp(2, {.op = 1, .sha = kHostMac, .spa = "10.0.2." + std::to_string(host), .tpa = "10.0.2.1"});
  }
  EXPECT_EQ(neighbors->table().size(), 100U);
  EXPECT_EQ(drops(0, Neighbors::neighbor_table_full), 138U);
  EXPECT_EQ(drops(2, Neighbors::neighbor_table_full), 158U);
  EXPECT_EQ(sent().size(), 2U * 198) << "they are answered all the same";
}

TEST_F(NeighborTest, BroadcastAddressesAreNotAskedFor) {
  // The router gives them no way; should one come all the same, it is not asked for.
  transit("10.0.0.255", 1, l3::NextHop::connected(0));
  transit("10.0.0.0", 2, l3::NextHop::connected(0));
  EXPECT_TRUE(sent().empty());
  EXPECT_EQ(drops(2, Neighbors::neighbor_broadcast), 2U);
  EXPECT_TRUE(unreachable.empty());
  transit("10.0.1.1", 3);  // a /31 has none (RFC 3021)
  EXPECT_EQ(sent().size(), 1U);
}

TEST_F(NeighborTest, OwnPacketsWaitToo) {
  Packet* own = packet(0, wire::build({.src = ip("10.0.0.1"), .dst = ip("10.0.0.9")}));
  own->meta().ingress = kNoPort;
  Context ctx = context();
  neighbors->send(ctx, own, 0, ip("10.0.0.9"));
  EXPECT_EQ(sent().size(), 1U);
  arp(0, {.op = 2, .sha = kHostMac, .spa = "10.0.0.9", .tha = own_mac(0), .tpa = "10.0.0.1"});
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].at<wire::Ipv4>(14).ttl, 64) << "no hop has been made";
  EXPECT_EQ(frames[0].at<wire::Ethernet>(0).dst, kHostMac);
}

// --- Ageing ---

TEST_F(NeighborTest, AgesAsksAndForgets) {
  make({.reachable_time = Time::s(10)});
  transit("10.0.0.9", 1);
  arp(0, {.op = 2, .sha = kHostMac, .spa = "10.0.0.9", .tha = own_mac(0), .tpa = "10.0.0.1"});
  sent();
  const Time confirmed = now;
  Time next = tick();
  while (state(0, "10.0.0.9") == Reach::reachable) {
    now = next;
    next = tick();
  }
  EXPECT_GE(now - confirmed, Time::s(5));
  EXPECT_LE(now - confirmed, Time::s(15));
  EXPECT_EQ(state(0, "10.0.0.9"), Reach::stale);
  EXPECT_EQ(adjacency_mac("10.0.0.9"), kHostMac) << "still used";

  const Time stale = now;
  EXPECT_EQ(next - stale, Time::s(5));
  now = next;
  tick();
  auto frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].at<wire::Ethernet>(0).dst, kHostMac) << "a probe is unicast";
  EXPECT_EQ(state(0, "10.0.0.9"), Reach::probe);
  arp(0, {.op = 2, .sha = kHostMac, .spa = "10.0.0.9", .tha = own_mac(0), .tpa = "10.0.0.1"});
  EXPECT_EQ(state(0, "10.0.0.9"), Reach::reachable);

  run_for(Time::s(30));
  EXPECT_TRUE(neighbors->table().empty());
  EXPECT_EQ(sent().size(), 3U) << "three unanswered probes";
  EXPECT_EQ(router.lookup(ip("10.0.0.9")).kind(), l3::NextHop::Kind::connected);
}

// --- Ports ---

TEST_F(NeighborTest, AnnouncesItselfWhenThePortComesUp) {
  Context ctx = context();
  neighbors->port_changed(ctx, 0, false);
  neighbors->port_changed(ctx, 0, true);
  auto frames = sent();
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].at<wire::Arp>(14).sender_ip, frames[0].at<wire::Arp>(14).target_ip);
  EXPECT_EQ(frames[0].at<wire::Arp>(14).operation.host(), wire::Arp::kRequest);
  EXPECT_EQ(frames[1].at<wire::Ethernet>(0).dst, mac("33:33:00:00:00:01"));
  now += Time::s(1);
  tick();
  EXPECT_EQ(sent().size(), 2U);
  run_for(Time::s(10));
  EXPECT_TRUE(sent().empty());
}

TEST_F(NeighborTest, APortThatGoesDownForgets) {
  learn(0, "10.0.0.9", kHostMac);
  learn(2, "10.0.2.9", kOtherMac);
  transit("10.0.0.8", 1);
  Context ctx = context();
  router.set_port_up(0, false);
  neighbors->port_changed(ctx, 0, false);
  EXPECT_EQ(drops(2, Neighbors::neighbor_port_down), 1U);
  ASSERT_EQ(neighbors->table().size(), 1U);
  EXPECT_EQ(neighbors->table()[0].port, 2);
  transit("10.0.0.8", 2);
  EXPECT_EQ(drops(2, Neighbors::neighbor_port_down), 2U);
  EXPECT_EQ(neighbors->waiting(), 0U);
}

TEST_F(NeighborTest, WhatWasLearnedOnAPortThatIsNotUsedYetCountsWhenItIs) {
  Context ctx = context();
  router.set_port_up(0, false);
  neighbors->port_changed(ctx, 0, false);
  learn(0, "10.0.0.9", kHostMac);
  router.set_port_up(0, true);
  neighbors->port_changed(ctx, 0, true);
  EXPECT_EQ(adjacency_mac("10.0.0.9"), kHostMac);
}

TEST_F(NeighborTest, AnEmptyPoolIsCountedAndHealsItself) {
  std::vector<Packet*> all;
  while (Packet* p = pool.allocate()) all.push_back(p);
  Packet* request = all.back();
  all.pop_back();
  const Bytes8 frame = arp_frame({.op = 1, .sha = kHostMac, .spa = "10.0.0.9", .tpa = "10.0.0.1"});
  std::memcpy(rte_pktmbuf_append(request->mbuf(), static_cast<std::uint16_t>(frame.size())),
              frame.data(), frame.size());
  request->meta().l3 = 14;
  request->meta().ingress = 0;
  Context ctx = context();
  neighbors->receive_arp(ctx, request);
  EXPECT_EQ(drops(0, Neighbors::neighbor_no_buffer), 1U);
  for (Packet* p : all) p->free();
  arp(0, {.op = 1, .sha = kHostMac, .spa = "10.0.0.9", .tpa = "10.0.0.1"});
  EXPECT_EQ(sent().size(), 1U);
}

TEST_F(NeighborTest, RandomArpNeverGrowsOrLeaks) {
  make({.limit = 64, .port_limit = 32, .unresolved_limit = 8});
  Rng chance(7);
  for (int i = 0; i < 20000; ++i) {
    Bytes8 frame = arp_frame({.op = static_cast<std::uint16_t>(1 + chance.below(2)),
                              .sha = chance.below(2) ? kHostMac : kOtherMac,
                              .spa = "10.0.0." + std::to_string(chance.below(256)),
                              .tpa = "10.0.0." + std::to_string(chance.below(4))});
    for (std::uint64_t flips = chance.below(3); flips > 0; --flips) {
      frame[14 + chance.below(28)] = static_cast<std::uint8_t>(chance.next());
    }
    if (chance.below(10) == 0) frame.resize(14 + chance.below(46));
    receive_arp(static_cast<std::uint16_t>(chance.below(4)), frame);
    if (chance.below(8) == 0) {
      transit(("10.0.0." + std::to_string(chance.below(256))).c_str(), 1);
    }
    now += Time::us(static_cast<std::int64_t>(chance.below(20000)));
    tick();
    sent();
    ASSERT_LE(neighbors->table().size(), 64U);
  }
}

}  // namespace
}  // namespace frond::neighbor
