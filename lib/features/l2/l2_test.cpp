// SPDX-License-Identifier: BSD-3-Clause
#include "features/l2/l2.hpp"

#include <gtest/gtest.h>

#include "features/parse/parse.hpp"
#include "wire/build.hpp"

namespace frond::l2 {
namespace {

class L2Test : public testing::Test {
 protected:
  L2Test() : pool_("l2", {.packets = 63, .cache = 0}), router_({.ports = 2}) {
    router_.set_interface(0, {.mac = mac(0)});
    router_.set_interface(1, {.mac = mac(1)});
  }
  static MacAddress mac(std::uint8_t last) { return {{2, 0, 0, 0, 0, last}}; }

  Verdict decide(const char* dst, const char* src, std::uint16_t type = wire::kTypeIpv4) {
    wire::FrameSpec f;
    f.dst_mac = *MacAddress::parse(dst);
    f.src_mac = *MacAddress::parse(src);
    f.src = Ip4{1};
    f.dst = Ip4{2};
    f.pad_to = 60;
    auto bytes = wire::build(f);
    bytes[12] = static_cast<std::uint8_t>(type >> 8);
    bytes[13] = static_cast<std::uint8_t>(type);
    PacketPtr p(pool_.make(bytes));
    p->meta().ingress = 1;
    NoWhy why;
    EXPECT_TRUE(parse::Parse().decide(*p, why).is_next());
    return L2(router_).decide(*p, why);
  }

  PacketPool pool_;
  l3::Router router_;
};

TEST_F(L2Test, TakesWhatIsOurs) {
  const char* peer = "02:00:00:00:00:99";
  EXPECT_TRUE(decide("02:00:00:00:00:01", peer).is_next());
  EXPECT_EQ(decide("02:00:00:00:00:00", peer), Verdict::drop(L2::l2_not_for_us))
      << "another port's address";
  EXPECT_EQ(decide("03:00:00:00:00:01", peer), Verdict::next()) << "a group: input decides";
  EXPECT_EQ(decide("02:00:00:00:00:01", peer, wire::kTypeArp), Verdict::punt(kPuntArp));
  EXPECT_EQ(decide("ff:ff:ff:ff:ff:ff", peer, wire::kTypeArp), Verdict::punt(kPuntArp));
  EXPECT_EQ(decide("02:00:00:00:00:07", peer, wire::kTypeArp), Verdict::drop(L2::l2_not_for_us));
  EXPECT_EQ(decide("02:00:00:00:00:01", peer, 0x1234), Verdict::drop(L2::l2_unknown_type));
  EXPECT_EQ(decide("02:00:00:00:00:01", peer, 40), Verdict::drop(L2::l2_unknown_type)) << "LLC";
}

TEST_F(L2Test, RefusesGroupSourcesAndReservedGroups) {
  EXPECT_EQ(decide("02:00:00:00:00:01", "03:00:00:00:00:02"), Verdict::drop(L2::l2_group_source));
  EXPECT_EQ(decide("02:00:00:00:00:01", "ff:ff:ff:ff:ff:ff"), Verdict::drop(L2::l2_group_source));
  EXPECT_EQ(decide("01:80:c2:00:00:01", "02:00:00:00:00:02", wire::kTypeMacControl),
            Verdict::drop(L2::l2_reserved_group));
  EXPECT_EQ(decide("01:80:c2:00:00:0e", "02:00:00:00:00:02", wire::kTypeLldp),
            Verdict::drop(L2::l2_reserved_group));
}

}  // namespace
}  // namespace frond::l2
