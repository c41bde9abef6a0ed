// SPDX-License-Identifier: BSD-3-Clause
// Namespaces, interfaces and link news, on the kernel itself. Needs root; makes and removes its
// own.
#include "netdev/namespace.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>

#include "netdev/interface.hpp"
#include "netdev/link_monitor.hpp"
#include "netdev/test_namespace.hpp"

namespace frond::netdev {
namespace {

bool eventually(const std::function<bool()>& f) {
  for (int i = 0; i < 400; ++i) {
    if (f()) return true;
    usleep(5000);
  }
  return false;
}

class NamespaceTest : public NamespaceFixture {};

TEST_F(NamespaceTest, IsWhatIpNetnsMakes) {
  Namespace ns = make("a");
  const std::string command = "ip netns exec " + full("a") + " test -e /proc/self/ns/net";
  EXPECT_EQ(std::system(command.c_str()), 0);
  EXPECT_NE(ns.identity(), Namespace::current().identity());
  EXPECT_EQ(Namespace::open(full("a"))->identity(), ns.identity());
  const auto again = names_.create(full("a"));
  ASSERT_FALSE(again.ok());
  EXPECT_EQ(again.error().code, Error::Code::already_exists);
  EXPECT_NE(again.error().message.find("ip netns del"), std::string::npos);
}

TEST_F(NamespaceTest, ListsAndRemovesByPrefix) {
  make("one");
  make("two");
  EXPECT_EQ(names_.list(full("")), (std::vector<std::string>{full("one"), full("two")}));
  EXPECT_TRUE(names_.remove(full("one")).ok());
  EXPECT_TRUE(names_.remove(full("one")).ok()) << "what is not there needs no removal";
  EXPECT_EQ(names_.list(full("")), std::vector<std::string>{full("two")});
}

TEST_F(NamespaceTest, RefusesNamesThatAreNone) {
  for (const char* bad : {"", ".", "..", "a/b", "../x"}) {
    EXPECT_FALSE(names_.create(bad).ok()) << bad;
  }
  EXPECT_FALSE(Namespace::open("/no/such/place").ok());
}

TEST_F(NamespaceTest, WorkInsideDoesNotMoveTheCaller) {
  Namespace ns = make("a");
  const auto before = Namespace::current().identity();
  Namespace::Identity inside{};
  EXPECT_TRUE(ns.run([&]() -> Status {
                  inside = Namespace::current().identity();
                  return {};
                }).ok());
  EXPECT_EQ(inside, ns.identity());
  EXPECT_EQ(Namespace::current().identity(), before);
  EXPECT_THROW((void)ns.run([]() -> Status { throw StartError("from inside"); }).ok(), StartError);
}

TEST_F(NamespaceTest, SysctlsAreItsOwn) {
  Namespace ns = make("a");
  ASSERT_TRUE(ns.set_sysctl("net.ipv4.ip_forward", "1").ok());
  EXPECT_EQ(*ns.get_sysctl("net.ipv4.ip_forward"), "1");
  EXPECT_EQ(*make("b").get_sysctl("net.ipv4.ip_forward"), "0");
  EXPECT_FALSE(ns.set_sysctl("net.ipv4.no_such_thing", "1").ok());
}

TEST_F(NamespaceTest, ConfiguresAHostEntirely) {
  Namespace a = make("a"), b = make("b");
  ASSERT_TRUE(prepare_host(a).ok());
  ASSERT_TRUE(prepare_host(b).ok());
  Rtnetlink net = connect(a), peer = connect(b);
  ASSERT_TRUE(net.create_veth("left", b, "right").ok());
  const MacAddress mac = *MacAddress::parse("02:00:00:00:00:17");
  const Status s = net.configure(
      "left",
      {.rename = "eth0",
       .mac = mac,
       .mtu = 4000,
       .up = true,
       .addresses = {*IpPrefix::parse("10.9.0.1/31"), *IpPrefix::parse("fd00:9::1/127")},
       .neighbors = {{*IpAddress::parse("10.9.0.0"), *MacAddress::parse("02:00:00:00:00:16")}},
       .routes = {{*IpPrefix::parse("0.0.0.0/0"), IpAddress::parse("10.9.0.0")},
                  {*IpPrefix::parse("::/0"), IpAddress::parse("fd00:9::")},
                  {*IpPrefix::parse("10.77.0.0/16"), std::nullopt}}});
  ASSERT_TRUE(s.ok()) << s.error().message;
  const auto state = net.look("eth0");
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(state->mac, mac);
  EXPECT_EQ(state->mtu, 4000U);
  EXPECT_EQ(state->kind, "veth");
  EXPECT_TRUE(state->up);
  EXPECT_FALSE(state->carrier) << "the peer is down";
  EXPECT_EQ(net.list()->size(), 2U) << "lo and eth0";
  ASSERT_TRUE(peer.configure("right", {.up = true,
                                       .addresses = {*IpPrefix::parse("10.9.0.0/31"),
                                                     *IpPrefix::parse("fd00:9::/127")},
                                       .neighbors = {}})
                  .ok());
  ASSERT_TRUE(net.configure("eth0", {.neighbors = {{*IpAddress::parse("10.9.0.0"),
                                                    peer.look("right")->mac}}})
                  .ok());
  EXPECT_EQ(
      std::system(("ip netns exec " + full("a") + " ping -qc1 -W2 10.9.0.0 >/dev/null").c_str()),
      0);
  EXPECT_EQ(
      std::system(("ip netns exec " + full("a") + " ping -qc1 -W2 fd00:9:: >/dev/null").c_str()), 0)
      << "IPv6 works at once";
  EXPECT_EQ(
      std::system(
          ("ip -n " + full("a") + " route get 198.51.100.1 | grep -q 'via 10.9.0.0'").c_str()),
      0);
  EXPECT_EQ(
      std::system(
          ("ip -n " + full("a") + " -6 route get 2001:db8::1 | grep -q 'via fd00:9::'").c_str()),
      0);
  EXPECT_TRUE(net.remove_route("eth0", {*IpPrefix::parse("10.77.0.0/16"), std::nullopt}).ok());
  EXPECT_TRUE(net.remove_address("eth0", *IpPrefix::parse("10.9.0.1/31")).ok());
  EXPECT_TRUE(net.remove("eth0").ok());
  EXPECT_EQ(net.look("eth0").error().code, Error::Code::not_found);
  EXPECT_EQ(net.remove("eth0").error().code, Error::Code::not_found);
}

TEST_F(NamespaceTest, ErrorsAreSentences) {
  Namespace a = make("a");
  Rtnetlink net = connect(a);
  const Status s = net.configure("nothing", {.up = true});
  EXPECT_EQ(s.error().message, "there is no interface 'nothing'");
  EXPECT_EQ(net.create_veth("sixteen-letters-", a, "x").error().code,
            Error::Code::invalid_argument);
}

TEST_F(NamespaceTest, LinkNewsArriveByThemselves) {
  Namespace a = make("a"), b = make("b");
  Rtnetlink net = connect(a), peer = connect(b);
  LinkMonitor monitor;
  std::atomic<int> calls = 0;
  auto watch = *monitor.watch(a, "left", [&] { ++calls; });
  EXPECT_FALSE(watch->present());
  ASSERT_TRUE(net.create_veth("left", b, "right").ok());
  EXPECT_TRUE(eventually([&] { return watch->present(); }));
  EXPECT_FALSE(watch->up());
  ASSERT_TRUE(net.set_up("left", true).ok());
  ASSERT_TRUE(peer.set_up("right", true).ok());
  EXPECT_TRUE(eventually([&] { return watch->up(); }));
  EXPECT_TRUE((*monitor.watch(a, "left"))->up()) << "a late watcher knows at once";
  ASSERT_TRUE(peer.set_up("right", false).ok());
  EXPECT_TRUE(eventually([&] { return !watch->up(); })) << "peer down: no carrier";
  ASSERT_TRUE(peer.set_up("right", true).ok());
  EXPECT_TRUE(eventually([&] { return watch->up(); }));
  ASSERT_TRUE(peer.remove("right").ok());
  EXPECT_TRUE(eventually([&] { return !watch->up() && !watch->present(); })) << "peer deleted";
  ASSERT_TRUE(net.create_veth("left", b, "right").ok());
  EXPECT_TRUE(eventually([&] { return watch->present(); })) << "and back";
  ASSERT_TRUE(net.configure("left", {.rename = "other"}).ok());
  EXPECT_TRUE(eventually([&] { return !watch->present(); })) << "renamed away";
  monitor.unwatch(watch);
  const int seen = calls;
  ASSERT_TRUE(net.configure("other", {.rename = "left"}).ok());
  usleep(20000);
  EXPECT_EQ(calls, seen);
  EXPECT_GE(seen, 6);
}

}  // namespace
}  // namespace frond::netdev
