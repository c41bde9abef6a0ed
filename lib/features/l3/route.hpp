// SPDX-License-Identifier: BSD-3-Clause
// Route: the longest matching prefix says where a datagram goes: to us, to nobody, to a neighbour,
// or to a group of them, of which ecmp picks one.
#pragma once

#include <array>
#include <string_view>

#include "engine/pipeline.hpp"
#include "engine/verdict.hpp"
#include "features/l3/local.hpp"
#include "features/l3/router.hpp"
#include "features/punt.hpp"
#include "wire/ethernet.hpp"
#include "wire/ipv4.hpp"
#include "wire/ipv6.hpp"

namespace frond::l3 {

class RouteStage {
 public:
  static constexpr std::string_view kName = "route";
  enum Drop : std::uint8_t { ip_no_route, ip_blackhole, ip_ttl_expired, kDropCount };
  static constexpr std::array<DropInfo, kDropCount> kDrops{{
      {"ip_no_route", "no prefix covers the destination", kAnswerNetUnreachable},
      {"ip_blackhole", "the route says to drop it, or it is a link's broadcast address"},
      {"ip_ttl_expired", "TTL or hop limit used up (RFC 1812 5.3.1)", kAnswerTtlExpired},
  }};

  explicit RouteStage(const Router& router) : router_(&router) {}

  template <class Why> Verdict decide(Packet& packet, Why& why) const {
    PacketMeta& meta = packet.meta();
    NextHop next;
    std::uint8_t ttl;
    if (meta.ether_type == wire::kTypeIpv4) [[likely]] {
      const auto& ip = packet.at<wire::Ipv4>(meta.l3);
      next = router_->fib().lookup(ip.dst.host());
      ttl = ip.ttl;
    } else {
      const auto& ip = packet.at<wire::Ipv6>(meta.l3);
      next = router_->fib().lookup(ip.dst);
      ttl = ip.hop_limit;
    }
    if constexpr (Why::kOn) explain(packet, next, why);
    meta.next_hop = next.bits();
    if (next.kind() > NextHop::Kind::connected || ttl <= 1) [[unlikely]] {
      return stop(packet, next);
    }
    return Verdict::next();
  }

 private:
  // A packet for us is taken whatever its TTL (RFC 1812 5.3.1, RFC 1122 3.2.1.7).
  [[gnu::noinline]] static Verdict stop(const Packet& packet, NextHop next) {
    switch (next.kind()) {
      case NextHop::Kind::local:
        return Verdict::punt(local_punt(packet));
      case NextHop::Kind::blackhole:
        return Verdict::drop(ip_blackhole);
      case NextHop::Kind::none:
        return Verdict::drop(ip_no_route);
      default:
        return Verdict::drop(ip_ttl_expired);
    }
  }

  template <class Why> void explain(const Packet& packet, NextHop next, Why& why) const {
    const IpAddress dst = packet.meta().ether_type == wire::kTypeIpv6
                              ? IpAddress(packet.at<wire::Ipv6>(packet.meta().l3).dst)
                              : IpAddress(packet.at<wire::Ipv4>(packet.meta().l3).destination());
    const auto prefix = router_->matched(dst);
    why("route    {} by {} -> {}", dst.to_string(), prefix ? prefix->to_string() : "nothing",
        next.to_string());
  }

  const Router* router_;
};

}  // namespace frond::l3
