// SPDX-License-Identifier: BSD-3-Clause
// Icmp: what a router says about packets (RFC 792, RFC 1812 4.3, RFC 4443), echo, and the
// fragmentation of IPv4 packets that do not forbid it (RFC 791 3.2).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/fields.hpp"
#include "engine/context.hpp"
#include "features/icmp/token_bucket.hpp"
#include "features/l3/router.hpp"
#include "features/neighbor/neighbor.hpp"
#include "features/slow_path.hpp"

namespace frond::icmp {

struct Config {
  std::uint32_t rate = 1000;
  std::uint32_t burst = 100;
  std::uint32_t port_rate = 250;
  std::uint32_t port_burst = 50;
  std::uint32_t echo_rate = 10000;
  std::uint32_t echo_burst = 1000;
  std::uint32_t fragment_rate = 10000;
  std::uint32_t fragment_burst = 1000;

  template <class F> static void fields(F& f) {
    f("rate", &Config::rate, "messages/s", "Error messages of the whole switch; 0: none",
      range(0, 1'000'000));
    f("burst", &Config::burst, "messages", "Error messages at once", range(1, 1'000'000));
    f("port_rate", &Config::port_rate, "messages/s",
      "Error messages about packets from one port; 0: none", range(0, 1'000'000));
    f("port_burst", &Config::port_burst, "messages",
      "Error messages at once about packets from one port", range(1, 1'000'000));
    f("echo_rate", &Config::echo_rate, "replies/s", "Echo replies to one port; 0: none",
      range(0, 10'000'000));
    f("echo_burst", &Config::echo_burst, "replies", "Echo replies at once", range(1, 1'000'000));
    f("fragment_rate", &Config::fragment_rate, "packets/s",
      "Packets from one port that are fragmented; 0: none", range(0, 10'000'000));
    f("fragment_burst", &Config::fragment_burst, "packets", "Packets fragmented at once",
      range(1, 1'000'000));
  }
};

// What there is to say; type and code follow from the packet's family.
enum class Error : std::uint8_t {
  net_unreachable,
  host_unreachable,
  protocol_unreachable,
  port_unreachable,
  time_exceeded,
  too_big,  // fragmentation needed and DF set; packet too big
};

class Icmp {
 public:
  static constexpr std::string_view kName = "icmp";
  enum Drop : std::uint8_t {
    icmp_malformed,
    icmp_checksum,
    icmp_fragment,
    icmp_ignored,
    icmp_not_offered,
    icmp_rate_limited,
    icmp_no_route,
    icmp_too_big,
    icmp_no_buffer,
    fragment_rate_limited,
    fragment_malformed,
    kDropCount,
  };
  static const std::array<DropInfo, kDropCount> kDrops;

  // The router and the neighbours must outlive this.
  Icmp(const Config& config, unsigned ports, l3::Router& router, neighbor::Neighbors& neighbors);

  // A packet for one of our addresses that no other slow path takes. Owned from here on.
  void receive(Context& ctx, Packet* packet);
  // Says something about a packet that is about to be dropped, or nothing when the rules forbid
  // it. The packet stays the caller's. mtu: of the egress interface, for too_big.
  void report(Context& ctx, const Packet& packet, Error error, std::uint32_t mtu = 0);
  // A routed IPv4 packet without DF, longer than the mtu of its next hop. Owned from here on.
  void fragment(Context& ctx, Packet* packet, std::uint16_t port, const IpAddress& next_hop);

  enum Counted : std::uint8_t {
    errors_sent,
    errors_suppressed,
    echo_replies,
    fragments_sent,
    kCounterCount
  };
  static const std::array<CounterInfo, kCounterCount> kCounters;

  // Any thread.
  std::uint64_t drop_count(std::uint16_t port, unsigned index) const {
    return drops_.value(port, index);
  }
  std::uint64_t counter(Counted which) const { return counters_[which].value(); }
};

}  // namespace frond::icmp
