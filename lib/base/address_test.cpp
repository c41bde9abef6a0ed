// SPDX-License-Identifier: BSD-3-Clause
#include "base/address.hpp"

#include <gtest/gtest.h>

namespace frond {
namespace {

TEST(Mac, RoundTripAndRefusals) {
  EXPECT_EQ(MacAddress::parse("02:00:5e:ab:cd:ef")->to_string(), "02:00:5e:ab:cd:ef");
  for (const char* bad : {"", "02:00:5e:ab:cd", "02-00-5e-ab-cd-ef", "02:00:5e:ab:cd:eg",
                          "02:00:5e:ab:cd:e", "+2:00:5e:ab:cd:ef", "02:00:5e:ab:cd:ef:"}) {
    EXPECT_FALSE(MacAddress::parse(bad)) << bad;
  }
}

TEST(Ip, RoundTripAndRefusals) {
  EXPECT_EQ(IpAddress::parse("10.0.1.255")->to_string(), "10.0.1.255");
  EXPECT_EQ(IpAddress::parse("fd00:0:0:1::")->to_string(), "fd00:0:0:1::");
  for (const char* bad :
       {"", "10.0.1", "10.0.1.256", "10.0.01.1", "fd00:::1", "1:2:3", "10.0.1.1 "}) {
    EXPECT_FALSE(IpAddress::parse(bad)) << bad;
  }
}

TEST(Prefix, NetworkClearsHostBits) {
  EXPECT_EQ(IpPrefix::parse("10.0.1.7/31")->network().to_string(), "10.0.1.6/31");
  EXPECT_EQ(IpPrefix::parse("255.255.255.255/0")->network().to_string(), "0.0.0.0/0");
  EXPECT_EQ(IpPrefix::parse("fd00::1:2:3/61")->network().to_string(), "fd00::/61");
  EXPECT_EQ(IpPrefix::parse("ffff::ffff/127")->network().to_string(), "ffff::fffe/127");
  EXPECT_EQ(IpPrefix::parse("10.0.0.1")->length, 32);
  for (const char* bad : {"10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "fd00::/129", "/8"}) {
    EXPECT_FALSE(IpPrefix::parse(bad)) << bad;
  }
}

TEST(Prefix, Contains) {
  const IpPrefix p = *IpPrefix::parse("10.0.1.0/24");
  EXPECT_TRUE(p.contains(*IpAddress::parse("10.0.1.255")));
  EXPECT_FALSE(p.contains(*IpAddress::parse("10.0.2.0")));
  EXPECT_FALSE(p.contains(*IpAddress::parse("::")));
  EXPECT_TRUE(IpPrefix::parse("::/0")->contains(*IpAddress::parse("fd00::1")));
}

TEST(Ip6, LinkLocalIsEui64) {
  EXPECT_EQ(Ip6::link_local(*MacAddress::parse("02:00:00:00:01:02")).to_string(),
            "fe80::ff:fe00:102");
}

}  // namespace
}  // namespace frond
