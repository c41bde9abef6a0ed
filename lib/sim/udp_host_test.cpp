// SPDX-License-Identifier: BSD-3-Clause
#include "sim/udp_host.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "sim/probe.hpp"
#include "sim/world.hpp"
#include "wire/arp.hpp"
#include "wire/build.hpp"
#include "wire/icmp.hpp"
#include "wire/ipv6.hpp"
#include "wire/nd.hpp"
#include "wire/transport.hpp"

namespace frond::sim {
namespace {

const MacAddress kMac{{2, 0, 0, 0, 0, 1}}, kGateway{{2, 0, 0, 0, 0, 0xfe}};
const Ip4 kIp4 = *Ip4::parse("10.0.1.1"), kPeer4 = *Ip4::parse("10.0.2.1");
const Ip6 kIp6 = *Ip6::parse("fd00:0:0:1::1"), kPeer6 = *Ip6::parse("fd00:0:0:2::1");

// The other end of the host's cable: keeps what it is sent and delivers what it is given.
class Bench final : public Port {
 public:
  ~Bench() override {
    for (Packet* p : sent) p->free();
    for (Packet* p : arriving) p->free();
  }
  unsigned receive(Time, Batch& batch) override {
    unsigned n = 0;
    for (; !arriving.empty() && !batch.full(); ++n) {
      batch.push(arriving.front());
      arriving.pop_front();
    }
    return n;
  }
  unsigned transmit(Time, Batch& batch) override {
    const unsigned n = batch.size();
    sent.insert(sent.end(), batch.begin(), batch.end());
    batch.clear();
    return n;
  }
  bool up() const override { return true; }

  std::vector<Packet*> sent;
  std::deque<Packet*> arriving;
};

class UdpHostTest : public testing::Test {
 protected:
  explicit UdpHostTest(Rate rate = Rate::gbps(100))
      : host_("h1", 3, 1, {kMac, kGateway, {kIp4, kIp6}, rate}) {
    host_.attach(&port_);
  }
  void start() { world_.add(host_); }

  // The frame arrives now; returns what the host answered, or nullptr.
  const Packet* answer(std::vector<std::uint8_t> frame) {
    if (!started_) start();
    started_ = true;
    const std::size_t before = port_.sent.size();
    Packet* packet = world_.pool().make(frame);
    packet->meta().time = world_.now();
    port_.arriving.push_back(packet);
    world_.wake(world_.now(), host_, 0);
    world_.run_until(world_.now() + Time::us(1));
    return port_.sent.size() > before ? port_.sent.back() : nullptr;
  }
  std::uint64_t dropped(UdpHost::Drop reason) const { return host_.drops(reason); }

  World world_{{.name = "udp_host", .pool = {.packets = 4095, .data_room = 2048, .cache = 0}}};
  Bench port_;
  UdpHost host_;
  bool started_ = false;
};

wire::FrameSpec to_host(bool v6) {
  wire::FrameSpec spec;
  spec.dst_mac = kMac;
  spec.src_mac = kGateway;
  spec.src = v6 ? IpAddress(kPeer6) : IpAddress(kPeer4);
  spec.dst = v6 ? IpAddress(kIp6) : IpAddress(kIp4);
  return spec;
}

std::vector<std::uint8_t> bytes_of(const auto& value) {
  const auto* at = reinterpret_cast<const std::uint8_t*>(&value);
  return {at, at + sizeof(value)};
}

template <class T> T* view(std::vector<std::uint8_t>& bytes, std::size_t offset) {
  return reinterpret_cast<T*>(bytes.data() + offset);
}

TEST_F(UdpHostTest, PacesToTheNanosecond) {
  host_.add({.id = 1, .dst = kPeer4, .rate = Rate::gbps(10), .start = Time::us(3), .count = 1000});
  start();
  EXPECT_TRUE(world_.run_until_idle(Time::s(1)));
  ASSERT_EQ(port_.sent.size(), 1000U);
  for (std::int64_t k = 0; k < 1000; ++k) {
    // 1518 + 20 bytes: every 1230.4 ns at 10G; 123.04 ns of the line at 100G.
    const std::int64_t start = 3000 + k * 12'304 / 10;
    EXPECT_EQ(port_.sent[k]->meta().time.ns(), start + 123);
    EXPECT_EQ(port_.sent[k]->meta().id, std::uint64_t{3} << 40 | (k + 1));
  }
}

TEST_F(UdpHostTest, WritesADatagramThatIsWhole) {
  for (const bool v6 : {false, true}) {
    const IpAddress dst = v6 ? IpAddress(kPeer6) : IpAddress(kPeer4);
    for (const bool elide : {true, false}) {
      const std::uint32_t id = (v6 ? 2U : 0U) + (elide ? 1U : 0U);
      host_.add({.id = id,
                 .dst = dst,
                 .src_port = 7,
                 .dst_port = 8,
                 .frame = 9022,
                 .start = Time::us(id),
                 .count = 1,
                 .dscp = 46,
                 .elide = elide});
    }
  }
  start();
  EXPECT_TRUE(world_.run_until_idle(Time::s(1)));
  ASSERT_EQ(port_.sent.size(), 4U);
  for (std::uint32_t id = 0; id < 4; ++id) {
    Packet* p = port_.sent[id];
    const bool v6 = id >= 2;
    EXPECT_EQ(p->frame_length(), 9018U);
    EXPECT_EQ(p->length(), id % 2 != 0 ? (v6 ? 80U : 60U) : 9018U);
    // What a builder makes of the same datagram, to the byte.
    wire::FrameSpec spec;
    spec.dst_mac = kGateway;
    spec.src_mac = kMac;
    spec.src = v6 ? IpAddress(kIp6) : IpAddress(kIp4);
    spec.dst = v6 ? IpAddress(kPeer6) : IpAddress(kPeer4);
    spec.src_port = 7;
    spec.dst_port = 8;
    spec.tos = 46 << 2;
    spec.dont_fragment = true;
    spec.payload = bytes_of(Probe{wire::be64(std::uint64_t{id} * 1000), wire::be32(0),
                                  wire::be32(id), wire::be16(Probe::kMagic)});
    spec.zeros = 9018 - (v6 ? 80 : 60);
    spec.elide_zeros = id % 2 != 0;
    const auto expected = wire::build(spec);
    std::vector<std::uint8_t> seen;
    for (const rte_mbuf* m = p->mbuf(); m != nullptr; m = m->next) {
      const auto* at = rte_pktmbuf_mtod(m, const std::uint8_t*);
      seen.insert(seen.end(), at, at + m->data_len);
    }
    EXPECT_EQ(seen, expected) << id;
  }
}

TEST_F(UdpHostTest, FlowsThatAskForTooMuchShareTheLine) {
  for (std::uint32_t id = 0; id < 3; ++id) {
    host_.add({.id = id, .dst = kPeer4, .rate = Rate::gbps(id == 0 ? 100 : 50), .frame = 1230});
  }
  start();
  world_.run_until(Time::us(100));
  // 100 ns a frame: the line is never idle.
  ASSERT_EQ(port_.sent.size(), 1001U);
  for (std::size_t i = 0; i < port_.sent.size(); ++i) {
    EXPECT_EQ(port_.sent[i]->meta().time, Time::ns(100) * static_cast<std::int64_t>(i + 1));
  }
  EXPECT_NEAR(static_cast<double>(host_.sources()[0].sent()), 500, 2);
  EXPECT_NEAR(static_cast<double>(host_.sources()[1].sent()), 250, 2);
  EXPECT_NEAR(static_cast<double>(host_.sources()[2].sent()), 250, 2);
}

TEST_F(UdpHostTest, FlowsStopWhenTheyShould) {
  const UdpFlow flow{.dst = kPeer4, .rate = Rate::gbps(8), .frame = 980};  // one a microsecond
  UdpFlow counted = flow, stopped = flow, late = flow;
  counted.count = 5;
  stopped.id = 1;
  stopped.stop = Time::us(10);
  late.id = 2;
  host_.add(counted);
  host_.add(stopped);
  start();
  world_.post(Time::us(20), host_, [&] { host_.add(late); });
  world_.post(Time::us(23), host_, [&] { host_.stop(2); });
  EXPECT_TRUE(world_.run_until_idle(Time::s(1)));
  EXPECT_EQ(host_.sources()[0].sent(), 5U);
  EXPECT_EQ(host_.sources()[1].sent(), 10U);
  EXPECT_EQ(host_.sources()[2].sent(), 3U) << "begins when it is added, not in the past";
}

TEST_F(UdpHostTest, ImpossibleFlowsAreSentences) {
  EXPECT_THROW(host_.add({.dst = kPeer4, .frame = 63}), StartError);
  EXPECT_THROW(host_.add({.dst = kPeer6, .frame = 83}), StartError);
  EXPECT_THROW(host_.add({.dst = kPeer4, .frame = 70'000}), StartError);
  EXPECT_THROW(host_.add({.dst = kPeer4, .rate = Rate()}), StartError);
  UdpHost v4_only("v4", 4, 1, {kMac, kGateway, {kIp4}});
  EXPECT_THROW(v4_only.add({.dst = kPeer6}), StartError);
  host_.add({.dst = kPeer4, .frame = 64});
  host_.add({.dst = kPeer6, .frame = 84});
}

TEST_F(UdpHostTest, AnswersArpForItsAddressOnly) {
  const auto request = [](Ip4 target) {
    std::vector<std::uint8_t> frame =
        bytes_of(wire::Ethernet{wire::kBroadcastMac, kGateway, wire::be16(wire::kTypeArp)});
    const auto arp = bytes_of(wire::Arp{wire::be16(1),
                                        wire::be16(wire::kTypeIpv4),
                                        6,
                                        4,
                                        wire::be16(wire::Arp::kRequest),
                                        kGateway,
                                        wire::be32(0x0a000100),
                                        {},
                                        wire::be32(target.value)});
    frame.insert(frame.end(), arp.begin(), arp.end());
    return frame;
  };
  const Packet* p = answer(request(kIp4));
  ASSERT_NE(p, nullptr);
  EXPECT_EQ(p->at<wire::Ethernet>(0).dst, kGateway);
  EXPECT_EQ(p->at<wire::Ethernet>(0).src, kMac);
  const auto& arp = p->at<wire::Arp>(14);
  EXPECT_EQ(arp.operation.host(), wire::Arp::kReply);
  EXPECT_EQ(arp.sender_mac, kMac);
  EXPECT_EQ(arp.sender_ip.host(), kIp4.value);
  EXPECT_EQ(arp.target_mac, kGateway);
  EXPECT_EQ(arp.target_ip.host(), 0x0a000100U);
  EXPECT_EQ(p->length(), 42U);
  EXPECT_EQ(answer(request(kPeer4)), nullptr);
  EXPECT_EQ(dropped(UdpHost::host_unhandled), 0U) << "a question to all, not for us, is no loss";
}

std::vector<std::uint8_t> solicitation(const Ip6& src, const Ip6& target, bool option) {
  wire::NeighborMessage message{wire::icmp6::kNeighborSolicitation, 0, {}, {}, target};
  wire::FrameSpec spec;
  spec.src_mac = kGateway;
  const Ip6 group = target.solicited_node();
  spec.dst_mac = {{0x33, 0x33, group.bytes[12], group.bytes[13], group.bytes[14], group.bytes[15]}};
  spec.src = src;
  spec.dst = group;
  spec.proto = wire::kProtoIcmp6;
  spec.ttl = 255;
  spec.payload = bytes_of(message);
  if (option) {
    const auto o = bytes_of(wire::LinkLayerOption{wire::LinkLayerOption::kSource, 1, kGateway});
    spec.payload.insert(spec.payload.end(), o.begin(), o.end());
  }
  auto frame = wire::build(spec);
  const auto length = static_cast<std::uint32_t>(spec.payload.size());
  auto* m = view<wire::NeighborMessage>(frame, 54);
  m->checksum = wire::complement(wire::sum_bytes(
      m, length, wire::pseudo_sum(*view<wire::Ipv6>(frame, 14), wire::kProtoIcmp6, length)));
  return frame;
}

TEST_F(UdpHostTest, AnswersSolicitations) {
  const Ip6 link_local = Ip6::link_local(kMac);
  for (const Ip6& target : {kIp6, link_local}) {
    for (const bool probe : {false, true}) {  // RFC 4862 5.4: from ::, without the option
      const Packet* p = answer(solicitation(probe ? Ip6{} : kPeer6, target, !probe));
      ASSERT_NE(p, nullptr);
      ASSERT_EQ(p->length(), 14U + 40 + 24 + 8);
      const auto& ip = p->at<wire::Ipv6>(14);
      const auto& m = p->at<wire::NeighborMessage>(54);
      EXPECT_EQ(ip.src, target);
      EXPECT_EQ(ip.dst, probe ? *Ip6::parse("ff02::1") : kPeer6);
      EXPECT_EQ(ip.hop_limit, 255);
      EXPECT_EQ(m.type, wire::icmp6::kNeighborAdvertisement);
      EXPECT_EQ(m.flags.host(), probe ? 0x20000000U : 0x60000000U);
      EXPECT_EQ(m.target, target);
      EXPECT_EQ(p->at<wire::LinkLayerOption>(78).type, wire::LinkLayerOption::kTarget);
      EXPECT_EQ(p->at<wire::LinkLayerOption>(78).address, kMac);
      EXPECT_EQ(wire::fold(wire::sum_bytes(&m, 32, wire::pseudo_sum(ip, wire::kProtoIcmp6, 32))),
                0xffff);
    }
  }
  auto routed = solicitation(kPeer6, kIp6, true);
  view<wire::Ipv6>(routed, 14)->hop_limit = 254;
  EXPECT_EQ(answer(routed), nullptr) << "RFC 4861 7.1.1: it has been forwarded";
  EXPECT_EQ(answer(solicitation(kPeer6, kPeer6, true)), nullptr);
}

TEST_F(UdpHostTest, AnswersPings) {
  for (const bool v6 : {false, true}) {
    for (const std::uint32_t size : {0U, 56U, 4001U}) {  // the last spans segments, oddly
      auto spec = to_host(v6);
      spec.proto = v6 ? wire::kProtoIcmp6 : wire::kProtoIcmp;
      wire::Icmp icmp{v6 ? std::uint8_t{128} : std::uint8_t{8}, 0, {}, wire::be32(0x12340001)};
      spec.payload = bytes_of(icmp);
      for (std::uint32_t i = 0; i < size; ++i) {
        spec.payload.push_back(static_cast<std::uint8_t>(i * 7 + 1));
      }
      auto frame = wire::build(spec);
      const auto length = static_cast<std::uint32_t>(spec.payload.size());
      auto* m = view<wire::Icmp>(frame, v6 ? 54 : 34);
      m->checksum = wire::complement(wire::sum_bytes(
          m, length,
          v6 ? wire::pseudo_sum(*view<wire::Ipv6>(frame, 14), wire::kProtoIcmp6, length) : 0));
      const Packet* p = answer(frame);
      ASSERT_NE(p, nullptr) << v6 << " " << size;
      std::vector<std::uint8_t> reply;
      for (const rte_mbuf* s = p->mbuf(); s != nullptr; s = s->next) {
        const auto* at = rte_pktmbuf_mtod(s, const std::uint8_t*);
        reply.insert(reply.end(), at, at + s->data_len);
      }
      const auto* r = view<wire::Icmp>(reply, v6 ? 54 : 34);
      EXPECT_EQ(r->type, v6 ? 129 : 0);
      EXPECT_EQ(r->rest.host(), 0x12340001U);
      wire::Sum sum = wire::sum_bytes(r, length);
      if (v6) {
        sum += wire::pseudo_sum(*view<wire::Ipv6>(reply, 14), wire::kProtoIcmp6, length);
        EXPECT_EQ(view<wire::Ipv6>(reply, 14)->dst, kPeer6);
      } else {
        EXPECT_TRUE(wire::header_valid(*view<wire::Ipv4>(reply, 14)));
        EXPECT_EQ(view<wire::Ipv4>(reply, 14)->dst.host(), kPeer4.value);
      }
      EXPECT_EQ(wire::fold(sum), 0xffff);
      frame[frame.size() - 1] ^= 1;
      EXPECT_EQ(answer(frame), nullptr);
    }
  }
  EXPECT_EQ(dropped(UdpHost::host_bad_checksum), 6U);
}

TEST_F(UdpHostTest, MeasuresWhatArrives) {
  auto spec = to_host(false);
  const auto probe = [&](std::uint32_t flow, std::uint32_t sequence, Time sent) {
    spec.payload =
        bytes_of(Probe{wire::be64(static_cast<std::uint64_t>(sent.ns())), wire::be32(sequence),
                       wire::be32(flow), wire::be16(Probe::kMagic)});
    return wire::build(spec);
  };
  answer(probe(9, 0, world_.now() - Time::ns(700)));
  answer(probe(4, 0, world_.now() - Time::ns(300)));
  answer(probe(9, 2, world_.now() - Time::ns(800)));
  ASSERT_EQ(host_.meters().size(), 2U);
  EXPECT_EQ(host_.meters()[0].flow(), 9U);
  EXPECT_EQ(host_.meters()[0].packets(), 2U);
  EXPECT_EQ(host_.meters()[0].octets(), 128U);
  EXPECT_EQ(host_.meters()[0].missing(), 1U);
  EXPECT_EQ(host_.meters()[0].latency().min(), 700U);
  EXPECT_EQ(host_.meters()[0].latency().max(), 800U);
  EXPECT_EQ(host_.meters()[1].latency().max(), 300U);
}

TEST_F(UdpHostTest, EachRefusalHasItsName) {
  struct Case {
    const char* what;
    UdpHost::Drop drop;
    std::vector<std::uint8_t> frame;
  };
  const auto good = [](bool v6) {
    auto spec = to_host(v6);
    spec.payload = bytes_of(Probe{{}, {}, {}, wire::be16(Probe::kMagic)});
    return wire::build(spec);
  };
  const auto changed = [&](bool v6, std::size_t offset, std::uint8_t value) {
    auto frame = good(v6);
    frame[offset] ^= value;
    return frame;
  };
  auto other_ip = to_host(false);
  other_ip.dst = kPeer4;
  auto other_ip6 = to_host(true);
  other_ip6.dst = kPeer6;
  auto fragment = to_host(false);
  fragment.more_fragments = true;
  auto tcp = to_host(false);
  tcp.proto = wire::kProtoTcp;
  auto plain = to_host(false);
  plain.payload.resize(40);
  auto truncated = good(false);
  truncated.resize(59);
  auto error = to_host(false);
  error.proto = wire::kProtoIcmp;
  error.payload = {3, 1, 0xfc, 0xfe, 0, 0, 0, 0};
  const std::vector<Case> cases = {
      {"MAC", UdpHost::host_other_mac, changed(false, 5, 0x80)},
      {"two bytes", UdpHost::host_malformed, {1, 2}},
      {"EtherType", UdpHost::host_unhandled, changed(false, 12, 0x40)},
      {"version", UdpHost::host_malformed, changed(false, 14, 0x10)},
      {"truncated", UdpHost::host_malformed, truncated},
      {"IP header bit", UdpHost::host_bad_checksum, changed(false, 22, 1)},
      {"IPv4 destination", UdpHost::host_other_ip, wire::build(other_ip)},
      {"IPv6 destination", UdpHost::host_other_ip, wire::build(other_ip6)},
      {"UDP port bit", UdpHost::host_bad_checksum, changed(false, 35, 1)},
      {"payload bit", UdpHost::host_bad_checksum, changed(false, 50, 4)},
      {"UDP length", UdpHost::host_malformed, changed(false, 39, 1)},
      {"IPv6 source bit", UdpHost::host_bad_checksum, changed(true, 30, 1)},
      {"IPv6 payload bit", UdpHost::host_bad_checksum, changed(true, 70, 4)},
      {"fragment", UdpHost::host_unhandled, wire::build(fragment)},
      {"TCP", UdpHost::host_unhandled, wire::build(tcp)},
      {"no probe", UdpHost::host_unhandled, wire::build(plain)},
      {"ICMP error", UdpHost::host_icmp_error, wire::build(error)},
  };
  for (const Case& c : cases) {
    const std::uint64_t before = dropped(c.drop);
    EXPECT_EQ(answer(c.frame), nullptr) << c.what;
    EXPECT_EQ(dropped(c.drop), before + 1) << c.what;
  }
  std::uint64_t all = 0;
  for (unsigned i = 0; i < UdpHost::kDrops; ++i) all += host_.drops(i);
  EXPECT_EQ(all, cases.size());
  EXPECT_TRUE(host_.meters().empty());
  EXPECT_EQ(world_.pool().in_use(), 0U);
}

TEST_F(UdpHostTest, AnEmptyPoolIsALossByName) {
  PacketPool::Config tiny{.packets = 3, .data_room = 256, .cache = 0};
  World world({.name = "udp_host_tiny", .pool = tiny});
  Bench port;
  UdpHost host("h", 0, 1, {kMac, kGateway, {kIp4}});
  host.attach(&port);
  host.add({.dst = kPeer4, .count = 10});
  world.add(host);
  EXPECT_TRUE(world.run_until_idle(Time::s(1)));
  EXPECT_EQ(port.sent.size(), 3U);
  EXPECT_EQ(host.drops(UdpHost::host_no_buffer), 7U);
}

}  // namespace
}  // namespace frond::sim
