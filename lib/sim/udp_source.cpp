// SPDX-License-Identifier: BSD-3-Clause
#include "sim/udp_source.hpp"

#include <cstring>

#include "base/result.hpp"
#include "sim/probe.hpp"
#include "wire/build.hpp"
#include "wire/ipv6.hpp"
#include "wire/transport.hpp"

namespace frond::sim {

UdpSource::UdpSource(const UdpFlow& flow, const MacAddress& mac, const MacAddress& gateway,
                     const IpAddress& src)
    : flow_(flow), pace_(flow.rate) {
  const std::uint32_t ip = flow.dst.v6 ? sizeof(wire::Ipv6) : sizeof(wire::Ipv4);
  const std::uint32_t headers = sizeof(wire::Ethernet) + ip + sizeof(wire::Udp);
  const std::uint32_t least = headers + sizeof(Probe) + kFcsBytes;
  // IPv4's total length and IPv6's payload length are 16 bits.
  const std::uint32_t most = sizeof(wire::Ethernet) + (flow.dst.v6 ? ip : 0) + 65'535 + kFcsBytes;
  if (flow.frame < least || flow.frame > most) {
    throw StartError("flow " + std::to_string(flow.id) + " to " + flow.dst.to_string() +
                     ": a frame of " + std::to_string(flow.frame) + " bytes; it must be " +
                     std::to_string(least) + " to " + std::to_string(most));
  }
  if (flow.rate == Rate()) {
    throw StartError("flow " + std::to_string(flow.id) + " to " + flow.dst.to_string() +
                     ": its rate is 0");
  }
  wire::FrameSpec spec;
  spec.dst_mac = gateway;
  spec.src_mac = mac;
  spec.src = src;
  spec.dst = flow.dst;
  spec.src_port = flow.src_port;
  spec.dst_port = flow.dst_port;
  spec.tos = static_cast<std::uint8_t>(flow.dscp << 2);
  spec.dont_fragment = true;
  spec.payload.resize(sizeof(Probe));
  spec.zeros = flow.frame - least;
  spec.elide_zeros = flow.elide;
  frame_ = wire::build(spec);
  elided_ = flow.elide ? spec.zeros : 0;
  udp_ = sizeof(wire::Ethernet) + ip;

  auto& udp = *reinterpret_cast<wire::Udp*>(&frame_[udp_]);
  udp.checksum = wire::be16();
  const std::uint32_t length = udp.length.host();
  sum_ = wire::sum_bytes(&udp, sizeof udp);
  const std::uint8_t* l3 = &frame_[sizeof(wire::Ethernet)];
  sum_ += flow.dst.v6
              ? pseudo_sum(*reinterpret_cast<const wire::Ipv6*>(l3), wire::kProtoUdp, length)
              : pseudo_sum(*reinterpret_cast<const wire::Ipv4*>(l3), wire::kProtoUdp, length);
}

Packet* UdpSource::make(PacketPool& pool, Time at) {
  const auto sequence = static_cast<std::uint32_t>(sent_++);
  due_ = pace_.send(due_, due_, flow_.frame - kFcsBytes);
  Packet* packet = pool.data_room() >= frame_.size() ? pool.allocate() : pool.make(frame_);
  if (packet == nullptr) return nullptr;
  if (packet->length() == 0) {
    std::memcpy(rte_pktmbuf_append(packet->mbuf(), static_cast<std::uint16_t>(frame_.size())),
                frame_.data(), frame_.size());
  }
  packet->meta().elided = elided_;
  auto& udp = packet->at<wire::Udp>(udp_);
  auto& probe = packet->at<Probe>(udp_ + sizeof(wire::Udp));
  probe.sent = wire::be64(static_cast<std::uint64_t>(at.ns()));
  probe.sequence = wire::be32(sequence);
  probe.flow = wire::be32(flow_.id);
  probe.magic = wire::be16(Probe::kMagic);
  udp.checksum = wire::udp_complement(wire::sum_bytes(&probe, sizeof probe, sum_));
  return packet;
}

}  // namespace frond::sim
