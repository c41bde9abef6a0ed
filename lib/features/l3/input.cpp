// SPDX-License-Identifier: BSD-3-Clause
#include "features/l3/input.hpp"

#include "features/l3/local.hpp"

namespace frond::l3 {
namespace {

constexpr Ip6 kUnspecified{};
constexpr Ip6 kLoopback{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
constexpr Ip6 kAllNodes{{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
constexpr Ip6 kAllRouters{{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};

// ::ffff:0:0/96: never on the wire (RFC 4291 2.5.5.2).
bool is_mapped(const Ip6& a) {
  for (unsigned i = 0; i < 10; ++i) {
    if (a.bytes[i] != 0) return false;
  }
  return a.bytes[10] == 0xff && a.bytes[11] == 0xff;
}

bool solicits_us(const Interface& interface, const Ip6& group) {
  if (group == Ip6::link_local(interface.mac).solicited_node()) return true;
  for (const IpPrefix& own : interface.addresses) {
    if (own.address.v6 && group == own.address.v6_address.solicited_node()) return true;
  }
  return false;
}

}  // namespace

Verdict Input::unusual_v6(const Packet& packet) const {
  const PacketMeta& meta = packet.meta();
  const auto& ip = packet.at<wire::Ipv6>(meta.l3);
  if (ip.src.is_multicast() || ip.src == kLoopback || is_mapped(ip.src)) {
    return Verdict::drop(ipv6_martian_source);
  }
  if (ip.dst == kUnspecified || ip.dst == kLoopback || is_mapped(ip.dst)) {
    return Verdict::drop(ipv6_martian_destination);
  }
  const Interface& interface = router_->interface(meta.ingress);
  if (ip.dst.is_multicast()) {
    const bool listened =
        ip.dst == kAllNodes || ip.dst == kAllRouters || solicits_us(interface, ip.dst);
    // An unspecified source asks whether an address is taken (RFC 4862 5.4.2).
    return listened ? Verdict::punt(local_punt(packet)) : Verdict::drop(ipv6_multicast);
  }
  if (ip.src == kUnspecified) return Verdict::drop(ipv6_martian_source);
  if ((meta.flags & PacketMeta::kGroupAddress) != 0) return Verdict::drop(ip_link_group);
  if (ip.dst.is_link_local()) {
    // Ours at this port, or on no link that we would send it to.
    return ip.dst == Ip6::link_local(interface.mac) ? Verdict::punt(local_punt(packet))
                                                    : Verdict::drop(ipv6_beyond_scope);
  }
  if (ip.src.is_link_local()) {
    return router_->lookup(IpAddress(ip.dst)).kind() == NextHop::Kind::local
               ? Verdict::punt(local_punt(packet))
               : Verdict::drop(ipv6_beyond_scope);
  }
  return Verdict::next();
}

}  // namespace frond::l3
