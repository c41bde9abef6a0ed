// SPDX-License-Identifier: BSD-3-Clause
// Both kinds against a model: a map, searched from the longest length down.
#include "features/l3/fib.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/rng.hpp"

namespace frond::l3 {
namespace {

Fib::Config config_of(FibKind kind) {
  Fib::Config config;
  config.kind = kind;
  config.v4_long_blocks = 16 * 1024;
  config.v6_blocks = 16 * 1024;
  return config;
}

class FibTest : public testing::TestWithParam<FibKind> {
 protected:
  FibTest() : fib_(config_of(GetParam())) {}

  void set(const IpPrefix& p, NextHop n) {
    ASSERT_TRUE(fib_.set(p, n).ok()) << p.to_string();
    model_[p] = n;
  }
  void set(const char* text, std::uint32_t id) {
    set(IpPrefix::parse(text)->network(), NextHop::adjacency(id));
  }
  NextHop expected(const IpAddress& a) const {
    for (unsigned l = a.bits() + 1; l-- > 0;) {
      const auto it = model_.find(IpPrefix{a, static_cast<std::uint8_t>(l)}.network());
      if (it != model_.end()) return it->second;
    }
    return {};
  }
  void check(const char* text) {
    const IpAddress a = *IpAddress::parse(text);
    EXPECT_EQ(fib_.lookup(a), expected(a)) << text;
  }

  Fib fib_;
  std::map<IpPrefix, NextHop> model_;
};

TEST_P(FibTest, EmptyHasNoRoute) {
  check("10.0.0.1");
  check("fd00::1");
  EXPECT_EQ(fib_.lookup(0U).kind(), NextHop::Kind::none);
  EXPECT_FALSE(fib_.remove(*IpPrefix::parse("10.0.0.0/8")).ok());
  EXPECT_FALSE(fib_.remove(*IpPrefix::parse("fd00::/8")).ok());
}

TEST_P(FibTest, LongestWinsAndUncovers) {
  for (const char* p :
       {"0.0.0.0/0", "10.0.0.0/8", "10.0.0.0/9", "10.0.1.0/24", "10.0.1.2/31", "10.0.1.2/32",
        "::/0", "fd00::/16", "fd00:0:0:1::/64", "fd00:0:0:1::2/127", "fd00:0:0:1::2/128"}) {
    set(p, static_cast<std::uint32_t>(model_.size()));
  }
  const std::vector<const char*> probes = {
      "1.1.1.1",       "10.0.1.2",        "10.0.1.3",    "10.0.1.4", "10.0.2.1",
      "10.128.0.0",    "255.255.255.255", "::1",         "fd00::5",  "fd00:0:0:1::2",
      "fd00:0:0:1::3", "fd00:0:0:1::4",   "fd00:0:0:2::"};
  for (const char* a : probes) check(a);
  while (!model_.empty()) {
    const IpPrefix gone = std::next(model_.begin(), static_cast<long>(model_.size() / 2))->first;
    ASSERT_TRUE(fib_.remove(gone).ok());
    model_.erase(gone);
    for (const char* a : probes) check(a);
  }
}

TEST_P(FibTest, AgreesWithTheModelUnderChange) {
  Rng rng(7);
  std::vector<IpPrefix> known;
  const auto random_address = [&](bool v6) -> IpAddress {
    if (!v6) return Ip4{0x0a000000 | static_cast<std::uint32_t>(rng.below(1 << 18)) << 2};
    Ip6 a{{0xfd, 0}};
    a.bytes[7] = static_cast<std::uint8_t>(rng.below(4));
    a.bytes[14] = static_cast<std::uint8_t>(rng.below(3));
    a.bytes[15] = static_cast<std::uint8_t>(rng.next());
    return a;
  };
  // DPDK writes all that a short prefix covers: fewer of those.
  const bool large = GetParam() == FibKind::large;
  for (int i = 0; i < (large ? 5000 : 20000); ++i) {
    const bool v6 = rng.below(2) == 0;
    if (known.empty() || rng.below(3) != 0) {
      const IpAddress a = random_address(v6);
      const std::uint64_t length = v6      ? 16 + rng.below(113)
                                   : large ? 8 + rng.below(25)
                                           : rng.below(33);
      const IpPrefix p = IpPrefix{a, static_cast<std::uint8_t>(length)}.network();
      if (!model_.contains(p)) known.push_back(p);
      set(p, NextHop::group(static_cast<std::uint32_t>(i)));
    } else {
      const auto at = static_cast<std::ptrdiff_t>(rng.below(known.size()));
      ASSERT_TRUE(fib_.remove(known[static_cast<std::size_t>(at)]).ok());
      model_.erase(known[static_cast<std::size_t>(at)]);
      known.erase(known.begin() + at);
    }
    const IpAddress probe = random_address(v6);
    ASSERT_EQ(fib_.lookup(probe), expected(probe)) << i << " " << probe.to_string();
  }
}

TEST_P(FibTest, BulkEqualsSingle) {
  set("10.0.0.0/8", 1);
  set("10.1.0.0/16", 2);
  set("fd00::/32", 3);
  Rng rng(3);
  std::vector<std::uint32_t> v4(100);
  std::vector<Ip6> v6(100);
  for (auto& a : v4) a = static_cast<std::uint32_t>(0x0a000000 + rng.below(1 << 25));
  for (auto& a : v6) a.bytes = {0xfd, 0, 0, static_cast<std::uint8_t>(rng.below(2))};
  NextHop next[100];
  fib_.lookup(v4.data(), next, 100);
  for (unsigned i = 0; i < 100; ++i) ASSERT_EQ(next[i], fib_.lookup(v4[i]));
  fib_.lookup(v6.data(), next, 100);
  for (unsigned i = 0; i < 100; ++i) ASSERT_EQ(next[i], fib_.lookup(v6[i]));
}

INSTANTIATE_TEST_SUITE_P(Kinds, FibTest, testing::Values(FibKind::compact, FibKind::large),
                         [](const auto& kind) {
                           return std::string(
                               enum_names(FibKind())[static_cast<unsigned>(kind.param)]);
                         });

// The routes of a leaf among 128, with 32 hosts.
TEST(FibCompact, ASmallTableIsSmall) {
  Fib fib({});
  for (std::uint32_t leaf = 1; leaf <= 128; ++leaf) {
    ASSERT_TRUE(fib.set({Ip4{0x0a000000 | leaf << 8}, 24}, NextHop::group(0)).ok());
    Ip6 block{{0xfd}};
    block.bytes[7] = static_cast<std::uint8_t>(leaf);
    ASSERT_TRUE(fib.set({block, 64}, NextHop::group(0)).ok());
    ASSERT_TRUE(fib.set({Ip4{0x0afd0000 | leaf}, 32}, NextHop::group(0)).ok());
  }
  for (std::uint32_t host = 0; host < 64; ++host) {
    ASSERT_TRUE(fib.set({Ip4{0x0a000100 | host}, 32}, NextHop::local()).ok());
    Ip6 a{{0xfd}};
    a.bytes[7] = 1;
    a.bytes[15] = static_cast<std::uint8_t>(host);
    ASSERT_TRUE(fib.set({a, 128}, NextHop::local()).ok());
  }
  EXPECT_LT(fib.memory(), 64U << 10);
  EXPECT_GT(fib.memory(), 4U << 10) << "memory() counts";
}

TEST(FibCompact, ChurnGivesItsNodesBack) {
  Fib fib({});
  ASSERT_TRUE(fib.set({Ip4{0x0a000000}, 8}, NextHop::local()).ok());
  std::size_t after_first = 0;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    const IpPrefix p{Ip4{0x0a000000 | i * 4099 % 0xffffff}, 32};
    ASSERT_TRUE(fib.set(p, NextHop::adjacency(i)).ok());
    ASSERT_TRUE(fib.remove(p).ok());
    EXPECT_EQ(fib.lookup(p.address).kind(), NextHop::Kind::local);
    if (i == 0) after_first = fib.memory();
  }
  EXPECT_EQ(fib.memory(), after_first);
}

TEST(FibLarge, HoldsTheInternet) {
  Fib::Config config;
  config.kind = FibKind::large;
  config.v6_blocks = 400 * 1024;
  Fib fib(config);
  constexpr std::uint32_t kV4 = 512 * 1024, kV6 = 128 * 1024;
  // As in a real table most IPv4 prefixes are /24s; a sixteenth is longer.
  const auto v4 = [](std::uint32_t i) {
    const std::uint32_t block = 0x01000000 + (i * 20 << 8);
    return i % 16 == 0 ? IpPrefix{Ip4{block | 0x80}, 25} : IpPrefix{Ip4{block}, 24};
  };
  const auto v6 = [](std::uint32_t i) {  // 512 providers of 256 /48s
    return IpPrefix{Ip6{{0x20, 0x01, static_cast<std::uint8_t>(i >> 16),
                         static_cast<std::uint8_t>(i >> 8), 0, static_cast<std::uint8_t>(i)}},
                    48};
  };
  for (std::uint32_t i = 0; i < kV4; ++i) {
    ASSERT_TRUE(fib.set(v4(i), NextHop::group(i)).ok()) << i;
  }
  for (std::uint32_t i = 0; i < kV6; ++i) {
    ASSERT_TRUE(fib.set(v6(i), NextHop::group(i)).ok()) << i;
  }
  for (std::uint32_t i = 0; i < kV4; i += 7) {
    ASSERT_EQ(fib.lookup(v4(i).address), NextHop::group(i)) << i;
  }
  for (std::uint32_t i = 0; i < kV6; i += 7) {
    Ip6 inside = v6(i).address.v6_address;
    inside.bytes[15] = 1;
    ASSERT_EQ(fib.lookup(inside), NextHop::group(i)) << i;
  }
}

TEST(FibLarge, WithoutMemoryIsASentence) {
  Fib::Config config;
  config.kind = FibKind::large;
  config.v4_long_blocks = 1 << 22;
  EXPECT_THROW(Fib{config}, StartError);
}

TEST(FibLarge, AFullTableIsAnErrorAndNoChange) {
  Fib::Config config;
  config.kind = FibKind::large;
  config.v4_long_blocks = 4;
  config.v6_blocks = 1024;
  Fib fib(config);
  unsigned added = 0;
  Status status;
  while (added < 100 && status.ok()) {
    status = fib.set({Ip4{0x0a000001 | added << 8}, 32}, NextHop::local());
    added += status.ok();
  }
  EXPECT_EQ(status.error().code, Error::Code::resource_exhausted);
  EXPECT_GE(added, 3U);
  EXPECT_EQ(fib.lookup(0x0a000001U), NextHop::local());
  EXPECT_EQ(fib.lookup(0x0a000001U | added << 8), NextHop());
}

}  // namespace
}  // namespace frond::l3
