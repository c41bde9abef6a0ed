// SPDX-License-Identifier: BSD-3-Clause
// For the tests of slow paths: a forged frame goes in, and what was queued comes out as bytes.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "engine/context.hpp"
#include "features/l3/router.hpp"
#include "packet/pool.hpp"
#include "wire/build.hpp"
#include "wire/ethernet.hpp"
#include "wire/ipv4.hpp"
#include "wire/ipv6.hpp"

namespace frond {

using Bytes8 = std::vector<std::uint8_t>;

template <class Header> Header& header_at(Bytes8& frame, std::size_t offset) {
  EXPECT_GE(frame.size(), offset + sizeof(Header));
  return *reinterpret_cast<Header*>(frame.data() + offset);
}

inline IpAddress ip(const char* text) { return *IpAddress::parse(text); }
inline MacAddress mac(const char* text) { return *MacAddress::parse(text); }

struct Sent {
  std::uint16_t port;
  Bytes8 bytes;
  template <class Header> const Header& at(std::size_t offset) const {
    EXPECT_GE(bytes.size(), offset + sizeof(Header));
    return *reinterpret_cast<const Header*>(bytes.data() + offset);
  }
};

// A router of four ports, addresses on the first three:
//   0: 10.0.0.1/24, fd00:0:0:1::1/64    1: 10.0.1.0/31, fd00:0:0:2::/127    2: 10.0.2.1/24
class SlowPathTest : public testing::Test {
 protected:
  static constexpr std::uint16_t kPorts = 4;

  SlowPathTest()
      : pool("slow_path", {.packets = 8191, .cache = 0}), router({.ports = kPorts, .seed = 1}) {
    const auto prefix = [](const char* text) { return *IpPrefix::parse(text); };
    router.set_interface(0,
                         {own_mac(0), 1500, {prefix("10.0.0.1/24"), prefix("fd00:0:0:1::1/64")}});
    router.set_interface(1,
                         {own_mac(1), 1500, {prefix("10.0.1.0/31"), prefix("fd00:0:0:2::/127")}});
    router.set_interface(2, {own_mac(2), 1500, {prefix("10.0.2.1/24")}});
    router.set_interface(3, {own_mac(3), 1500, {}});
    for (std::uint16_t port = 0; port < kPorts; ++port) router.set_port_up(port, true);
  }
  ~SlowPathTest() override {
    for (Packet* packet : out) packet->free();
    EXPECT_EQ(pool.in_use() - held, 0U) << "packets leaked";
  }

  static MacAddress own_mac(std::uint16_t port) {
    return {{2, 0, 0, 0, 0xff, static_cast<std::uint8_t>(port)}};
  }

  Context context() {
    Context ctx{now, rng, pool};
    ctx.out = &out;
    return ctx;
  }

  // As the parser would hand it over.
  Packet* packet(std::uint16_t port, const Bytes8& frame) {
    Packet* p = pool.make(frame);
    PacketMeta& meta = p->meta();
    meta.ingress = port;
    meta.time = now;
    if (frame.size() < 14) return p;
    if ((frame[0] & 1) != 0) meta.flags |= PacketMeta::kGroupAddress;
    meta.l3 = 14;
    meta.ether_type = p->at<wire::Ethernet>(0).type.host();
    if (meta.ether_type == wire::kTypeIpv4 && frame.size() >= 34) {
      const auto& h = p->at<wire::Ipv4>(14);
      meta.ip_proto = h.proto;
      if (h.is_fragment()) meta.flags |= PacketMeta::kFragment;
      if (h.fragment_offset() == 0 && frame.size() > 14 + h.header_bytes()) {
        meta.l4 = static_cast<std::uint16_t>(14 + h.header_bytes());
      }
    } else if (meta.ether_type == wire::kTypeIpv6 && frame.size() >= 54) {
      const auto& h = p->at<wire::Ipv6>(14);
      const auto walk = wire::walk_extensions(h.next_header, p->data() + 54,
                                              static_cast<std::uint32_t>(frame.size() - 54));
      meta.ip_proto = walk.proto;
      if (walk.fragment) meta.flags |= PacketMeta::kFragment;
      if (walk.end == wire::Ipv6Walk::End::transport) {
        meta.l4 = static_cast<std::uint16_t>(54 + walk.offset);
      }
    } else if (meta.ether_type != wire::kTypeArp) {
      meta.l3 = 0;
    }
    return p;
  }

  // What was sent since the last call, in order.
  std::vector<Sent> sent() {
    std::vector<Sent> all;
    for (Packet* p : std::exchange(out, {})) {
      EXPECT_NE(p->meta().flags & PacketMeta::kControl, 0);
      Sent s{p->meta().egress, Bytes8(p->length())};
      const void* bytes = rte_pktmbuf_read(p->mbuf(), 0, p->length(), s.bytes.data());
      if (bytes != s.bytes.data()) std::memcpy(s.bytes.data(), bytes, s.bytes.size());
      all.push_back(std::move(s));
      p->free();
    }
    return all;
  }

  PacketPool pool;
  Rng rng;
  l3::Router router;
  std::vector<Packet*> out;
  Time now = Time::s(1);
  unsigned held = 0;  // packets that the test itself still has
};

}  // namespace frond
