// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "features/neighbor/neighbor.hpp"
#include "features/slow_path_fixture.hpp"
#include "wire/arp.hpp"
#include "wire/checksum.hpp"

namespace frond::neighbor {

inline constexpr MacAddress kHostMac{{2, 0xaa, 0, 0, 0, 1}};
inline constexpr MacAddress kOtherMac{{2, 0xbb, 0, 0, 0, 2}};

struct ArpSpec {
  std::uint16_t op;
  MacAddress sha;
  std::string spa;
  MacAddress tha;
  std::string tpa;
};

inline Bytes8 arp_frame(const ArpSpec& spec) {
  Bytes8 frame(60);
  header_at<wire::Ethernet>(frame, 0) = {wire::kBroadcastMac, spec.sha, wire::be16(wire::kTypeArp)};
  header_at<wire::Arp>(frame, 14) = {wire::be16(1),
                                     wire::be16(wire::kTypeIpv4),
                                     6,
                                     4,
                                     wire::be16(spec.op),
                                     spec.sha,
                                     wire::be32(ip(spec.spa.c_str()).v4_address.value),
                                     spec.tha,
                                     wire::be32(ip(spec.tpa.c_str()).v4_address.value)};
  return frame;
}

class NeighborTest : public SlowPathTest {
 protected:
  NeighborTest() { make({}); }
  ~NeighborTest() override { neighbors.reset(); }

  void make(Config config) {
    neighbors =
        std::make_unique<Neighbors>(config, kPorts, 7, router, [this](Context&, const Packet& p) {
          unreachable.push_back(p.at<wire::Ipv4>(14).id.host());
        });
    Context ctx = context();
    for (std::uint16_t port = 0; port < kPorts; ++port) neighbors->port_changed(ctx, port, true);
    run_for(Time::s(3));
    sent();  // the announcements
  }

  Time tick() {
    Context ctx = context();
    return neighbors->timers(ctx);
  }
  // Steps when the neighbours ask for it.
  void run_for(Time span) {
    const Time end = now + span;
    for (;;) {
      const Time next = tick();
      if (next > end) break;
      now = next;
    }
    now = end;
  }
  void receive_arp(std::uint16_t port, const Bytes8& frame) {
    Context ctx = context();
    neighbors->receive_arp(ctx, packet(port, frame));
  }
  void arp(std::uint16_t port, const ArpSpec& spec) { receive_arp(port, arp_frame(spec)); }
  // It asks us, so we know it.
  void learn(std::uint16_t port, const char* address, const MacAddress& from) {
    const std::string own = port == 0 ? "10.0.0.1" : "10.0.2.1";
    arp(port, {.op = 1, .sha = from, .spa = address, .tpa = own});
  }
  // A packet that came in at port 2 and is to be routed.
  void transit(const char* to, std::uint16_t id, l3::NextHop next = {}) {
    const bool v6 = ip(to).v6;
    Packet* p = packet(2, wire::build({.dst_mac = own_mac(2),
                                       .src_mac = kOtherMac,
                                       .src = v6 ? ip("fd00::9") : ip("10.0.2.9"),
                                       .dst = ip(to),
                                       .id = id}));
    if (next == l3::NextHop()) next = router.lookup(ip(to));
    p->meta().next_hop = next.bits();
    Context ctx = context();
    neighbors->resolve(ctx, p);
  }

  Neighbors::Known known(std::uint16_t port, const char* address) {
    for (const auto& k : neighbors->table()) {
      if (k.port == port && k.address == ip(address)) return k;
    }
    ADD_FAILURE() << address << " is not known at port " << port;
    return {};
  }
  Reach state(std::uint16_t port, const char* address) { return known(port, address).state; }
  MacAddress adjacency_mac(const char* address) {
    const auto next = router.lookup(ip(address));
    EXPECT_EQ(next.kind(), l3::NextHop::Kind::adjacency) << address;
    if (next.kind() != l3::NextHop::Kind::adjacency) return {};
    EXPECT_TRUE(router.adjacency(next.index()).resolved);
    return router.adjacency(next.index()).dst;
  }
  std::uint64_t drops(std::uint16_t port, Neighbors::Drop drop) {
    return neighbors->drop_count(port, drop);
  }
  std::uint64_t total_drops() {
    std::uint64_t sum = 0;
    for (std::uint16_t port = 0; port < kPorts; ++port) {
      for (unsigned i = 0; i < Neighbors::kDropCount; ++i) sum += neighbors->drop_count(port, i);
    }
    return sum;
  }

  std::unique_ptr<Neighbors> neighbors;
  std::vector<unsigned> unreachable;  // the IPv4 ids of packets whose senders were told
};

}  // namespace frond::neighbor
