// SPDX-License-Identifier: BSD-3-Clause
#include "wire/nd.hpp"

#include <array>

#include "features/neighbor/neighbor_fixture.hpp"
#include "wire/icmp.hpp"

namespace frond::neighbor {
namespace {

constexpr std::size_t kNd = 54;      // where the message starts
constexpr std::size_t kOption = 78;  // and its options

struct NdSpec {
  std::uint8_t type = wire::icmp6::kNeighborSolicitation;
  std::string src = "fd00:0:0:1::9";
  std::string dst = "fd00:0:0:1::1";
  std::string target = "fd00:0:0:1::1";
  std::uint32_t flags = 0;
  std::vector<std::uint8_t> options;
  std::uint8_t hops = 255;
  MacAddress from = kHostMac;
};

std::vector<std::uint8_t> option(std::uint8_t type, const MacAddress& mac) {
  std::vector<std::uint8_t> bytes{type, 1};
  bytes.insert(bytes.end(), mac.bytes.begin(), mac.bytes.end());
  return bytes;
}

class NdTest : public NeighborTest {
 protected:
  // length: of the message, when it is not to be the natural one.
  static Bytes8 nd_frame(const NdSpec& spec) {
    Bytes8 message(sizeof(wire::NeighborMessage));
    auto& m = header_at<wire::NeighborMessage>(message, 0);
    m.type = spec.type;
    m.flags = wire::be32(spec.flags);
    m.target = ip(spec.target.c_str()).v6_address;
    message.insert(message.end(), spec.options.begin(), spec.options.end());
    const IpAddress to = ip(spec.dst.c_str());
    const MacAddress group{{0x33, 0x33, to.v6_address.bytes[12], to.v6_address.bytes[13],
                            to.v6_address.bytes[14], to.v6_address.bytes[15]}};
    Bytes8 frame = wire::build({.dst_mac = to.v6_address.is_multicast() ? group : own_mac(0),
                                .src_mac = spec.from,
                                .src = ip(spec.src.c_str()),
                                .dst = to,
                                .proto = wire::kProtoIcmp6,
                                .ttl = spec.hops,
                                .payload = message});
    fill_checksum(frame);
    return frame;
  }
  static void fill_checksum(Bytes8& frame) {
    const auto& h = header_at<wire::Ipv6>(frame, 14);
    const auto length = static_cast<std::uint32_t>(frame.size() - kNd);
    auto& icmp = header_at<wire::Icmp>(frame, kNd);
    icmp.checksum = wire::be16();
    icmp.checksum = wire::complement(wire::sum_bytes(
        frame.data() + kNd, length, wire::pseudo_sum(h, wire::kProtoIcmp6, length)));
  }
  void receive_nd(std::uint16_t port, const Bytes8& frame) {
    Context ctx = context();
    neighbors->receive_nd(ctx, packet(port, frame));
  }
  void nd(std::uint16_t port, const NdSpec& spec) { receive_nd(port, nd_frame(spec)); }

  static void expect_valid(const Sent& s) {
    const auto& h = s.at<wire::Ipv6>(14);
    EXPECT_EQ(h.hop_limit, 255);
    const auto length = static_cast<std::uint32_t>(s.bytes.size() - kNd);
    EXPECT_EQ(h.payload_length.host(), length);
    EXPECT_EQ(wire::fold(wire::sum_bytes(s.bytes.data() + kNd, length,
                                         wire::pseudo_sum(h, wire::kProtoIcmp6, length))),
              0xffff);
  }
};

TEST_F(NdTest, AnswersASolicitationAndLearnsWhoAsked) {
  nd(0, {.dst = "ff02::1:ff00:1", .options = option(1, kHostMac)});
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  expect_valid(frames[0]);
  EXPECT_EQ(frames[0].at<wire::Ethernet>(0).dst, kHostMac);
  EXPECT_EQ(IpAddress(frames[0].at<wire::Ipv6>(14).dst), ip("fd00:0:0:1::9"));
  const auto& answer = frames[0].at<wire::NeighborMessage>(kNd);
  EXPECT_EQ(answer.type, wire::icmp6::kNeighborAdvertisement);
  EXPECT_EQ(answer.flags.host(), 0xe0000000U) << "router, solicited, override";
  EXPECT_EQ(IpAddress(answer.target), ip("fd00:0:0:1::1"));
  EXPECT_EQ(frames[0].at<wire::LinkLayerOption>(kOption).type, wire::LinkLayerOption::kTarget);
  EXPECT_EQ(frames[0].at<wire::LinkLayerOption>(kOption).address, own_mac(0));
  EXPECT_EQ(state(0, "fd00:0:0:1::9"), Reach::stale);
  EXPECT_EQ(adjacency_mac("fd00:0:0:1::9"), kHostMac);
  EXPECT_EQ(total_drops(), 0U);
}

TEST_F(NdTest, DuplicateAddressDetectionIsAnsweredToAll) {
  nd(0, {.src = "::", .dst = "ff02::1:ff00:1"});
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  expect_valid(frames[0]);
  EXPECT_EQ(frames[0].at<wire::Ethernet>(0).dst, mac("33:33:00:00:00:01"));
  EXPECT_EQ(IpAddress(frames[0].at<wire::Ipv6>(14).dst), ip("ff02::1"));
  EXPECT_EQ(frames[0].at<wire::NeighborMessage>(kNd).flags.host(), 0xa0000000U) << "not solicited";
  EXPECT_TRUE(neighbors->table().empty());
}

TEST_F(NdTest, AnswersForItsLinkLocalAddress) {
  const std::string own = Ip6::link_local(own_mac(0)).to_string();
  nd(0, {.src = "fe80::9", .dst = own, .target = own, .options = option(1, kHostMac)});
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(IpAddress(frames[0].at<wire::NeighborMessage>(kNd).target), ip(own.c_str()));
  EXPECT_EQ(known(0, "fe80::9").mac, kHostMac);
}

TEST_F(NdTest, WithoutTheOptionTheFrameTellsWhereButTeachesNothing) {
  nd(0, {.from = kOtherMac});
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].at<wire::Ethernet>(0).dst, kOtherMac);
  EXPECT_TRUE(neighbors->table().empty());
}

TEST_F(NdTest, WhatDidNotComeFromThisLinkIsDropped) {
  for (std::uint8_t hops : std::to_array<std::uint8_t>({0, 1, 64, 254}))
    nd(0, {.options = option(1, kHostMac), .hops = hops});
  EXPECT_EQ(drops(0, Neighbors::nd_hop_limit), 4U);
  EXPECT_TRUE(sent().empty());
}

TEST_F(NdTest, AWrongChecksumIsDropped) {
  const Bytes8 good = nd_frame({.options = option(1, kHostMac)});
  for (std::size_t at = kNd; at < good.size(); ++at) {
    if (at == kNd) continue;  // another type is another message
    Bytes8 bad = good;
    bad[at] ^= 0x10;
    receive_nd(0, bad);
  }
  EXPECT_EQ(drops(0, Neighbors::nd_checksum), good.size() - kNd - 1);
  EXPECT_TRUE(neighbors->table().empty());
}

TEST_F(NdTest, MalformedMessagesAreDropped) {
  const auto count = [&] { return drops(0, Neighbors::nd_malformed); };
  const auto option_of_length = [](std::uint8_t length) {
    auto bytes = option(1, kHostMac);
    bytes[1] = length;
    return bytes;
  };
  std::uint64_t n = 0;
  const auto expect_malformed = [&](const NdSpec& spec, const char* what) {
    nd(0, spec);
    EXPECT_EQ(count(), ++n) << what;
  };
  expect_malformed({.options = option_of_length(0)}, "an option of length 0 is no loop");
  expect_malformed({.options = option_of_length(2)}, "an option beyond the end");
  expect_malformed({.options = {1}}, "half an option");
  expect_malformed({.target = "ff02::1"}, "a group as the target");
  expect_malformed({.options = option(1, mac("33:33:00:00:00:01"))}, "a group MAC");
  expect_malformed({.options = option(1, MacAddress())}, "no MAC");
  expect_malformed({.src = "::", .dst = "ff02::1:ff00:1", .options = option(1, kHostMac)},
                   "DAD with a source option");
  expect_malformed({.src = "::", .dst = "fd00:0:0:1::1"}, "DAD not to the solicited-node group");
  expect_malformed({.type = wire::icmp6::kNeighborAdvertisement,
                    .dst = "ff02::1",
                    .target = "fd00:0:0:1::9",
                    .flags = wire::NeighborMessage::kSolicited,
                    .options = option(2, kHostMac)},
                   "solicited but to a group");
  Bytes8 frame = nd_frame({.options = option(1, kHostMac)});
  frame[kNd + 1] = 1;
  fill_checksum(frame);
  receive_nd(0, frame);
  EXPECT_EQ(count(), ++n) << "code";
  // Shorter than it says, at every length.
  const Bytes8 good = nd_frame({.options = option(1, kHostMac)});
  for (std::size_t length = 54; length < good.size(); ++length) {
    frame = good;
    frame.resize(length);
    receive_nd(0, frame);
    EXPECT_EQ(count(), ++n) << length;
  }
  // A datagram that ends inside the message.
  for (std::uint16_t length = 8; length < 24; ++length) {
    frame = good;
    header_at<wire::Ipv6>(frame, 14).payload_length = wire::be16(length);
    frame.resize(54U + length);
    fill_checksum(frame);
    receive_nd(0, frame);
    EXPECT_EQ(count(), ++n) << length;
  }
  EXPECT_TRUE(sent().empty());
  EXPECT_TRUE(neighbors->table().empty());
}

TEST_F(NdTest, FragmentsAreDropped) {
  Bytes8 message(24);
  message[0] = wire::icmp6::kNeighborSolicitation;
  receive_nd(0, wire::build({.dst_mac = own_mac(0),
                             .src_mac = kHostMac,
                             .src = ip("fd00:0:0:1::9"),
                             .dst = ip("fd00:0:0:1::1"),
                             .proto = wire::kProtoIcmp6,
                             .ttl = 255,
                             .more_fragments = true,
                             .payload = message}));
  EXPECT_EQ(drops(0, Neighbors::nd_malformed), 1U);
}

TEST_F(NdTest, RouterDiscoveryAndRedirectsAreIgnored) {
  for (std::uint8_t type : std::to_array<std::uint8_t>({133, 134, 137})) nd(0, {.type = type});
  EXPECT_EQ(drops(0, Neighbors::nd_ignored), 3U);
  EXPECT_TRUE(sent().empty());
}

TEST_F(NdTest, NotOurTargetsAndSendersFromElsewhere) {
  nd(0, {.target = "fd00:0:0:1::77", .options = option(1, kHostMac)});
  nd(0, {.target = "fd00:0:0:2::", .options = option(1, kHostMac)});
  EXPECT_EQ(drops(0, Neighbors::nd_not_for_us), 2U);
  nd(0, {.src = "fd00:0:0:5::9", .options = option(1, kHostMac)});
  EXPECT_EQ(drops(0, Neighbors::neighbor_off_link), 1U);
  nd(0, {.src = "fd00:0:0:1::1", .options = option(1, kHostMac)});
  EXPECT_EQ(drops(0, Neighbors::neighbor_conflict), 1U);
  EXPECT_TRUE(sent().empty());
  EXPECT_TRUE(neighbors->table().empty());
}

TEST_F(NdTest, ResolvesAndReleases) {
  transit("fd00:0:0:1::9", 1);
  transit("fd00:0:0:1::9", 2);
  auto frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  expect_valid(frames[0]);
  EXPECT_EQ(frames[0].at<wire::Ethernet>(0).dst, mac("33:33:ff:00:00:09"));
  EXPECT_EQ(IpAddress(frames[0].at<wire::Ipv6>(14).src), ip("fd00:0:0:1::1"));
  EXPECT_EQ(IpAddress(frames[0].at<wire::Ipv6>(14).dst), ip("ff02::1:ff00:9"));
  EXPECT_EQ(frames[0].at<wire::LinkLayerOption>(kOption).address, own_mac(0));
  NdSpec answer{.type = wire::icmp6::kNeighborAdvertisement,
                .target = "fd00:0:0:1::9",
                .flags = wire::NeighborMessage::kSolicited};
  nd(0, answer);
  EXPECT_EQ(drops(0, Neighbors::neighbor_unsolicited), 1U) << "without an address it says nothing";
  answer.options = option(2, kHostMac);
  nd(0, answer);
  frames = sent();
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(frames[0].at<wire::Ipv6>(14).hop_limit, 63);
  EXPECT_EQ(frames[0].at<wire::Ethernet>(0).dst, kHostMac);
  EXPECT_EQ(state(0, "fd00:0:0:1::9"), Reach::reachable);
}

// RFC 4861 7.2.5, the table of its appendix C.
TEST_F(NdTest, OverrideAndSolicitedFlags) {
  const auto advertise = [&](std::uint32_t flags, const MacAddress& m) {
    nd(0, {.type = wire::icmp6::kNeighborAdvertisement,
           .target = "fd00:0:0:1::9",
           .flags = flags,
           .options = option(2, m)});
  };
  const auto solicited = wire::NeighborMessage::kSolicited;
  const auto override_flag = wire::NeighborMessage::kOverride;
  advertise(override_flag | solicited, kHostMac);
  EXPECT_TRUE(neighbors->table().empty()) << "nobody asked";
  transit("fd00:0:0:1::9", 1);
  advertise(solicited, kHostMac);
  EXPECT_EQ(state(0, "fd00:0:0:1::9"), Reach::reachable);
  advertise(0, kOtherMac);
  EXPECT_EQ(known(0, "fd00:0:0:1::9").mac, kHostMac) << "no override: not believed";
  EXPECT_EQ(state(0, "fd00:0:0:1::9"), Reach::stale) << "but verified soon";
  advertise(solicited, kHostMac);
  EXPECT_EQ(state(0, "fd00:0:0:1::9"), Reach::reachable);
  advertise(override_flag, kOtherMac);
  EXPECT_EQ(known(0, "fd00:0:0:1::9").mac, kOtherMac);
  EXPECT_EQ(state(0, "fd00:0:0:1::9"), Reach::stale);
  advertise(override_flag | solicited, kHostMac);
  EXPECT_EQ(known(0, "fd00:0:0:1::9").mac, kHostMac);
  EXPECT_EQ(state(0, "fd00:0:0:1::9"), Reach::reachable);
}

TEST_F(NdTest, RandomMessagesNeverGrowOrLeak) {
  make({.limit = 64, .port_limit = 32, .unresolved_limit = 8});
  Rng chance(11);
  for (int i = 0; i < 20000; ++i) {
    NdSpec spec{.type = static_cast<std::uint8_t>(135 + chance.below(2)),
                .src = "fd00:0:0:1::" + std::to_string(chance.below(100)),
                .target = "fd00:0:0:1::" + std::to_string(chance.below(3)),
                .flags = static_cast<std::uint32_t>(chance.next())};
    spec.options.resize(chance.below(5) * 8);
    for (auto& b : spec.options) b = static_cast<std::uint8_t>(chance.below(4));
    Bytes8 frame = nd_frame(spec);
    if (chance.below(4) == 0) {
      frame[kNd + chance.below(frame.size() - kNd)] = static_cast<std::uint8_t>(chance.next());
      if (chance.below(2) == 0) fill_checksum(frame);
    }
    if (chance.below(10) == 0) frame.resize(chance.below(frame.size()) + 1);
    receive_nd(static_cast<std::uint16_t>(chance.below(4)), frame);
    if (chance.below(8) == 0) {
      transit(("fd00:0:0:1::" + std::to_string(chance.below(500))).c_str(), 1);
    }
    now += Time::us(static_cast<std::int64_t>(chance.below(20000)));
    tick();
    sent();
    ASSERT_LE(neighbors->table().size(), 64U);
  }
}

}  // namespace
}  // namespace frond::neighbor
