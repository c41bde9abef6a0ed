// SPDX-License-Identifier: BSD-3-Clause
// Eal and EthdevPort on drivers that need no privileges (null, pcap, memif), and as root on the
// kernel's interfaces. Real traffic: tests/system/ports.
#include <dirent.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "dpdk/eal.hpp"
#include "dpdk/ethdev_port.hpp"
#include "netdev/interface.hpp"
#include "netdev/test_namespace.hpp"

namespace frond::dpdk {
namespace {

Eal* g_eal = nullptr;  // one a process

bool eventually(const std::function<bool()>& f) {
  for (int i = 0; i < 1000; ++i) {
    if (f()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

TEST(EalArguments, FollowTheMachine) {
  using Strings = std::vector<std::string>;
  EXPECT_EQ(Eal::arguments({}, 0, 12000, "0,1"),
            (Strings{"frond", "--no-telemetry", "--no-huge", "--no-shconf", "-m", "12000",
                     "--lcores", "0@(0,1)", "--no-pci", "--log-level", "*:warning"}));
  EXPECT_EQ(Eal::arguments({}, 1024, 12000, "0"),
            (Strings{"frond", "--no-telemetry", "--in-memory", "--single-file-segments", "--lcores",
                     "0@(0)", "--no-pci", "--log-level", "*:warning"}));
  const Strings pci = Eal::arguments({.pci = {"0000:00:04.0"}}, 0, 100, "0");
  EXPECT_EQ(std::count(pci.begin(), pci.end(), "--no-pci"), 0);
  EXPECT_EQ(std::count(pci.begin(), pci.end(), "0000:00:04.0"), 1);
  const Strings own = Eal::arguments({.memory_mib = 300, .extra = {"-l", "1"}}, 299, 100, "0");
  EXPECT_EQ(std::count(own.begin(), own.end(), "--lcores"), 0) << "the user's own";
  EXPECT_EQ(std::count(own.begin(), own.end(), "300"), 1);
}

TEST(EalStart, TooFewHugepagesIsASentence) {
  try {
    Eal second({.memory = Eal::Config::Memory::hugepages, .memory_mib = 1U << 30});
    FAIL();
  } catch (const StartError& e) {
    EXPECT_NE(std::string(e.what()).find("vm.nr_hugepages"), std::string::npos) << e.what();
  }
}

TEST(EalStart, PinsNobody) {
  cpu_set_t process, mine;
  ASSERT_EQ(sched_getaffinity(getppid(), sizeof process, &process), 0);
  ASSERT_EQ(sched_getaffinity(0, sizeof mine, &mine), 0);
  EXPECT_EQ(CPU_COUNT(&mine), CPU_COUNT(&process));
  int threads = 0;
  for (const auto& t : std::filesystem::directory_iterator("/proc/self/task")) {
    cpu_set_t set;
    ASSERT_EQ(sched_getaffinity(std::stoi(t.path().filename()), sizeof set, &set), 0);
    EXPECT_TRUE(CPU_EQUAL(&set, &process)) << t.path();
    ++threads;
  }
  EXPECT_GT(threads, 1) << "control threads";
}

TEST(EalStart, LeavesNoFiles) {
  std::error_code none;
  for (const auto& e : std::filesystem::recursive_directory_iterator("/var/run/dpdk", none)) {
    EXPECT_EQ(e.path().string().find(std::to_string(getpid())), std::string::npos) << e.path();
  }
  EXPECT_EQ(getenv("RUNTIME_DIRECTORY"), nullptr);
}

class EthdevTest : public netdev::NamespaceFixture {
 protected:
  void SetUp() override {
    pool_ = std::make_unique<PacketPool>("dpdk", PacketPool::Config{.packets = 8191, .cache = 0});
  }
  void TearDown() override {
    EXPECT_EQ(pool_->in_use(), 0U);
    NamespaceFixture::TearDown();
  }
  std::unique_ptr<EthdevPort> make_port(const EthdevConfig& config) {
    return std::make_unique<EthdevPort>(config, *g_eal, *pool_, monitor_);
  }
  std::string refusal(const EthdevConfig& config) {
    try {
      make_port(config);
    } catch (const StartError& e) {
      return e.what();
    }
    return "started";
  }
  void one(Port& port, std::uint32_t length, std::uint32_t elided = 0) {
    Batch batch;
    Packet* p = pool_->make(std::vector<std::uint8_t>(length, 2));
    p->meta().elided = elided;
    batch.push(p);
    port.transmit(now_, batch);
    batch.free_all();
  }

  std::unique_ptr<PacketPool> pool_;
  netdev::LinkMonitor monitor_;
  Time now_ = Time::us(7);
};

TEST_F(EthdevTest, NullReceivesAndSends) {
  auto port = make_port({.driver = Driver::null});
  EXPECT_TRUE(port->up());
  Batch batch;
  EXPECT_EQ(port->receive(now_, batch), Batch::kCapacity);
  EXPECT_EQ(batch[0]->meta().time, now_);
  EXPECT_EQ(batch[0]->meta().ingress, kNoPort) << "metadata is reset";
  EXPECT_EQ(port->transmit(now_, batch), Batch::kCapacity);
  EXPECT_TRUE(batch.empty());
  one(*port, 100, 5);
  EXPECT_EQ(port->drops(EthdevPort::elided), 1U);
  one(*port, 1500 + 14 + 8);
  EXPECT_EQ(port->drops(EthdevPort::too_long_out), 0U);
  one(*port, 1500 + 14 + 9);
  EXPECT_EQ(port->drops(EthdevPort::too_long_out), 1U);
}

TEST_F(EthdevTest, TheThirtyThirdPortIsASentence) {
  std::vector<std::unique_ptr<EthdevPort>> ports;
  for (int i = 0; i < 32; ++i) ports.push_back(make_port({.driver = Driver::null}));
  const std::string why = refusal({.driver = Driver::null});
  EXPECT_NE(why.find("room for 32 ports"), std::string::npos) << why;
  ports.pop_back();
  EXPECT_EQ(refusal({.driver = Driver::null}), "started") << "one has been given back";
}

TEST_F(EthdevTest, SentencesWhenItCannotStart) {
  EXPECT_NE(refusal({.driver = Driver::af_xdp, .target = "lo", .mtu = 3073}).find("at most 3072"),
            std::string::npos);
  EXPECT_NE(refusal({.driver = Driver::memif}).find("say which"), std::string::npos);
  EXPECT_NE(refusal({.driver = Driver::pci, .target = "0000:00:04.0"}).find("without PCI"),
            std::string::npos);
  EXPECT_NE(refusal({.driver = Driver::virtio_user, .target = "/no/such/socket"})
                .find("there is no socket"),
            std::string::npos);
  const std::string missing = refusal({.driver = Driver::af_packet, .target = "no-such-if"});
  EXPECT_NE(missing.find("there is no interface 'no-such-if'"), std::string::npos) << missing;
  EXPECT_NE(refusal({.driver = Driver::af_packet, .target = "lo", .netns = "no-such-ns"})
                .find("no network namespace"),
            std::string::npos);
  const std::string pcap = refusal({.driver = Driver::pcap, .args = "rx_pcap=/no/such/file.pcap"});
  EXPECT_NE(pcap.find("cannot open"), std::string::npos) << pcap;
}

TEST_F(EthdevTest, MemifPairCarriesChainsAndTellsWhenItsPeerGoes) {
  const std::string socket = testing::TempDir() + "/memif" + std::to_string(getpid());
  auto server = make_port({.driver = Driver::memif, .target = socket, .mtu = 9000, .server = true});
  EXPECT_FALSE(server->up());
  auto client = make_port({.driver = Driver::memif, .target = socket, .mtu = 9000});
  ASSERT_TRUE(eventually([&] { return server->up() && client->up(); }));
  std::vector<std::uint8_t> bytes(9000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i * 7);
  Batch batch;
  batch.push(pool_->make(bytes));
  EXPECT_EQ(client->transmit(now_, batch), 1U);
  ASSERT_TRUE(eventually([&] { return server->receive(now_, batch) == 1; }));
  std::vector<std::uint8_t> got;
  for (const rte_mbuf* m = batch[0]->mbuf(); m != nullptr; m = m->next) {
    const auto* d = rte_pktmbuf_mtod(m, const std::uint8_t*);
    got.insert(got.end(), d, d + m->data_len);
  }
  EXPECT_EQ(got, bytes);
  batch.free_all();
  client.reset();
  EXPECT_TRUE(eventually([&] { return !server->up(); }));
  one(*server, 100);
  EXPECT_EQ(server->drops(EthdevPort::gone), 1U);
  server.reset();
  std::filesystem::remove(socket);
}

class EthdevRootTest : public EthdevTest {
 protected:
  void SetUp() override {
    EthdevTest::SetUp();
    NamespaceFixture::SetUp();
  }
};

TEST_F(EthdevRootTest, AnInterfaceThatComesLaterGoesAndComesBack) {
  for (Driver driver : {Driver::af_packet, Driver::af_xdp}) {
    netdev::Namespace a = make("a"), b = make("b");
    netdev::Rtnetlink net = connect(a), peer = connect(b);
    auto port = make_port({.driver = driver, .target = "late", .netns = full("a"), .wait = true});
    EXPECT_FALSE(port->up());
    EXPECT_NE(port->why_closed().find("'late'"), std::string::npos);
    one(*port, 100);
    EXPECT_EQ(port->drops(EthdevPort::gone), 1U);
    for (int round = 0; round < 2; ++round) {
      ASSERT_TRUE(net.create_veth("late", b, "peer").ok());
      ASSERT_TRUE(net.configure("late", {.mtu = 1500, .up = true}).ok());
      ASSERT_TRUE(peer.configure("peer", {.mtu = 1500, .up = true}).ok());
      ASSERT_TRUE(eventually([&] { return port->up(); }))
          << to_string(driver) << ": " << port->why_closed();
      for (int i = 0; i < 100; ++i) one(*port, 100);
      ASSERT_TRUE(peer.remove("peer").ok());
      for (int i = 0; i < 100; ++i) {  // while it goes
        one(*port, 100);
        Batch batch;
        port->receive(now_, batch);
        batch.free_all();
      }
      ASSERT_TRUE(eventually([&] { return !port->up() && !port->is_open(); }));
    }
    port.reset();
    EXPECT_TRUE(names_.remove(full("a")).ok());
    EXPECT_TRUE(names_.remove(full("b")).ok());
  }
}

TEST_F(EthdevRootTest, AfXdpNamesAnMtuThatItCannotCarry) {
  netdev::Namespace a = make("a"), b = make("b");
  netdev::Rtnetlink net = connect(a);
  ASSERT_TRUE(net.create_veth("x", b, "y").ok());
  ASSERT_TRUE(net.configure("x", {.mtu = 9000, .up = true}).ok());
  const std::string why = refusal({.driver = Driver::af_xdp, .target = "x", .netns = full("a")});
  EXPECT_NE(why.find("has MTU 9000, af_xdp carries at most 3072"), std::string::npos) << why;
}

}  // namespace
}  // namespace frond::dpdk

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  frond::dpdk::Eal eal({.memory = frond::dpdk::Eal::Config::Memory::ordinary, .memory_mib = 1024});
  frond::dpdk::g_eal = &eal;
  return RUN_ALL_TESTS();
}
