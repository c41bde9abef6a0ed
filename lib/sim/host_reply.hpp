// SPDX-License-Identifier: BSD-3-Clause
// What a host's stack answers, whatever runs on it: ARP requests, neighbour solicitations, pings.
#pragma once

#include <span>

#include "base/address.hpp"
#include "packet/packet.hpp"
#include "wire/icmp.hpp"
#include "wire/ipv4.hpp"
#include "wire/ipv6.hpp"

namespace frond::sim {

bool owns(std::span<const IpAddress> addresses, const IpAddress& address);

// Each turns the packet into its answer, in place. False: there is none to give.

// l3: offset of the ARP message, which is there as a whole.
bool answer_arp(Packet& packet, std::uint32_t l3, const MacAddress& mac,
                std::span<const IpAddress> addresses);
// An IPv6 packet with a verified ICMPv6 message of icmp_bytes, all of it present.
bool answer_solicitation(Packet& packet, wire::Ipv6& ip, std::uint32_t icmp_bytes,
                         const MacAddress& mac, std::span<const IpAddress> addresses);
bool answer_echo(Packet& packet, wire::Ipv4& ip, wire::Icmp& icmp, const MacAddress& mac);
bool answer_echo(Packet& packet, wire::Ipv6& ip, wire::Icmp& icmp, const MacAddress& mac);

}  // namespace frond::sim
