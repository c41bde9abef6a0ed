// SPDX-License-Identifier: BSD-3-Clause
#include "wire/build.hpp"

#include <cstring>

#include "wire/checksum.hpp"
#include "wire/ipv6.hpp"
#include "wire/transport.hpp"

namespace frond::wire {
namespace {

using Buffer = std::vector<std::uint8_t>;

template <class Header> void append(Buffer& out, const Header& header) {
  const std::size_t at = out.size();
  out.resize(at + sizeof(header));
  std::memcpy(out.data() + at, &header, sizeof(header));
}

Buffer transport(const FrameSpec& spec) {
  Buffer out;
  if (spec.fragment_offset == 0 && spec.proto == kProtoUdp) {
    const std::size_t length = sizeof(Udp) + spec.payload.size() + spec.zeros;
    append(out, Udp{be16(spec.src_port), be16(spec.dst_port),
                    be16(static_cast<std::uint16_t>(length)), be16()});
  } else if (spec.fragment_offset == 0 && spec.proto == kProtoTcp) {
    append(out, Tcp{be16(spec.src_port), be16(spec.dst_port), be32(1), be32(0), 5 << 4, 0x10,
                    be16(0xffff), be16(), be16()});
  }
  out.insert(out.end(), spec.payload.begin(), spec.payload.end());
  return out;
}

// Zeros after `data` add nothing to the sum but count in the length.
template <class Ip>
void fill_transport_checksum(const FrameSpec& spec, const Ip& ip, Buffer& data) {
  if (spec.fragment_offset != 0 || spec.more_fragments) return;  // covers what isn't here
  const auto length = static_cast<std::uint32_t>(data.size() + spec.zeros);
  const Sum sum = sum_bytes(data.data(), data.size(), pseudo_sum(ip, spec.proto, length));
  if (spec.proto == kProtoUdp) {
    reinterpret_cast<Udp*>(data.data())->checksum = udp_complement(sum);
  } else if (spec.proto == kProtoTcp) {
    reinterpret_cast<Tcp*>(data.data())->checksum = complement(sum);
  }
}

void append_ipv4(Buffer& out, const FrameSpec& spec, Buffer& data) {
  Buffer options = spec.options;
  options.resize((options.size() + 3) / 4 * 4);
  const std::size_t header = sizeof(Ipv4) + options.size();
  Ipv4 ip{};
  ip.version_ihl = static_cast<std::uint8_t>(4 << 4 | header / 4);
  ip.tos = spec.tos;
  ip.total_length = be16(static_cast<std::uint16_t>(header + data.size() + spec.zeros));
  ip.id = be16(spec.id);
  ip.fragment = be16(static_cast<std::uint16_t>((spec.dont_fragment ? Ipv4::kDontFragment : 0) |
                                                (spec.more_fragments ? Ipv4::kMoreFragments : 0) |
                                                spec.fragment_offset / 8));
  ip.ttl = spec.ttl;
  ip.proto = spec.proto;
  ip.src = be32(spec.src.v4_address.value);
  ip.dst = be32(spec.dst.v4_address.value);
  ip.checksum = complement(sum_bytes(&ip, sizeof(ip), sum_bytes(options.data(), options.size())));
  fill_transport_checksum(spec, ip, data);
  append(out, ip);
  out.insert(out.end(), options.begin(), options.end());
}

void append_ipv6(Buffer& out, const FrameSpec& spec, Buffer& data) {
  Buffer extensions = spec.options;
  const bool fragment = spec.fragment_offset != 0 || spec.more_fragments;
  if (fragment) {
    append(extensions,
           Ipv6Fragment{spec.proto, 0,
                        be16(static_cast<std::uint16_t>((spec.fragment_offset & 0xfff8) |
                                                        (spec.more_fragments ? 1 : 0))),
                        be32(spec.id)});
  }
  Ipv6 ip{};
  ip.version_class_flow = be32(6U << 28 | std::uint32_t{spec.tos} << 20 | spec.flow_label);
  ip.payload_length =
      be16(static_cast<std::uint16_t>(extensions.size() + data.size() + spec.zeros));
  ip.next_header = !spec.options.empty() ? spec.first_extension
                   : fragment            ? kProtoFragment
                                         : spec.proto;
  ip.hop_limit = spec.ttl;
  ip.src = spec.src.v6_address;
  ip.dst = spec.dst.v6_address;
  fill_transport_checksum(spec, ip, data);
  append(out, ip);
  out.insert(out.end(), extensions.begin(), extensions.end());
}

}  // namespace

std::vector<std::uint8_t> build(const FrameSpec& spec) {
  Buffer out;
  append(out, Ethernet{spec.dst_mac, spec.src_mac, be16()});
  std::size_t type_at = out.size() - 2;
  for (std::size_t i = 0; i < spec.tags.size(); ++i) {
    const bool outer = i == 0 && spec.tags.size() > 1;
    const be16 tpid(outer ? kTypeServiceVlan : kTypeVlan);
    *reinterpret_cast<be16*>(&out[type_at]) = tpid;
    append(out, VlanTag{be16(spec.tags[i]), be16()});
    type_at = out.size() - 2;
  }
  *reinterpret_cast<be16*>(&out[type_at]) = be16(spec.dst.v6 ? kTypeIpv6 : kTypeIpv4);
  Buffer data = transport(spec);
  spec.dst.v6 ? append_ipv6(out, spec, data) : append_ipv4(out, spec, data);
  out.insert(out.end(), data.begin(), data.end());
  if (!spec.elide_zeros) out.resize(out.size() + spec.zeros);
  if (out.size() < spec.pad_to) out.resize(spec.pad_to);
  return out;
}

}  // namespace frond::wire
