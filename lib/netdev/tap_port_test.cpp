// SPDX-License-Identifier: BSD-3-Clause
// TapPort and PacketPort against the kernel's own stack. Needs root.
#include "netdev/tap_port.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <functional>
#include <memory>
#include <numeric>
#include <sstream>
#include <vector>

#include "netdev/interface.hpp"
#include "netdev/offload.hpp"
#include "netdev/packet_port.hpp"
#include "netdev/test_namespace.hpp"

namespace frond::netdev {
namespace {

// Two hosts, joined by us: what one port receives the other sends.
class Joined : public NamespaceFixture {
 protected:
  void SetUp() override {
    NamespaceFixture::SetUp();
    if (IsSkipped()) return;
    pool_ = std::make_unique<PacketPool>("joined", PacketPool::Config{.packets = 4095, .cache = 0});
  }
  void TearDown() override {
    ports_[0].reset();
    ports_[1].reset();
    if (pool_ != nullptr) {
      EXPECT_EQ(pool_->in_use(), 0U) << "packets are lost";
    }
    NamespaceFixture::TearDown();
  }

  void make_host(int i) {
    Namespace& ns = hosts_.emplace_back(make(i == 0 ? "a" : "b"));
    ASSERT_TRUE(prepare_host(ns).ok());
  }
  void address(int i, std::uint32_t mtu) {
    Rtnetlink net = connect(hosts_[static_cast<std::size_t>(i)]);
    const char* v4[] = {"10.9.0.0/31", "10.9.0.1/31"};
    const char* v6[] = {"fd00:9::/127", "fd00:9::1/127"};
    const Status s = net.configure(
        "eth0",
        {.mtu = mtu, .up = true, .addresses = {*IpPrefix::parse(v4[i]), *IpPrefix::parse(v6[i])}});
    ASSERT_TRUE(s.ok()) << s.error().message;
  }
  void make_taps(TapPort::Config config, ReadySet* ready = nullptr) {
    for (int i = 0; i < 2; ++i) {
      make_host(i);
      ports_[i] = std::make_unique<TapPort>(config, hosts_.back(), *pool_, monitor_, ready);
      address(i, config.mtu);
    }
  }
  // Veths with default settings; our ends in a namespace of their own.
  void make_veths(std::uint32_t mtu) {
    Namespace middle = make("middle");
    ASSERT_TRUE(prepare_switch(middle).ok());
    Rtnetlink net = connect(middle);
    for (int i = 0; i < 2; ++i) {
      make_host(i);
      const std::string name = "p" + std::to_string(i);
      ASSERT_TRUE(net.create_veth(name, hosts_.back(), "eth0").ok());
      ASSERT_TRUE(net.configure(name, {.mtu = mtu, .up = true}).ok());
      address(i, mtu);
      ports_[i] = std::make_unique<PacketPort>(name, middle, *pool_, monitor_);
    }
  }

  // Moves frames once; tells `look` of each.
  unsigned step() {
    unsigned moved = 0;
    now_ += Time::us(1);
    for (int i = 0; i < 2; ++i) {
      Batch batch;
      moved += ports_[i]->receive(now_, batch);
      for (Packet* p : batch) {
        EXPECT_EQ(p->meta().time, now_);
        EXPECT_EQ(rte_mbuf_check(p->mbuf(), 1, nullptr), 0);
        longest_ = std::max(longest_, p->length());
        if (look_) look_(*p);
      }
      ports_[1 - i]->transmit(now_, batch);
      batch.free_all();
    }
    return moved;
  }
  bool until(const std::function<bool()>& done, int ms = 3000) {
    for (int i = 0; i < ms; ++i) {
      for (int k = 0; k < 50; ++k) {
        if (step() == 0) break;
      }
      if (done()) return true;
      usleep(1000);
    }
    return false;
  }
  int open_socket(int host, int family, int type) {
    int fd = -1;
    EXPECT_TRUE(hosts_[static_cast<std::size_t>(host)]
                    .run([&]() -> Status {
                      fd = socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
                      return {};
                    })
                    .ok());
    return fd;
  }
  static socklen_t endpoint(int host, int family, sockaddr_storage& out) {
    out = {};
    if (family == AF_INET) {
      auto& a = reinterpret_cast<sockaddr_in&>(out);
      a.sin_family = AF_INET;
      a.sin_port = htons(7000);
      inet_pton(AF_INET, host == 0 ? "10.9.0.0" : "10.9.0.1", &a.sin_addr);
      return sizeof a;
    }
    auto& a = reinterpret_cast<sockaddr_in6&>(out);
    a.sin6_family = AF_INET6;
    a.sin6_port = htons(7000);
    inet_pton(AF_INET6, host == 0 ? "fd00:9::" : "fd00:9::1", &a.sin6_addr);
    return sizeof a;
  }

  // `bytes` of a pattern over TCP from one host to the other, compared there.
  void transfer(int from, int family, std::size_t bytes) {
    const int to = 1 - from;
    const int server = open_socket(to, family, SOCK_STREAM),
              client = open_socket(from, family, SOCK_STREAM);
    sockaddr_storage address;
    const socklen_t length = endpoint(to, family, address);
    const int on = 1;
    setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    ASSERT_EQ(bind(server, reinterpret_cast<sockaddr*>(&address), length), 0);
    ASSERT_EQ(listen(server, 1), 0);
    ::connect(client, reinterpret_cast<sockaddr*>(&address), length);
    int peer = -1;
    ASSERT_TRUE(
        until([&] { return (peer = accept4(server, nullptr, nullptr, SOCK_NONBLOCK)) >= 0; }));
    std::vector<std::uint8_t> sent(bytes), got;
    std::iota(sent.begin(), sent.end(), static_cast<std::uint8_t>(from));
    for (std::size_t i = 0; i < bytes; ++i) sent[i] = static_cast<std::uint8_t>(sent[i] ^ (i >> 8));
    std::size_t at = 0;
    std::vector<std::uint8_t> buffer(65536);
    const bool complete = until([&] {
      for (ssize_t n; at < bytes && (n = write(client, sent.data() + at, bytes - at)) > 0;)
        at += static_cast<std::size_t>(n);
      for (ssize_t n; (n = read(peer, buffer.data(), buffer.size())) > 0;)
        got.insert(got.end(), buffer.begin(), buffer.begin() + n);
      return got.size() == bytes;
    });
    close(client);
    close(peer);
    close(server);
    until([] { return true; });
    ASSERT_TRUE(complete) << "got " << got.size() << " of " << bytes;
    EXPECT_TRUE(got == sent);
  }
  void datagrams(int from, int family) {
    const int to = 1 - from;
    const int server = open_socket(to, family, SOCK_DGRAM),
              client = open_socket(from, family, SOCK_DGRAM);
    sockaddr_storage address;
    const socklen_t length = endpoint(to, family, address);
    ASSERT_EQ(bind(server, reinterpret_cast<sockaddr*>(&address), length), 0);
    ASSERT_EQ(::connect(client, reinterpret_cast<sockaddr*>(&address), length), 0);
    for (std::size_t size : {0, 1, 2, 1000, 1001, 1400, 5000}) {
      std::vector<std::uint8_t> payload(size, 0x5a), buffer(9000);
      ASSERT_EQ(send(client, payload.data(), size, 0), static_cast<ssize_t>(size));
      ssize_t n = -1;
      EXPECT_TRUE(until([&] { return (n = recv(server, buffer.data(), buffer.size(), 0)) >= 0; }))
          << size;
      EXPECT_EQ(n, static_cast<ssize_t>(size));
    }
    close(server);
    close(client);
  }
  void everything() {
    for (int family : {AF_INET, AF_INET6}) {
      for (int from : {0, 1}) {
        transfer(from, family, 3'000'000);
        datagrams(from, family);
      }
    }
    EXPECT_EQ(refused_by_hosts(), 0U);
  }
  // What the hosts' kernels refused: bad checksums, malformed segments.
  std::uint64_t refused_by_hosts() {
    std::uint64_t sum = 0;
    for (const Namespace& ns : hosts_) {
      EXPECT_TRUE(
          ns.run([&]() -> Status {
              std::ifstream v4("/proc/thread-self/net/snmp"), v6("/proc/thread-self/net/snmp6");
              for (std::string names, values;
                   std::getline(v4, names) && std::getline(v4, values);) {
                std::istringstream name(names), value(values);
                for (std::string n, v; name >> n && value >> v;) {
                  if (n == "InCsumErrors" || n == "InErrs" || n == "InHdrErrors")
                    sum += std::stoull(v);
                }
              }
              std::uint64_t v = 0;
              for (std::string n; v6 >> n >> v;) {
                if (n == "Udp6InCsumErrors" || n == "Ip6InHdrErrors" || n == "Ip6InTruncatedPkts")
                  sum += v;
              }
              return {};
            }).ok());
    }
    return sum;
  }
  std::uint64_t all_drops() const {
    std::uint64_t n = 0;
    for (const auto& port : ports_) {
      for (unsigned i = 0; i < port->drop_info().size(); ++i) n += port->drops(i);
    }
    return n;
  }

  std::unique_ptr<PacketPool> pool_;
  LinkMonitor monitor_;
  std::vector<Namespace> hosts_;
  std::unique_ptr<Port> ports_[2];
  std::function<void(const Packet&)> look_;
  Time now_;
  std::uint32_t longest_ = 0;
};

TEST_F(Joined, TapWithOffloadsLooksLikeAWire) {
  make_taps({.mtu = 1500});
  unsigned checked = 0;
  look_ = [&](const Packet& p) {
    const auto t = find_transport(p.head());
    if (!t || t->fragment || (t->protocol != IPPROTO_TCP && t->protocol != IPPROTO_UDP)) return;
    EXPECT_EQ(
        checksum_sum(p.head().subspan(t->l4, t->end - t->l4), pseudo_header_sum(p.head(), *t)),
        0xffff);
    ++checked;
  };
  everything();
  EXPECT_LE(longest_, 1514U);
  EXPECT_GT(checked, 8000U);
  EXPECT_EQ(all_drops(), 0U);
}

TEST_F(Joined, TapWithoutOffloads) {
  make_taps({.mtu = 1500, .offloads = false});
  everything();
  EXPECT_LE(longest_, 1514U);
  EXPECT_EQ(all_drops(), 0U);
}

TEST_F(Joined, TapWithJumboFramesInChains) {
  ReadySet ready;
  make_taps({.mtu = 9000}, &ready);
  everything();
  EXPECT_GT(longest_, 8900U);
  EXPECT_LE(longest_, 9014U);
  ports_[0].reset();
  ports_[1].reset();
}

TEST_F(Joined, VethThroughPacketSockets) {
  make_veths(1500);
  ASSERT_TRUE(until([&] { return ports_[0]->up() && ports_[1]->up(); }));
  everything();
  EXPECT_LE(longest_, 1514U);
  EXPECT_EQ(all_drops(), 0U);
}

TEST_F(Joined, UdpSegmentsKeepTheirSize) {
  make_veths(1500);
  for (int family : {AF_INET, AF_INET6}) {
    const int server = open_socket(1, family, SOCK_DGRAM),
              client = open_socket(0, family, SOCK_DGRAM);
    sockaddr_storage address;
    const socklen_t length = endpoint(1, family, address);
    ASSERT_EQ(bind(server, reinterpret_cast<sockaddr*>(&address), length), 0);
    ASSERT_EQ(::connect(client, reinterpret_cast<sockaddr*>(&address), length), 0);
    const int size = 700;
    ASSERT_EQ(setsockopt(client, IPPROTO_UDP, 103 /* UDP_SEGMENT */, &size, sizeof size), 0);
    const std::vector<std::uint8_t> payload(10 * 700 + 50, 1);
    ASSERT_EQ(send(client, payload.data(), payload.size(), 0),
              static_cast<ssize_t>(payload.size()));
    std::vector<ssize_t> sizes;
    std::vector<std::uint8_t> buffer(9000);
    EXPECT_TRUE(until([&] {
      for (ssize_t n; (n = recv(server, buffer.data(), buffer.size(), 0)) >= 0;) sizes.push_back(n);
      return sizes.size() >= 11;
    }));
    std::vector<ssize_t> expected(10, 700);
    expected.push_back(50);
    EXPECT_EQ(sizes, expected);
    close(server);
    close(client);
  }
}

TEST_F(Joined, CarrierFollowsTheHost) {
  make_taps({});
  ASSERT_TRUE(until([&] { return ports_[0]->up(); }));
  Rtnetlink net = connect(hosts_[0]);
  ASSERT_TRUE(net.set_up("eth0", false).ok());
  EXPECT_TRUE(until([&] { return !ports_[0]->up(); }));
  const std::uint64_t before = ports_[0]->drops(TapPort::gone);
  Batch batch;
  batch.push(pool_->make(std::vector<std::uint8_t>(60)));
  EXPECT_EQ(ports_[0]->transmit(now_, batch), 1U);
  EXPECT_EQ(ports_[0]->drops(TapPort::gone), before + 1);
  ASSERT_TRUE(net.set_up("eth0", true).ok());
  EXPECT_TRUE(until([&] { return ports_[0]->up(); })) << "and back";
  auto& tap = static_cast<TapPort&>(*ports_[0]);
  ASSERT_TRUE(tap.set_carrier(false).ok());
  EXPECT_TRUE(until([&] { return !net.look("eth0")->carrier && !tap.up(); })) << "a pulled cable";
  ASSERT_TRUE(tap.set_carrier(true).ok());
  EXPECT_TRUE(until([&] { return tap.up(); }));
  transfer(0, AF_INET, 100000);
}

TEST_F(Joined, ARemovedInterfaceIsACountedDrop) {
  make_taps({});
  ASSERT_TRUE(until([&] { return ports_[0]->up(); }));
  Rtnetlink net = connect(hosts_[0]);
  ASSERT_TRUE(net.remove("eth0").ok());
  EXPECT_TRUE(until([&] { return !ports_[0]->up(); }));
  const std::uint64_t before = ports_[0]->drops(TapPort::gone);
  Batch batch;
  for (int i = 0; i < 3; ++i) batch.push(pool_->make(std::vector<std::uint8_t>(60)));
  EXPECT_EQ(ports_[0]->transmit(now_, batch), 3U);
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(ports_[0]->drops(TapPort::gone), before + 3);
  EXPECT_EQ(ports_[0]->receive(now_, batch), 0U);
}

TEST_F(Joined, AVanishedVethIsACountedDrop) {
  make_veths(1500);
  ASSERT_TRUE(until([&] { return ports_[0]->up(); }));
  Rtnetlink net = connect(hosts_[0]);
  ASSERT_TRUE(net.remove("eth0").ok()) << "the peer, and with it our end";
  EXPECT_TRUE(until([&] { return !ports_[0]->up(); }));
  const std::uint64_t before = ports_[0]->drops(PacketPort::gone);
  Batch batch;
  batch.push(pool_->make(std::vector<std::uint8_t>(60)));
  EXPECT_EQ(ports_[0]->transmit(now_, batch), 1U);
  EXPECT_EQ(ports_[0]->drops(PacketPort::gone), before + 1);
  EXPECT_EQ(ports_[0]->receive(now_, batch), 0U);
  EXPECT_TRUE(ports_[1]->up());
}

TEST_F(Joined, NamedDropsOfAPort) {
  make_veths(1500);
  ASSERT_TRUE(until([&] { return ports_[0]->up(); }));
  Batch batch;
  batch.push(pool_->make(std::vector<std::uint8_t>(60)));
  batch[0]->meta().elided = 100;
  batch.push(pool_->make(std::vector<std::uint8_t>(1600, 2)));
  EXPECT_EQ(ports_[0]->transmit(now_, batch), 2U);
  EXPECT_EQ(ports_[0]->drops(PacketPort::elided), 1U);
  EXPECT_EQ(ports_[0]->drops(PacketPort::too_long), 1U);
  EXPECT_EQ(ports_[0]->drop_info()[PacketPort::elided].name, "packet_elided");
}

TEST_F(Joined, AnEmptyPoolLosesNothingThatTheKernelCanKeep) {
  make_taps({});
  until([&] { return ports_[0]->up() && ports_[1]->up(); });
  std::vector<Packet*> taken;
  while (Packet* p = pool_->allocate()) taken.push_back(p);
  EXPECT_EQ(step(), 0U);
  for (Packet* p : taken) p->free();
  transfer(1, AF_INET6, 100000);
}

TEST_F(Joined, SentencesWhenItCannotStart) {
  hosts_.push_back(make("a"));
  TapPort first({.interface = "eth0"}, hosts_[0], *pool_, monitor_);
  try {
    TapPort second({.interface = "eth0"}, hosts_[0], *pool_, monitor_);
    FAIL();
  } catch (const StartError& e) {
    EXPECT_NE(std::string(e.what()).find("'eth0'"), std::string::npos) << e.what();
    EXPECT_NE(std::string(e.what()).find("in use"), std::string::npos) << e.what();
  }
  EXPECT_THROW(TapPort({.interface = "sixteen-letters-"}, hosts_[0], *pool_, monitor_), StartError);
  EXPECT_THROW(TapPort({.interface = "x", .mtu = 100000}, hosts_[0], *pool_, monitor_), StartError);
  EXPECT_THROW(PacketPort("nothing", hosts_[0], *pool_, monitor_), StartError);
  EXPECT_TRUE(connect(hosts_[0]).look("eth0").ok());
  EXPECT_FALSE(connect(hosts_[0]).look("x").ok()) << "nothing is left behind";
}

}  // namespace
}  // namespace frond::netdev
