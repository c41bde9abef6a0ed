// SPDX-License-Identifier: BSD-3-Clause
#include "features/icmp/icmp.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>

#include "features/slow_path_fixture.hpp"
#include "wire/arp.hpp"
#include "wire/checksum.hpp"
#include "wire/icmp.hpp"

namespace frond::icmp {
namespace {

constexpr MacAddress kHostMac{{2, 0xaa, 0, 0, 0, 1}};
constexpr std::size_t kIcmp4 = 34, kIcmp6 = 54;

class IcmpTest : public SlowPathTest {
 protected:
  IcmpTest() { make({}); }
  void make(const Config& config) {
    neighbors = std::make_unique<neighbor::Neighbors>(neighbor::Config{.announcements = 0}, kPorts,
                                                      1, router, nullptr);
    Context ctx = context();
    for (std::uint16_t port = 0; port < kPorts; ++port) neighbors->port_changed(ctx, port, true);
    for (const char* host : {"10.0.0.9", "fd00:0:0:1::9", "fe80::9"}) {
      EXPECT_TRUE(router.set_static_neighbor(0, ip(host), kHostMac).ok()) << host;
    }
    EXPECT_TRUE(router.set_static_neighbor(2, ip("10.0.2.9"), kHostMac).ok());
    icmp = std::make_unique<Icmp>(config, kPorts, router, *neighbors);
  }

  // An ICMP message in a frame from the host at port 0.
  static Bytes8 icmp_frame(wire::FrameSpec spec, std::uint8_t type, std::uint8_t code,
                           std::size_t data) {
    const bool v6 = spec.dst.v6;
    spec.dst_mac = own_mac(0);
    spec.src_mac = kHostMac;
    spec.proto = v6 ? wire::kProtoIcmp6 : wire::kProtoIcmp;
    spec.payload.assign(8 + data, 0);
    spec.payload[0] = type;
    spec.payload[1] = code;
    spec.payload[4] = 0x12;
    for (std::size_t i = 8; i < spec.payload.size(); ++i) {
      spec.payload[i] = static_cast<std::uint8_t>(i);
    }
    Bytes8 frame = wire::build(spec);
    const std::size_t at =
        frame.size() - spec.payload.size() - (spec.pad_to > 0 ? frame.size() - natural(spec) : 0);
    const auto length = static_cast<std::uint32_t>(spec.payload.size());
    const wire::Sum pseudo =
        v6 ? wire::pseudo_sum(header_at<wire::Ipv6>(frame, 14), spec.proto, length) : 0;
    header_at<wire::Icmp>(frame, at).checksum =
        wire::complement(wire::sum_bytes(frame.data() + at, length, pseudo));
    return frame;
  }
  static std::size_t natural(wire::FrameSpec spec) {
    spec.pad_to = 0;
    return wire::build(spec).size();
  }
  static Bytes8 echo4(std::size_t data = 56, const char* to = "10.0.0.1") {
    return icmp_frame({.src = ip("10.0.0.9"), .dst = ip(to), .dont_fragment = true}, 8, 0, data);
  }
  static Bytes8 echo6(const char* from = "fd00:0:0:1::9", const char* to = "fd00:0:0:1::1") {
    return icmp_frame({.src = ip(from), .dst = ip(to)}, 128, 0, 56);
  }
  static Bytes8 udp(const char* from, const char* to, std::size_t data = 100) {
    return wire::build({.dst_mac = own_mac(0),
                        .src_mac = kHostMac,
                        .src = ip(from),
                        .dst = ip(to),
                        .payload = std::vector<std::uint8_t>(data, 0xab)});
  }

  void receive(std::uint16_t port, const Bytes8& frame) {
    Context ctx = context();
    icmp->receive(ctx, packet(port, frame));
  }
  void answer(const Bytes8& frame, PuntCode code, std::uint16_t egress = 2,
              std::uint16_t ingress = 0) {
    Packet* p = packet(ingress, frame);
    p->meta().egress = egress;
    Context ctx = context();
    icmp->answer(ctx, *p, code);
    p->free();
  }
  std::uint64_t drops(std::uint16_t port, Icmp::Drop drop) { return icmp->drop_count(port, drop); }

  // A whole and right ICMP packet; returns its ICMP header.
  const wire::Icmp& expect_valid(const Sent& s, bool v6) {
    if (v6) {
      const auto& h = s.at<wire::Ipv6>(14);
      const std::uint32_t length = h.payload_length.host();
      EXPECT_EQ(s.bytes.size(), 54 + length);
      EXPECT_EQ(wire::fold(wire::sum_bytes(s.bytes.data() + kIcmp6, length,
                                           wire::pseudo_sum(h, wire::kProtoIcmp6, length))),
                0xffff);
      return s.at<wire::Icmp>(kIcmp6);
    }
    const auto& h = s.at<wire::Ipv4>(14);
    EXPECT_TRUE(wire::header_valid(h));
    EXPECT_EQ(s.bytes.size(), 14U + h.total_length.host());
    EXPECT_EQ(wire::fold(wire::sum_bytes(s.bytes.data() + kIcmp4, h.total_length.host() - 20U)),
              0xffff);
    return s.at<wire::Icmp>(kIcmp4);
  }

  std::unique_ptr<neighbor::Neighbors> neighbors;
  std::unique_ptr<Icmp> icmp;
};

// --- Echo ---

TEST_F(IcmpTest, EchoReply) {
  const Bytes8 request = echo4();
  receive(0, request);
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(expect_valid(frames[0], false).type, wire::icmp4::kEchoReply);
  EXPECT_EQ(frames[0].port, 0);
  EXPECT_EQ(frames[0].at<wire::Ethernet>(0).dst, kHostMac);
  EXPECT_EQ(frames[0].at<wire::Ethernet>(0).src, own_mac(0));
  const auto& h = frames[0].at<wire::Ipv4>(14);
  EXPECT_EQ(IpAddress(h.source()), ip("10.0.0.1"));
  EXPECT_EQ(IpAddress(h.destination()), ip("10.0.0.9"));
  EXPECT_EQ(h.ttl, 64);
  EXPECT_TRUE(std::equal(frames[0].bytes.begin() + kIcmp4 + 4, frames[0].bytes.end(),
                         request.begin() + kIcmp4 + 4))
      << "identifier, sequence and data";
  EXPECT_EQ(icmp->event_count(Icmp::echo_replies), 1U);
}

TEST_F(IcmpTest, EchoReplyV6AndLinkLocal) {
  receive(0, echo6());
  const std::string own = Ip6::link_local(own_mac(0)).to_string();
  receive(0, echo6("fe80::9", own.c_str()));
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 2U);
  for (const Sent& s : frames) {
    EXPECT_EQ(expect_valid(s, true).type, wire::icmp6::kEchoReply);
    EXPECT_EQ(s.port, 0);
  }
  EXPECT_EQ(IpAddress(frames[1].at<wire::Ipv6>(14).src), ip(own.c_str()));
}

TEST_F(IcmpTest, EchoIsRoutedBack) {
  // To our address at another port, answered where the source is.
  receive(0, echo4(56, "10.0.2.1"));
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].port, 0);
  EXPECT_EQ(IpAddress(frames[0].at<wire::Ipv4>(14).source()), ip("10.0.2.1"));
  receive(0, icmp_frame({.src = ip("192.0.2.1"), .dst = ip("10.0.0.1")}, 8, 0, 8));
  EXPECT_TRUE(sent().empty());
  EXPECT_EQ(drops(0, Icmp::icmp_no_route), 1U);
}

TEST_F(IcmpTest, EchoWithOptionsAndPadding) {
  receive(
      0, icmp_frame(
             {.src = ip("10.0.0.9"), .dst = ip("10.0.0.1"), .options = {7, 7, 4, 0, 0, 0, 0, 0}}, 8,
             0, 8));
  auto frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].at<wire::Ipv4>(14).version_ihl, 0x45) << "options do not come back";
  EXPECT_EQ(expect_valid(frames[0], false).type, 0);
  receive(0, icmp_frame({.src = ip("10.0.0.9"), .dst = ip("10.0.0.1"), .pad_to = 60}, 8, 0, 1));
  frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].bytes.size(), 14U + 20 + 9) << "no stale padding";
  expect_valid(frames[0], false);
}

TEST_F(IcmpTest, ALongEchoOverSegmentsComesBackInFragments) {
  router.set_interface(0, {own_mac(0), 9000, {*IpPrefix::parse("10.0.0.1/24")}});
  ASSERT_TRUE(router.set_static_neighbor(0, ip("10.0.0.9"), kHostMac).ok());
  receive(0, echo4(5001));  // three segments of 2048 bytes, an odd length
  auto frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  expect_valid(frames[0], false);
  router.set_interface(0, {own_mac(0), 1500, {*IpPrefix::parse("10.0.0.1/24")}});
  ASSERT_TRUE(router.set_static_neighbor(0, ip("10.0.0.9"), kHostMac).ok());
  receive(0, echo4(5001));
  frames = sent();
  ASSERT_EQ(frames.size(), 4U);
  for (const Sent& s : frames) {
    EXPECT_TRUE(wire::header_valid(s.at<wire::Ipv4>(14)));
    EXPECT_LE(s.bytes.size(), 1514U);
    EXPECT_EQ(s.at<wire::Ipv4>(14).id, frames[0].at<wire::Ipv4>(14).id);
  }
}

TEST_F(IcmpTest, HostileEchoes) {
  Bytes8 f = echo4();
  f.back() ^= 1;
  receive(0, f);
  EXPECT_EQ(drops(0, Icmp::icmp_checksum), 1U);
  f = echo6();
  f[kIcmp6 + 20] ^= 1;
  receive(0, f);
  EXPECT_EQ(drops(0, Icmp::icmp_checksum), 2U);
  std::uint64_t malformed = 0;
  for (std::size_t length = 34; length < 42; ++length) {
    f = echo4(0);
    f.resize(length);
    receive(0, f);
    EXPECT_EQ(drops(0, Icmp::icmp_malformed), ++malformed) << length;
  }
  for (std::uint16_t total : std::to_array<std::uint16_t>({0, 19, 20, 27, 200, 65535})) {
    f = echo4();
    header_at<wire::Ipv4>(f, 14).total_length = wire::be16(total);
    receive(0, f);
    EXPECT_EQ(drops(0, Icmp::icmp_malformed), ++malformed) << total;
  }
  receive(0, icmp_frame({.src = ip("10.0.0.9"), .dst = ip("10.0.0.1"), .fragment_offset = 8}, 8, 0,
                        32));
  EXPECT_EQ(drops(0, Icmp::icmp_fragment), 1U);
  // Nothing to answer: errors, replies, unknown types and codes, sources that are no host.
  std::uint64_t ignored = 0;
  for (std::uint8_t type : std::to_array<std::uint8_t>({0, 3, 5, 11, 12, 13, 200})) {
    receive(0, icmp_frame({.src = ip("10.0.0.9"), .dst = ip("10.0.0.1")}, type, 0, 40));
    EXPECT_EQ(drops(0, Icmp::icmp_ignored), ++ignored) << +type;
  }
  receive(0, icmp_frame({.src = ip("10.0.0.9"), .dst = ip("10.0.0.1")}, 8, 1, 40));
  for (const char* from : {"0.0.0.0", "127.0.0.1", "224.0.0.1", "255.255.255.255"}) {
    receive(0, icmp_frame({.src = ip(from), .dst = ip("10.0.0.1")}, 8, 0, 40));
  }
  receive(0, icmp_frame({.src = ip("fd00:0:0:1::9"), .dst = ip("ff02::1")}, 128, 0, 40));
  receive(0, icmp_frame({.src = ip("::"), .dst = ip("fd00:0:0:1::1")}, 128, 0, 40));
  EXPECT_EQ(drops(0, Icmp::icmp_ignored), ignored + 7);
  EXPECT_TRUE(sent().empty());
}

TEST_F(IcmpTest, EchoIsRateLimitedPerPort) {
  make({.echo_rate = 100, .echo_burst = 5});
  for (int i = 0; i < 20; ++i) receive(0, echo4());
  EXPECT_EQ(sent().size(), 5U);
  EXPECT_EQ(drops(0, Icmp::icmp_rate_limited), 15U);
  receive(2, icmp_frame({.src = ip("10.0.2.9"), .dst = ip("10.0.2.1")}, 8, 0, 8));
  EXPECT_EQ(sent().size(), 1U) << "another port's";
  now += Time::ms(10);
  for (int i = 0; i < 3; ++i) receive(0, echo4());
  EXPECT_EQ(sent().size(), 1U);
}

TEST_F(IcmpTest, WhatNobodyListensOnIsUnreachable) {
  receive(0, udp("10.0.0.9", "10.0.0.1"));
  receive(0, wire::build({.src = ip("10.0.0.9"), .dst = ip("10.0.0.1"), .proto = 6}));
  receive(0, udp("fd00:0:0:1::9", "fd00:0:0:1::1"));
  receive(0, wire::build({.src = ip("fd00:0:0:1::9"), .dst = ip("fd00:0:0:1::1"), .proto = 6}));
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 4U);
  EXPECT_EQ(expect_valid(frames[0], false).code, wire::icmp4::kPort);
  EXPECT_EQ(expect_valid(frames[1], false).code, wire::icmp4::kProtocol);
  EXPECT_EQ(expect_valid(frames[2], true).code, wire::icmp6::kPort);
  EXPECT_EQ(expect_valid(frames[3], true).type, wire::icmp6::kParameterProblem);
  EXPECT_EQ(frames[3].at<wire::Icmp>(kIcmp6).rest.host(), 6U) << "the next header field";
  EXPECT_EQ(drops(0, Icmp::icmp_not_offered), 4U);
}

// --- Errors ---

TEST_F(IcmpTest, TimeExceededComesFromTheIngressInterface) {
  const Bytes8 probe = udp("10.0.0.9", "10.0.2.9");
  answer(probe, kAnswerTtlExpired);
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  const auto& m = expect_valid(frames[0], false);
  EXPECT_EQ(m.type, wire::icmp4::kTimeExceeded);
  EXPECT_EQ(m.code, 0);
  EXPECT_EQ(IpAddress(frames[0].at<wire::Ipv4>(14).source()), ip("10.0.0.1"));
  EXPECT_EQ(IpAddress(frames[0].at<wire::Ipv4>(14).destination()), ip("10.0.0.9"));
  EXPECT_TRUE(std::equal(probe.begin() + 14, probe.end(), frames[0].bytes.begin() + kIcmp4 + 8))
      << "all of it is quoted";
}

TEST_F(IcmpTest, EachAnswerInBothFamilies) {
  struct Case {
    PuntCode code;
    std::uint8_t type4, code4, type6, code6;
    std::uint32_t rest;
  };
  router.set_interface(2, {own_mac(2), 1400, {*IpPrefix::parse("10.0.2.1/24")}});
  for (const Case& c : std::to_array<Case>({{kAnswerTtlExpired, 11, 0, 3, 0, 0},
                                            {kAnswerTooBig, 3, 4, 2, 0, 1400},
                                            {kAnswerNetUnreachable, 3, 0, 1, 0, 0},
                                            {kAnswerHostUnreachable, 3, 1, 1, 3, 0}})) {
    answer(udp("10.0.0.9", "10.0.2.9"), c.code);
    answer(udp("fd00:0:0:1::9", "fd00:0:0:7::9"), c.code);
    const auto frames = sent();
    ASSERT_EQ(frames.size(), 2U);
    const auto& m4 = expect_valid(frames[0], false);
    const auto& m6 = expect_valid(frames[1], true);
    EXPECT_EQ(m4.type, c.type4);
    EXPECT_EQ(m4.code, c.code4);
    EXPECT_EQ(m4.rest.host(), c.rest);
    EXPECT_EQ(m6.type, c.type6);
    EXPECT_EQ(m6.code, c.code6);
    EXPECT_EQ(m6.rest.host(), c.rest);
    EXPECT_EQ(IpAddress(frames[1].at<wire::Ipv6>(14).src), ip("fd00:0:0:1::1"));
  }
  answer(udp("fe80::9", "fd00:0:0:7::9"), kAnswerBeyondScope);
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(expect_valid(frames[0], true).code, 2);
  EXPECT_EQ(IpAddress(frames[0].at<wire::Ipv6>(14).src), IpAddress(Ip6::link_local(own_mac(0))));
  EXPECT_EQ(frames[0].port, 0);
}

TEST_F(IcmpTest, QuotesAsMuchAsFits) {
  answer(udp("10.0.0.9", "10.0.2.9", 1400), kAnswerTtlExpired);
  answer(udp("fd00:0:0:1::9", "fd00:0:0:7::9", 1400), kAnswerTtlExpired);
  Bytes8 padded = udp("10.0.0.9", "10.0.2.9", 1);
  padded.resize(60);
  answer(padded, kAnswerTtlExpired);
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 3U);
  EXPECT_EQ(frames[0].bytes.size(), 14U + 576);
  EXPECT_EQ(frames[1].bytes.size(), 14U + 1280);
  EXPECT_EQ(frames[2].bytes.size(), 14U + 20 + 8 + 29) << "padding is no part of the datagram";
  for (unsigned i = 0; i < 3; ++i) expect_valid(frames[i], i == 1);
}

TEST_F(IcmpTest, NeverAnswersWhatMustNotBeAnswered) {
  const auto expect_silence = [&](const Bytes8& f, const char* what) {
    const std::uint64_t before = icmp->event_count(Icmp::errors_forbidden);
    answer(f, kAnswerTtlExpired);
    EXPECT_TRUE(sent().empty()) << what;
    EXPECT_EQ(icmp->event_count(Icmp::errors_forbidden), before + 1) << what;
  };
  for (std::uint8_t type : std::to_array<std::uint8_t>({3, 4, 5, 11, 12})) {
    expect_silence(icmp_frame({.src = ip("10.0.0.9"), .dst = ip("10.0.2.9")}, type, 0, 40),
                   "an ICMP error");
  }
  for (std::uint8_t type : std::to_array<std::uint8_t>({1, 2, 3, 4, 100, 127, 137})) {
    expect_silence(
        icmp_frame({.src = ip("fd00:0:0:1::9"), .dst = ip("fd00:0:0:7::9")}, type, 0, 40),
        "an ICMPv6 error or redirect");
  }
  expect_silence(wire::build({.src = ip("10.0.0.9"),
                              .dst = ip("10.0.2.9"),
                              .fragment_offset = 80,
                              .payload = Bytes8(80)}),
                 "a later fragment");
  for (const char* to : {"224.0.0.5", "239.1.1.1", "255.255.255.255", "10.0.0.255"}) {
    expect_silence(udp("10.0.0.9", to), to);
  }
  for (const char* from : {"0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.1", "255.255.255.255",
                           "10.0.0.255", "10.0.0.0", "10.0.0.1", "10.0.2.1"}) {
    expect_silence(udp(from, "10.0.2.9"), from);
  }
  for (const char* from : {"::", "::1", "ff02::1", "fd00:0:0:1::1"}) {
    expect_silence(udp(from, "fd00:0:0:7::9"), from);
  }
  expect_silence(udp("fd00:0:0:1::9", "ff0e::1"), "a group");
  Bytes8 group = udp("10.0.0.9", "10.0.2.9");
  group[0] |= 1;
  expect_silence(group, "a group MAC");
  EXPECT_EQ(icmp->event_count(Icmp::errors_sent), 0U);
}

TEST_F(IcmpTest, ButAnEchoAndPacketTooBigForAGroupAre) {
  answer(icmp_frame({.src = ip("10.0.0.9"), .dst = ip("10.0.2.9")}, 8, 0, 40), kAnswerTtlExpired);
  answer(udp("fd00:0:0:1::9", "ff0e::1"), kAnswerTooBig);
  answer(udp("10.0.0.9", "224.0.0.5"), kAnswerTooBig);
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(expect_valid(frames[1], true).type, wire::icmp6::kPacketTooBig);
}

TEST_F(IcmpTest, ErrorsAreRateLimitedPerPortAndInAll) {
  make({.rate = 1000, .burst = 30, .port_rate = 100, .port_burst = 20});
  for (int i = 0; i < 100; ++i) answer(udp("10.0.0.9", "10.0.2.9"), kAnswerTtlExpired);
  EXPECT_EQ(sent().size(), 20U) << "the port's";
  for (int i = 0; i < 100; ++i) answer(udp("10.0.2.9", "10.0.0.9"), kAnswerTtlExpired, 0, 2);
  EXPECT_EQ(sent().size(), 10U) << "what the switch had left";
  EXPECT_EQ(icmp->event_count(Icmp::errors_rate_limited), 170U);
  now += Time::s(1);
  std::size_t n = 0;
  for (int i = 0; i < 1000; ++i) {
    now += Time::ms(1);
    answer(udp("10.0.0.9", "10.0.2.9"), kAnswerTtlExpired);
    n += sent().size();
  }
  EXPECT_EQ(n, 20U + 100 - 1) << "100 a second, and a burst";
  make({.rate = 0});
  answer(udp("10.0.0.9", "10.0.2.9"), kAnswerTtlExpired);
  EXPECT_TRUE(sent().empty());
}

TEST_F(IcmpTest, AnAnswerWaitsForItsNeighbour) {
  answer(udp("10.0.0.50", "10.0.2.9"), kAnswerTtlExpired);
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].at<wire::Ethernet>(0).type.host(), wire::kTypeArp);
  EXPECT_EQ(neighbors->waiting(), 1U);
}

// --- Fragmentation ---

TEST_F(IcmpTest, FragmentsAreRewrittenAndSent) {
  router.set_interface(2, {own_mac(2), 1000, {*IpPrefix::parse("10.0.2.1/24")}});
  ASSERT_TRUE(router.set_static_neighbor(2, ip("10.0.2.9"), kHostMac).ok());
  Packet* p = packet(0, udp("10.0.0.9", "10.0.2.9", 1400));
  p->meta().egress = 2;
  p->meta().next_hop = router.lookup(ip("10.0.2.9")).bits();
  Context ctx = context();
  icmp->fragment(ctx, p);
  const auto frames = sent();
  ASSERT_EQ(frames.size(), 2U);
  for (const Sent& s : frames) {
    EXPECT_EQ(s.port, 2);
    EXPECT_EQ(s.at<wire::Ethernet>(0).dst, kHostMac);
    EXPECT_EQ(s.at<wire::Ipv4>(14).ttl, 63);
    EXPECT_TRUE(wire::header_valid(s.at<wire::Ipv4>(14)));
  }
  EXPECT_EQ(icmp->event_count(Icmp::fragments_sent), 2U);
}

TEST_F(IcmpTest, FragmentationIsRateLimited) {
  make({.fragment_rate = 100, .fragment_burst = 3});
  router.set_interface(2, {own_mac(2), 1000, {*IpPrefix::parse("10.0.2.1/24")}});
  ASSERT_TRUE(router.set_static_neighbor(2, ip("10.0.2.9"), kHostMac).ok());
  for (int i = 0; i < 10; ++i) {
    Packet* p = packet(0, udp("10.0.0.9", "10.0.2.9", 1400));
    p->meta().egress = 2;
    p->meta().next_hop = router.lookup(ip("10.0.2.9")).bits();
    Context ctx = context();
    icmp->fragment(ctx, p);
  }
  EXPECT_EQ(sent().size(), 6U);
  EXPECT_EQ(drops(0, Icmp::fragment_rate_limited), 7U);
}

TEST_F(IcmpTest, RandomPacketsNeverLeak) {
  Rng chance(9);
  for (int i = 0; i < 20000; ++i) {
    Bytes8 f;
    switch (chance.below(4)) {
      case 0:
        f = echo4(chance.below(100));
        break;
      case 1:
        f = echo6();
        break;
      case 2:
        f = udp("10.0.0.9", "10.0.0.1", chance.below(2000));
        break;
      default:
        f = udp("fd00:0:0:1::9", "fd00:0:0:1::1", chance.below(2000));
        break;
    }
    for (std::uint64_t flips = chance.below(4); flips > 0; --flips) {
      f[15 + chance.below(std::min<std::size_t>(f.size() - 15, 60))] =
          static_cast<std::uint8_t>(chance.next());
    }
    if (chance.below(8) == 0) f.resize(14 + chance.below(f.size() - 13));
    const auto port = static_cast<std::uint16_t>(chance.below(kPorts));
    if (chance.below(2) == 0) {
      receive(port, f);
    } else {
      answer(f, static_cast<PuntCode>(chance.below(12)),
             static_cast<std::uint16_t>(chance.below(5)), port);
    }
    now += Time::us(static_cast<std::int64_t>(chance.below(20000)));
    Context ctx = context();
    neighbors->timers(ctx);
    sent();
  }
  EXPECT_GT(icmp->event_count(Icmp::errors_sent), 1000U);
}

}  // namespace
}  // namespace frond::icmp
