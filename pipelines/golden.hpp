// SPDX-License-Identifier: BSD-3-Clause
// Golden packets: what a leaf does with them. Correctness tests and micro-benchmarks share this.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "features/l3/router.hpp"
#include "features/punt.hpp"
#include "wire/build.hpp"
#include "wire/ipv6.hpp"

namespace frond::golden {

inline IpAddress ip(const char* text) { return *IpAddress::parse(text); }
inline IpPrefix prefix(const char* text) { return *IpPrefix::parse(text); }
inline MacAddress our_mac(std::uint16_t port) {
  return {{2, 0, 0, 0, 1, static_cast<std::uint8_t>(port)}};
}
inline MacAddress peer_mac(std::uint16_t port) {
  return {{2, 0, 0, 0, 2, static_cast<std::uint8_t>(port)}};
}

// Ports 0 and 1: hosts, MTU 1500; the one at port 1 has not answered yet. Ports 2 and 3: spines,
// MTU 9000. Port 4: a link with a /24.
inline constexpr std::uint16_t kPorts = 5;
inline void set_up(l3::Router& r) {
  r.set_interface(0, {our_mac(0), 1500, {prefix("10.0.1.0/31"), prefix("fd00:0:0:1::/127")}});
  r.set_interface(1, {our_mac(1), 1500, {prefix("10.0.1.2/31"), prefix("fd00:0:0:1::2/127")}});
  r.set_interface(2, {our_mac(2), 9000, {prefix("10.254.0.0/31"), prefix("fd00:ffff::/127")}});
  r.set_interface(3, {our_mac(3), 9000, {prefix("10.254.0.2/31"), prefix("fd00:ffff::2/127")}});
  r.set_interface(4, {our_mac(4), 1500, {prefix("10.9.0.1/24")}});
  r.set_loopback({ip("10.253.0.1"), ip("fd00:ffff:0:1::1")});
  for (std::uint16_t p = 0; p < kPorts; ++p) r.set_port_up(p, true);
  const auto must = [](const Status& status) {
    if (!status.ok()) throw StartError(status.error().message);
  };
  must(r.set_static_neighbor(0, ip("10.0.1.1"), peer_mac(0)));
  must(r.set_static_neighbor(0, ip("fd00:0:0:1::1"), peer_mac(0)));
  for (std::uint16_t p : {std::uint16_t{2}, std::uint16_t{3}}) {
    must(r.set_static_neighbor(p, ip(p == 2 ? "10.254.0.1" : "10.254.0.3"), peer_mac(p)));
    must(r.set_static_neighbor(p, ip(p == 2 ? "fd00:ffff::1" : "fd00:ffff::3"), peer_mac(p)));
  }
  must(r.set_group({0}, {{2, ip("10.254.0.1")}, {3, ip("10.254.0.3")}}));
  must(r.set_group({1}, {{2, ip("fd00:ffff::1")}, {3, ip("fd00:ffff::3")}}));
  must(r.set_group({2}, {{2, ip("10.254.0.1")}}));
  must(r.set_group({3}, {{2, ip("fd00:ffff::1")}}));
  must(r.set_group({4}, {{3, ip("10.254.0.3"), 1, false}}));
  must(r.add_route(prefix("10.0.2.0/24"), l3::RouteTarget::to({0})));
  must(r.add_route(prefix("fd00:0:0:2::/64"), l3::RouteTarget::to({1})));
  must(r.add_route(prefix("10.0.4.0/24"), l3::RouteTarget::to({2})));
  must(r.add_route(prefix("fd00:0:0:4::/64"), l3::RouteTarget::to({3})));
  must(r.add_route(prefix("10.0.5.0/24"), l3::RouteTarget::to({4})));
  must(r.add_route(prefix("10.0.3.0/24"), l3::RouteTarget::blackhole()));
}

using Frame = std::vector<std::uint8_t>;

// Exactly one of egress, punt and drop says what becomes of it.
struct Case {
  std::string_view description;
  std::uint16_t ingress = 0;
  Frame in;
  std::uint16_t egress = kNoPort;
  PuntCode punt = kNoPunt;
  std::string_view drop = {};
  Frame out = {};  // when it goes through
};

// From the host at port 0 to a host of another leaf that is reached by port 2 only.
inline wire::FrameSpec base(bool v6 = false) {
  wire::FrameSpec f;
  f.dst_mac = our_mac(0);
  f.src_mac = peer_mac(0);
  f.src = ip(v6 ? "fd00:0:0:1::1" : "10.0.1.1");
  f.dst = ip(v6 ? "fd00:0:0:4::1" : "10.0.4.1");
  f.zeros = 18;
  f.pad_to = 60;
  return f;
}

// Built anew rather than edited: the checksum is computed, not updated.
inline Case forwarded(std::string_view description, wire::FrameSpec f, std::uint16_t egress = 2,
                      std::uint16_t ingress = 0) {
  Case c{.description = description, .ingress = ingress, .in = wire::build(f), .egress = egress};
  f.dst_mac = peer_mac(egress);
  f.src_mac = our_mac(egress);
  f.ttl = static_cast<std::uint8_t>(f.ttl - 1);
  c.out = wire::build(f);
  return c;
}
inline Case punted(std::string_view description, const wire::FrameSpec& f, PuntCode code) {
  return {.description = description, .in = wire::build(f), .punt = code};
}
inline Case dropped(std::string_view description, Frame in, std::string_view name) {
  return {.description = description, .in = std::move(in), .drop = name};
}
inline Case dropped(std::string_view description, const wire::FrameSpec& f, std::string_view name) {
  return dropped(description, wire::build(f), name);
}

template <class Edit> wire::FrameSpec with(Edit&& edit, bool v6 = false) {
  wire::FrameSpec f = base(v6);
  edit(f);
  return f;
}

std::vector<Case> cases();

}  // namespace frond::golden
