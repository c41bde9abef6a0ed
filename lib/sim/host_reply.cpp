// SPDX-License-Identifier: BSD-3-Clause
#include "sim/host_reply.hpp"

#include <algorithm>
#include <utility>

#include "wire/arp.hpp"
#include "wire/checksum.hpp"
#include "wire/ethernet.hpp"
#include "wire/nd.hpp"

namespace frond::sim {

namespace {

void send_back(Packet& packet, const MacAddress& mac) {
  auto& ethernet = packet.at<wire::Ethernet>(0);
  ethernet.dst = ethernet.src;
  ethernet.src = mac;
}

constexpr Ip6 kAllNodes{{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};

}  // namespace

bool owns(std::span<const IpAddress> addresses, const IpAddress& address) {
  return std::find(addresses.begin(), addresses.end(), address) != addresses.end();
}

bool answer_arp(Packet& packet, std::uint32_t l3, const MacAddress& mac,
                std::span<const IpAddress> addresses) {
  auto& arp = packet.at<wire::Arp>(l3);
  if (arp.hardware.host() != wire::Arp::kHardwareEthernet ||
      arp.protocol.host() != wire::kTypeIpv4 || arp.hardware_length != 6 ||
      arp.protocol_length != 4 || arp.operation.host() != wire::Arp::kRequest) {
    return false;
  }
  if (!owns(addresses, Ip4{arp.target_ip.host()})) return false;
  arp.operation = wire::be16(wire::Arp::kReply);
  const wire::be32 ours = arp.target_ip;
  arp.target_mac = arp.sender_mac;
  arp.target_ip = arp.sender_ip;
  arp.sender_mac = mac;
  arp.sender_ip = ours;
  send_back(packet, mac);
  return true;
}

// RFC 4861 7.2.3 and 7.2.4.
bool answer_solicitation(Packet& packet, wire::Ipv6& ip, std::uint32_t icmp_bytes,
                         const MacAddress& mac, std::span<const IpAddress> addresses) {
  auto& message = *reinterpret_cast<wire::NeighborMessage*>(&ip + 1);
  if (ip.hop_limit != 255 || message.code != 0 || icmp_bytes < sizeof message) return false;
  const auto* options = reinterpret_cast<const std::uint8_t*>(&message + 1);
  if (!wire::parse_nd_options({options, icmp_bytes - sizeof message})) return false;
  if (!owns(addresses, message.target)) return false;

  // The answer is message and target option, whatever came.
  constexpr std::uint32_t kLength = sizeof(wire::NeighborMessage) + sizeof(wire::LinkLayerOption);
  const std::uint32_t frame = sizeof(wire::Ethernet) + sizeof(wire::Ipv6) + kLength;
  if (packet.mbuf()->nb_segs != 1) return false;
  if (packet.length() < frame) {
    const auto more = static_cast<std::uint16_t>(frame - packet.length());
    if (rte_pktmbuf_append(packet.mbuf(), more) == nullptr) return false;
  } else {
    rte_pktmbuf_trim(packet.mbuf(), static_cast<std::uint16_t>(packet.length() - frame));
  }
  send_back(packet, mac);
  const bool probe = ip.src == Ip6{};  // someone checks whether the address is free: tell all
  ip.dst = probe ? kAllNodes : ip.src;
  if (probe) packet.at<wire::Ethernet>(0).dst = {{0x33, 0x33, 0, 0, 0, 1}};
  ip.src = message.target;
  ip.payload_length = wire::be16(kLength);
  message.type = wire::icmp6::kNeighborAdvertisement;
  message.flags = wire::be32(wire::NeighborMessage::kOverride |
                             (probe ? 0U : std::uint32_t{wire::NeighborMessage::kSolicited}));
  auto& option = *reinterpret_cast<wire::LinkLayerOption*>(&message + 1);
  option = {wire::LinkLayerOption::kTarget, 1, mac};
  message.checksum = wire::be16();
  message.checksum = wire::complement(
      wire::sum_bytes(&message, kLength, pseudo_sum(ip, wire::kProtoIcmp6, kLength)));
  return true;
}

bool answer_echo(Packet& packet, wire::Ipv4& ip, wire::Icmp& icmp, const MacAddress& mac) {
  if (icmp.type != wire::icmp4::kEchoRequest || icmp.code != 0) return false;
  const wire::be16 before(static_cast<std::uint16_t>(wire::icmp4::kEchoRequest << 8));
  icmp.type = wire::icmp4::kEchoReply;
  icmp.checksum = wire::update_checksum(icmp.checksum, before, wire::be16());
  std::swap(ip.src, ip.dst);
  ip.ttl = 64;
  wire::fill_header_checksum(ip);
  send_back(packet, mac);
  return true;
}

bool answer_echo(Packet& packet, wire::Ipv6& ip, wire::Icmp& icmp, const MacAddress& mac) {
  if (icmp.type != wire::icmp6::kEchoRequest || icmp.code != 0) return false;
  icmp.type = wire::icmp6::kEchoReply;
  icmp.checksum = wire::update_checksum(icmp.checksum, wire::be16(wire::icmp6::kEchoRequest << 8),
                                        wire::be16(wire::icmp6::kEchoReply << 8));
  std::swap(ip.src, ip.dst);
  ip.hop_limit = 64;
  send_back(packet, mac);
  return true;
}

}  // namespace frond::sim
