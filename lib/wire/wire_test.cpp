// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <type_traits>

#include "base/rng.hpp"
#include "wire/build.hpp"
#include "wire/checksum.hpp"
#include "wire/transport.hpp"

namespace frond::wire {
namespace {

static_assert(!std::is_convertible_v<be16, std::uint16_t>);
static_assert(!std::is_convertible_v<std::uint16_t, be16>);

TEST(Endian, IsBigEndianInMemory) {
  const be32 v(0x01020304);
  EXPECT_EQ(*reinterpret_cast<const std::uint8_t*>(&v), 1);
  EXPECT_EQ(v.host(), 0x01020304U);
  EXPECT_EQ(be64(0x0102030405060708).host(), 0x0102030405060708U);
}

TEST(Checksum, ExampleOfRfc1071) {
  // RFC 1071 3: the sum of these is ddf2 (2ddf0 before folding).
  const std::uint8_t bytes[] = {0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
  EXPECT_EQ(checksum(bytes).host(), static_cast<std::uint16_t>(~0xddf2));
}

TEST(Checksum, OddLengthAndAnySplitAgree) {
  Rng rng(1);
  std::uint8_t bytes[67];
  for (auto& b : bytes) b = static_cast<std::uint8_t>(rng.next());
  for (std::size_t n = 0; n <= sizeof(bytes); ++n) {
    std::uint32_t plain = 0;
    for (std::size_t i = 0; i < n; ++i) plain += bytes[i] << (i % 2 == 0 ? 8 : 0);
    while (plain > 0xffff) plain = (plain & 0xffff) + (plain >> 16);
    ASSERT_EQ(checksum({bytes, n}).host(), static_cast<std::uint16_t>(~plain)) << n;
    for (std::size_t cut = 0; cut <= n; cut += 2) {
      ASSERT_EQ(fold(sum_bytes(bytes + cut, n - cut, sum_bytes(bytes, cut))),
                fold(sum_bytes(bytes, n)));
    }
  }
}

Ipv4 header(std::uint16_t id, std::uint8_t ttl) {
  Ipv4 ip{};
  ip.version_ihl = 0x45;
  ip.total_length = be16(46);
  ip.id = be16(id);
  ip.ttl = ttl;
  ip.proto = kProtoUdp;
  ip.src = be32(0x0a000001);
  ip.dst = be32(0x0a000101);
  fill_header_checksum(ip);
  return ip;
}

// All 65536 identifications meet all 65536 checksums, 0x0000 and 0xfeff among them.
TEST(Checksum, DecrementingTtlEqualsComputingAnew) {
  bool zero = false;
  for (unsigned id = 0; id <= 0xffff; ++id) {
    Ipv4 ip = header(static_cast<std::uint16_t>(id), 64);
    ASSERT_TRUE(header_valid(ip));
    decrement_ttl(ip);
    ASSERT_NE(ip.checksum.host(), 0xffff) << id;
    ASSERT_TRUE(header_valid(ip)) << id;
    ASSERT_EQ(ip.checksum, header(static_cast<std::uint16_t>(id), 63).checksum) << id;
    zero |= ip.checksum.host() == 0;
  }
  EXPECT_TRUE(zero) << "the interesting case was among them";
}

TEST(Checksum, TheOtherZeroIsTakenButNotPassedOn) {
  for (unsigned id = 0; id <= 0xffff; ++id) {
    Ipv4 ip = header(static_cast<std::uint16_t>(id), 64);
    if (ip.checksum.host() != 0) continue;
    ip.checksum = be16(0xffff);
    EXPECT_TRUE(header_valid(ip));
    decrement_ttl(ip);
    EXPECT_TRUE(header_valid(ip));
    EXPECT_EQ(ip.checksum.host(), 0x0100);
    return;
  }
  FAIL() << "no header with checksum 0";
}

TEST(Checksum, UpdateFollowsRfc1624) {
  // RFC 1624 4: HC 0xdd2f, m 0x5555 -> 0x3285 must give 0x0000, not 0xffff.
  EXPECT_EQ(update_checksum(be16(0xdd2f), be16(0x5555), be16(0x3285)).host(), 0x0000);
}

TEST(Checksum, UdpNeverSendsZero) {
  EXPECT_EQ(udp_complement(0xffff).host(), 0xffff);
  EXPECT_EQ(udp_complement(be16(1).raw()).host(), 0xfffe);
}

TEST(Build, MakesValidFrames) {
  FrameSpec spec;
  spec.src = *IpAddress::parse("10.0.0.1");
  spec.dst = *IpAddress::parse("10.0.1.1");
  spec.tags = {0x2064, 7};
  spec.payload = {1, 2, 3};
  spec.zeros = 10;
  const auto frame = build(spec);
  ASSERT_EQ(frame.size(), 14U + 8 + 20 + 8 + 13);
  EXPECT_EQ(frame[12] << 8 | frame[13], kTypeServiceVlan);
  EXPECT_EQ(frame[16] << 8 | frame[17], kTypeVlan);
  const auto& ip = *reinterpret_cast<const Ipv4*>(&frame[22]);
  EXPECT_TRUE(header_valid(ip));
  EXPECT_EQ(ip.total_length.host(), 41);
  EXPECT_EQ(fold(sum_bytes(&frame[42], 21, pseudo_sum(ip, kProtoUdp, 21))), 0xffff);
  spec.elide_zeros = true;
  const auto elided = build(spec);
  EXPECT_EQ(elided.size(), frame.size() - 10);
  EXPECT_TRUE(std::equal(elided.begin(), elided.end(), frame.begin()));
}

TEST(Build, Ipv6WithFragmentHeader) {
  FrameSpec spec;
  spec.src = *IpAddress::parse("fd00::1");
  spec.dst = *IpAddress::parse("fd00::2");
  spec.fragment_offset = 16;
  spec.more_fragments = true;
  spec.zeros = 24;
  const auto frame = build(spec);
  ASSERT_EQ(frame.size(), 14U + 40 + 8 + 24);
  const auto& ip = *reinterpret_cast<const Ipv6*>(&frame[14]);
  const Ipv6Walk walk = walk_extensions(ip.next_header, &frame[54], 32);
  EXPECT_EQ(walk.end, Ipv6Walk::End::payload);
  EXPECT_TRUE(walk.fragment);
  EXPECT_EQ(walk.proto, kProtoUdp);
}

TEST(Ipv6Walk, EndsWhereItMust) {
  // Hop-by-hop (8 bytes), AH (12... 16 bytes), then TCP.
  const std::uint8_t chain[] = {51, 0, 1, 4, 0, 0, 0, 0, 6, 2, 0, 0, 0, 0,
                                0,  1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 3, 4};
  Ipv6Walk w = walk_extensions(kProtoHopByHop, chain, sizeof(chain));
  EXPECT_EQ(w.end, Ipv6Walk::End::transport);
  EXPECT_EQ(w.proto, kProtoTcp);
  EXPECT_EQ(w.offset, 24U);
  for (std::uint32_t n = 0; n < 24; ++n) {
    w = walk_extensions(kProtoHopByHop, chain, n);
    EXPECT_EQ(w.end, Ipv6Walk::End::truncated) << n;
  }
  // An atomic fragment (RFC 6946) is no fragment.
  const std::uint8_t atomic[] = {17, 0, 0, 0, 0, 0, 0, 1};
  w = walk_extensions(kProtoFragment, atomic, 8);
  EXPECT_EQ(w.end, Ipv6Walk::End::transport);
  EXPECT_FALSE(w.fragment);
  std::vector<std::uint8_t> endless(8 * 100);
  for (std::size_t i = 0; i < endless.size(); i += 8) endless[i] = kProtoDestination;
  w = walk_extensions(kProtoDestination, endless.data(), 800);
  EXPECT_EQ(w.end, Ipv6Walk::End::too_long);
  EXPECT_EQ(walk_extensions(kProtoNone, nullptr, 0).end, Ipv6Walk::End::transport);
}

}  // namespace
}  // namespace frond::wire
