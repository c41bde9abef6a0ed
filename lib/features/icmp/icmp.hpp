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
#include "features/punt.hpp"
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
    fragment_no_buffer,
    kDropCount,
  };
  static const std::array<DropInfo, kDropCount> kDrops;

  // Events that are no drops. Of the whole switch.
  enum Event : std::uint8_t {
    errors_sent,
    errors_forbidden,
    errors_rate_limited,
    echo_replies,
    fragments_sent,
    kEventCount,
  };
  static const std::array<CounterInfo, kEventCount> kEvents;

  // The router and the neighbours must outlive this.
  Icmp(const Config& config, unsigned ports, const l3::Router& router,
       neighbor::Neighbors& neighbors);

  // kPuntLocal: a packet for one of our addresses that no other slow path takes. Owned from here.
  void receive(Context& ctx, Packet* packet);
  // Tells the sender of a packet that is about to be dropped why (kAnswer...), or nothing when the
  // rules or the rate forbid it. The packet stays the caller's, who counts and frees it.
  void answer(Context& ctx, const Packet& packet, PuntCode code);
  // kPuntFragment: a routed IPv4 packet without DF, longer than the MTU of meta().egress, its way
  // in meta().next_hop. Owned from here.
  void fragment(Context& ctx, Packet* packet);

  // Any thread.
  std::uint64_t drop_count(std::uint16_t port, unsigned index) const {
    return drops_.value(port, index);
  }
  std::uint64_t event_count(Event event) const { return events_[event].value(); }

 private:
  struct Message {
    std::uint8_t type;
    std::uint8_t code;
    std::uint32_t rest;
  };
  struct Buckets {
    TokenBucket errors, echo, fragments;
  };

  void receive_icmp(Context& ctx, Packet* packet, std::uint32_t length);
  void reply(Context& ctx, Packet* packet, std::uint32_t length);
  void send_error(Context& ctx, const Packet& packet, const Message& message);
  bool may_answer(const Packet& packet, bool too_big) const;
  // Routes a packet of our own.
  void route(Context& ctx, Packet* packet, std::uint16_t ingress);
  void send_split(Context& ctx, Packet* packet, std::uint16_t port, const IpAddress& next_hop);

  const l3::Router& router_;
  neighbor::Neighbors& neighbors_;
  TokenBucket errors_;
  std::vector<Buckets> buckets_;  // by ingress port
  std::vector<Packet*> pieces_;
  SlowDrops<kDropCount> drops_;
  std::array<Counter, kEventCount> events_;
};

}  // namespace frond::icmp
