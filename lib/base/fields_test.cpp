// SPDX-License-Identifier: BSD-3-Clause
#include "base/fields.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace frond {
namespace {

enum class Mode { compact, large };
constexpr auto enum_names(Mode) { return std::to_array<std::string_view>({"compact", "large"}); }

struct Inner {
  Time timeout = Time::ms(500);
  Probability loss;
  template <class F> static void fields(F& f) {
    f("timeout", &Inner::timeout, "", "How long", range(Time::us(1), Time::s(10)));
    f("loss", &Inner::loss, "", "What is lost");
  }
};

struct Outer {
  std::uint16_t limit = 16;
  Mode mode = Mode::compact;
  bool on = false;
  std::string name = "x";
  std::optional<std::uint64_t> seed;
  Rate rate = Rate::gbps(1);
  std::vector<unsigned> cpus;
  Named<Inner> things;
  Inner inner;
  template <class F> static void fields(F& f) {
    f("limit", &Outer::limit, "packets", "Limit", range(1, 1024));
    f("mode", &Outer::mode, "", "Mode");
    f("on", &Outer::on, "", "On");
    f("name", &Outer::name, "", "Name", required);
    f("seed", &Outer::seed, "", "Seed");
    f("rate", &Outer::rate, "", "Rate", range(Rate::bps(1), Rate::gbps(10'000)));
    f("cpus", &Outer::cpus, "", "CPUs");
    f("things", &Outer::things, "", "Things");
    f("inner", &Outer::inner, "", "Inner");
  }
};

TEST(Units, RoundTrip) {
  for (const char* text : {"1ns", "500ns", "1.5us", "10us", "3s", "250ms", "3600s", "0s"}) {
    ASSERT_TRUE(parse_time(text)) << text;
    EXPECT_EQ(format(*parse_time(text)), text);
  }
  for (const char* text : {"100G", "2.5G", "1T", "1.6T", "64K", "512b/s", "0b/s"}) {
    ASSERT_TRUE(parse_rate(text)) << text;
    EXPECT_EQ(format(*parse_rate(text)), text);
  }
  for (const char* text : {"64KiB", "1MiB", "1500B", "0B", "1TiB"}) {
    ASSERT_TRUE(parse_bytes(text)) << text;
    EXPECT_EQ(format(*parse_bytes(text)), text);
  }
  for (const char* text : {"0%", "100%", "0.1%", "12.5%", "0.000001%", "33.3%"}) {
    ASSERT_TRUE(parse_probability(text)) << text;
    EXPECT_EQ(format(*parse_probability(text)), text);
  }
}

TEST(Units, SpellingsOfTheSame) {
  for (const char* text : {"25G", "25Gb/s", "25Gbps", "25Gbit/s", "25 Gb/s", "25000M", "0.025T"}) {
    EXPECT_EQ(parse_rate(text), Rate::gbps(25)) << text;
  }
  EXPECT_EQ(parse_rate("9600 b/s"), Rate::bps(9600));
  EXPECT_EQ(parse_rate("9600bps"), Rate::bps(9600));
  EXPECT_EQ(parse_time("1min"), Time::s(60));
  EXPECT_EQ(parse_bytes("9K"), Bytes(9000));
  EXPECT_EQ(parse_bytes("9KB"), Bytes(9000));
  EXPECT_EQ(parse_bytes("1500"), Bytes(1500));
  EXPECT_EQ(parse_probability("0.001"), parse_probability("0.1%"));
  EXPECT_EQ(parse_probability("0.001"), Probability::ratio(1, 1000));
}

TEST(Units, Refusals) {
  for (const char* text : {"", "-1ns", "1", "1parsec", "1.ns", ".5s", "1e3s", "0.5ns", "1 n s",
                           "99999999999999999s", "9999999999999999999s", "us", "+1s"}) {
    EXPECT_FALSE(parse_time(text)) << text;
  }
  for (const char* text : {"", "100", "10X", "10GB", "10GiB", "-1G", "1..5G", "G", "0.0001b/s"}) {
    EXPECT_FALSE(parse_rate(text)) << text;
  }
  for (const char* text : {"", "1.5", "10b", "1.0001K", "-1", "KiB"}) {
    EXPECT_FALSE(parse_bytes(text)) << text;
  }
  for (const char* text : {"", "1.1", "101%", "-1%", "%", "1 % "}) {
    EXPECT_FALSE(parse_probability(text)) << text;
  }
}

TEST(Fields, SetByPath) {
  Outer o;
  EXPECT_TRUE(set_field(o, "limit", "1024"));
  EXPECT_TRUE(set_field(o, "mode", "large"));
  EXPECT_TRUE(set_field(o, "on", "true"));
  EXPECT_TRUE(set_field(o, "seed", "0xffffffffffffffff"));
  EXPECT_TRUE(set_field(o, "rate", "2.5G"));
  EXPECT_TRUE(set_field(o, "inner.timeout", "10us"));
  EXPECT_TRUE(set_field(o, "inner.loss", "0.1%"));
  EXPECT_EQ(o.limit, 1024);
  EXPECT_EQ(o.mode, Mode::large);
  EXPECT_TRUE(o.on);
  EXPECT_EQ(o.seed, ~std::uint64_t{0});
  EXPECT_EQ(o.rate, Rate::mbps(2500));
  EXPECT_EQ(o.inner.timeout, Time::us(10));
  EXPECT_EQ(o.inner.loss, Probability::ratio(1, 1000));
  EXPECT_TRUE(set_field(o, "seed", "auto"));
  EXPECT_EQ(o.seed, std::nullopt);
}

TEST(Fields, RefusalsLeaveTheObject) {
  Outer o;
  const auto message = [&](const char* path, const char* text) {
    const Status s = set_field(o, path, text);
    return s.ok() ? std::string() : s.error().message;
  };
  EXPECT_EQ(message("limit", "1025"), "limit must be at most 1024");
  EXPECT_EQ(message("limit", "0"), "limit must be at least 1");
  EXPECT_EQ(message("limit", "65536"), "limit: '65536' is not a whole number");
  EXPECT_EQ(message("mode", "larg"), "mode: 'larg' is not one of compact, large");
  EXPECT_EQ(message("rate", "0b/s"), "rate must be at least 1b/s");
  EXPECT_EQ(message("rate", "100"), "rate: '100' is not a rate with its unit, such as 100G");
  EXPECT_EQ(message("inner", "1"), "inner is not a single value");
  EXPECT_EQ(message("inner.timeout", "11s"), "timeout must be at most 10s");
  EXPECT_EQ(message("innr.timeout", "1s"), "no option is called 'innr'");
  EXPECT_EQ(message("cpus", "1"), "cpus is not a single value");
  EXPECT_EQ(message("limit.x", "1"), "no option is called 'limit'");
  EXPECT_EQ(flow_text(o), flow_text(Outer()));
}

TEST(Fields, DiffNamesEachChange) {
  Outer a, b;
  b.inner.loss = Probability::ratio(1, 100);
  b.cpus = {1, 2};
  b.things.emplace_back("one", Inner());
  std::vector<std::string> changes;
  diff_fields(a, b, [&](const std::string& path, const std::string& x, const std::string& y) {
    changes.push_back(path + " " + x + " -> " + y);
  });
  EXPECT_EQ(changes, (std::vector<std::string>{"cpus [] -> [1, 2]",
                                               "things {} -> {one: {timeout: 500ms, loss: 0%}}",
                                               "inner.loss 0% -> 1%"}));
}

TEST(Fields, AddressesAreScalars) {
  static_assert(Scalar<MacAddress> && Scalar<IpAddress> && Scalar<IpPrefix>);
  static_assert(!Scalar<Inner> && Described<Inner> && !Described<Time>);
  EXPECT_EQ(to_text(*from_text<IpPrefix>("10.0.0.1/31")), "10.0.0.1/31");
}

}  // namespace
}  // namespace frond
