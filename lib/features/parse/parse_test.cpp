// SPDX-License-Identifier: BSD-3-Clause
#include "features/parse/parse.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "packet/pool.hpp"
#include "wire/build.hpp"
#include "wire/ipv6.hpp"

namespace frond::parse {
namespace {

using Bytes = std::vector<std::uint8_t>;

wire::FrameSpec v4() {
  wire::FrameSpec f;
  f.dst_mac = *MacAddress::parse("02:00:00:00:00:01");
  f.src_mac = *MacAddress::parse("02:00:00:00:00:02");
  f.src = Ip4{0x0a000001};
  f.dst = Ip4{0x0a000101};
  f.src_port = 1000;
  f.dst_port = 2000;
  f.zeros = 10;
  return f;
}
wire::FrameSpec v6() {
  wire::FrameSpec f = v4();
  f.src = *IpAddress::parse("fd00::1");
  f.dst = *IpAddress::parse("fd00::2");
  return f;
}

class ParseTest : public testing::Test {
 protected:
  ParseTest() : pool_("parse", {.packets = 63, .cache = 0}) {}

  Verdict parse(const Bytes& bytes, std::uint32_t elided = 0) {
    packet_.reset(pool_.make(bytes));
    packet_->meta().elided = elided;
    return Parse().decide(*packet_, why_);
  }
  const PacketMeta& meta() const { return packet_->meta(); }

  PacketPool pool_;
  PacketPtr packet_;
  NoWhy why_;
};

TEST_F(ParseTest, PlainIpv4AndIpv6) {
  for (bool six : {false, true}) {
    ASSERT_TRUE(parse(wire::build(six ? v6() : v4())).is_next());
    EXPECT_EQ(meta().l3, 14);
    EXPECT_EQ(meta().l4, six ? 54 : 34);
    EXPECT_EQ(meta().ether_type, six ? 0x86dd : 0x0800);
    EXPECT_EQ(meta().ip_proto, 17);
    EXPECT_EQ(meta().src_port, 1000);
    EXPECT_EQ(meta().dst_port, 2000);
    EXPECT_EQ(meta().flags, 0);
  }
}

TEST_F(ParseTest, TagsUpToTheLimit) {
  for (std::size_t tags = 1; tags <= kMaxTags; ++tags) {
    wire::FrameSpec f = v4();
    f.tags.assign(tags, 0xe000 | 7);
    f.tags[0] = 0x6000;  // a priority tag
    const Bytes frame = wire::build(f);
    ASSERT_TRUE(parse(frame).is_next()) << tags;
    EXPECT_EQ(meta().l3, 14 + 4 * tags);
    EXPECT_EQ(meta().vlan_tci, 0x6000);
    EXPECT_EQ(meta().flags, PacketMeta::kTagged);
    EXPECT_EQ(meta().dst_port, 2000);
  }
  wire::FrameSpec f = v4();
  f.tags.assign(kMaxTags + 1, 1);
  EXPECT_EQ(parse(wire::build(f)), Verdict::drop(Parse::parse_too_many_tags));
}

TEST_F(ParseTest, OptionsAndFragments) {
  wire::FrameSpec f = v4();
  f.options = {1, 1, 1, 0};
  ASSERT_TRUE(parse(wire::build(f)).is_next());
  EXPECT_EQ(meta().flags, PacketMeta::kOptions);
  EXPECT_EQ(meta().l4, 38);
  EXPECT_EQ(meta().src_port, 1000);
  for (bool six : {false, true}) {
    f = six ? v6() : v4();
    f.more_fragments = true;
    ASSERT_TRUE(parse(wire::build(f)).is_next());
    EXPECT_TRUE(meta().flags & PacketMeta::kFragment);
    EXPECT_EQ(meta().src_port, 0) << "the first fragment must not be told from the others";
    EXPECT_NE(meta().l4, 0);
    f.fragment_offset = 8;
    ASSERT_TRUE(parse(wire::build(f)).is_next());
    EXPECT_TRUE(meta().flags & PacketMeta::kFragment);
    EXPECT_EQ(meta().l4, 0) << "there is no transport header";
  }
}

TEST_F(ParseTest, ExtensionHeaders) {
  wire::FrameSpec f = v6();
  f.first_extension = wire::kProtoHopByHop;
  f.options = {17, 0, 1, 4, 0, 0, 0, 0};
  ASSERT_TRUE(parse(wire::build(f)).is_next());
  EXPECT_EQ(meta().l4, 62);
  EXPECT_EQ(meta().dst_port, 2000);
  EXPECT_EQ(meta().flags, PacketMeta::kOptions);
  f.options[1] = 200;  // longer than the datagram
  EXPECT_EQ(parse(wire::build(f)), Verdict::drop(Parse::parse_ipv6_malformed));
  // More than we look at: forwarded, without ports (RFC 7045 2.1).
  f.options.clear();
  for (unsigned i = 0; i < 20; ++i) {
    f.options.insert(f.options.end(), {wire::kProtoDestination, 0, 1, 4, 0, 0, 0, 0});
  }
  ASSERT_TRUE(parse(wire::build(f)).is_next());
  EXPECT_EQ(meta().l4, 0);
  EXPECT_EQ(meta().src_port, 0);
}

TEST_F(ParseTest, PaddingIsTolerated) {
  wire::FrameSpec f = v4();
  f.zeros = 0;
  f.pad_to = 60;
  ASSERT_TRUE(parse(wire::build(f)).is_next());
  EXPECT_EQ(meta().dst_port, 2000);
}

TEST_F(ParseTest, EveryTruncationHasAName) {
  for (bool six : {false, true}) {
    for (bool tagged : {false, true}) {
      wire::FrameSpec f = six ? v6() : v4();
      if (tagged) f.tags = {5, 6};
      const Bytes whole = wire::build(f);
      const std::size_t l2 = tagged ? 22 : 14;
      for (std::size_t n = 0; n < whole.size(); ++n) {
        const Verdict v = parse(Bytes(whole.begin(), whole.begin() + static_cast<long>(n)));
        ASSERT_EQ(v, Verdict::drop(n < l2 ? Parse::parse_runt : Parse::parse_truncated)) << n;
      }
      ASSERT_TRUE(parse(whole).is_next());
    }
  }
}

TEST_F(ParseTest, ElidedPayloadCounts) {
  wire::FrameSpec f = v4();
  f.zeros = 1000;
  f.elide_zeros = true;
  EXPECT_TRUE(parse(wire::build(f), 1000).is_next());
  EXPECT_EQ(parse(wire::build(f), 999), Verdict::drop(Parse::parse_truncated));
}

TEST_F(ParseTest, MalformedHeaders) {
  const auto with = [&](bool six, std::size_t at, std::uint8_t value) {
    Bytes b = wire::build(six ? v6() : v4());
    b[at] = value;
    return parse(b);
  };
  const auto bad4 = Verdict::drop(Parse::parse_ipv4_malformed);
  EXPECT_EQ(with(false, 14, 0x55), bad4) << "version 5";
  EXPECT_EQ(with(false, 14, 0x44), bad4) << "IHL 4";
  EXPECT_EQ(with(false, 14, 0x40), bad4) << "IHL 0";
  EXPECT_EQ(with(false, 14, 0x4f), bad4) << "IHL beyond the total length";
  EXPECT_EQ(with(false, 17, 19), bad4) << "total length below the header's";
  EXPECT_EQ(with(true, 14, 0x40), Verdict::drop(Parse::parse_ipv6_malformed)) << "version 4";
}

TEST_F(ParseTest, ShortTransportHeaderIsForwardedWithoutPorts) {
  for (bool six : {false, true}) {
    wire::FrameSpec f = six ? v6() : v4();
    f.proto = wire::kProtoSctp;  // build() adds no header
    f.zeros = 0;
    f.payload = {1, 2, 3};
    f.pad_to = 60;
    ASSERT_TRUE(parse(wire::build(f)).is_next());
    EXPECT_EQ(meta().src_port, 0) << "padding is no header";
    f.payload = {1, 2, 3, 4};
    ASSERT_TRUE(parse(wire::build(f)).is_next());
    EXPECT_EQ(meta().src_port, 0x0102);
  }
}

TEST_F(ParseTest, OtherTypesGoOn) {
  Bytes arp(60);
  arp[12] = 0x08;
  arp[13] = 0x06;
  arp[0] = 0xff;
  ASSERT_TRUE(parse(arp).is_next());
  EXPECT_EQ(meta().ether_type, 0x0806);
  EXPECT_EQ(meta().flags, PacketMeta::kGroupAddress);
  EXPECT_EQ(meta().l4, 0);
}

TEST_F(ParseTest, FastAndSlowPathAgree) {
  // The same headers behind a tag take the slow path.
  wire::FrameSpec f = v4();
  ASSERT_TRUE(parse(wire::build(f)).is_next());
  const PacketMeta fast = meta();
  f.tags = {1};
  ASSERT_TRUE(parse(wire::build(f)).is_next());
  EXPECT_EQ(meta().l4 - meta().l3, fast.l4 - fast.l3);
  EXPECT_EQ(meta().src_port, fast.src_port);
  EXPECT_EQ(meta().ip_proto, fast.ip_proto);
}

}  // namespace
}  // namespace frond::parse
