// SPDX-License-Identifier: BSD-3-Clause
// Any bytes through all stages of a leaf, parse to rewrite. Besides what sanitizers find: a packet
// that goes on must be one that a router may send, and what slow paths are told must be true.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>

#include "pipelines/golden.hpp"
#include "pipelines/leaf.hpp"
#include "tests/support/heap_packet.hpp"

namespace {

using namespace frond;

struct Sentences {
  static constexpr bool kOn = true;
  std::size_t length = 0;
  template <class... Args> void operator()(fmt::format_string<Args...> format, Args&&... args) {
    length += fmt::format(format, std::forward<Args>(args)...).size();
  }
};

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

struct Leaf {
  l3::Router router;
  pipelines::LeafStages stages;
  Leaf()
      : router({.ports = golden::kPorts, .seed = 1}),
        stages(parse::Parse(), l2::L2(router), l3::Input(router), l3::RouteStage(router),
               ecmp::Ecmp(router), l3::Mtu(router), l3::Rewrite(router)) {
    golden::set_up(router);
  }
};

const Leaf& leaf() {
  static const Leaf only;
  return only;
}

void check_sent(const Packet& before, const Packet& after) {
  const PacketMeta& meta = after.meta();
  require(meta.egress < golden::kPorts, "the egress port exists");
  require(after.length() == before.length(), "forwarding keeps the length");
  if (meta.ether_type == wire::kTypeIpv4) {
    const auto& ip = after.at<wire::Ipv4>(meta.l3);
    const auto& old = before.at<wire::Ipv4>(meta.l3);
    require(wire::header_valid(ip), "the checksum is right");
    require(ip.checksum.raw() != 0xffff, "a checksum never leaves as 0xffff");
    require(ip.ttl + 1 == old.ttl && ip.ttl > 0, "one hop less, and some left");
    require(meta.l3 + ip.total_length.host() <= after.frame_length(), "the datagram is there");
  } else {
    require(meta.ether_type == wire::kTypeIpv6, "only IP is routed");
    const auto& ip = after.at<wire::Ipv6>(meta.l3);
    require(ip.hop_limit + 1 == before.at<wire::Ipv6>(meta.l3).hop_limit && ip.hop_limit > 0,
            "one hop less, and some left");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0xffff) return 0;
  const std::span<const std::uint8_t> bytes(data, size);
  HeapPacket before(bytes), packet(bytes), explained(bytes);
  packet->meta().ingress = explained->meta().ingress = 0;
  NoWhy quiet;
  Sentences why;
  const auto nothing = [](std::string_view) {};
  const auto decided = leaf().stages.explain(*packet, quiet, nothing);
  require(decided == leaf().stages.explain(*explained, why, nothing), "a trace says what happens");
  const PacketMeta& meta = packet->meta();
  require(meta.l4 == 0 || (meta.l4 > meta.l3 && meta.l4 < packet->head_length()),
          "the transport header starts within the frame");
  const Verdict verdict = decided.first;
  if (verdict.is_next()) check_sent(*before, *packet);
  if (verdict == Verdict::punt(kPuntNoNeighbor) || verdict == Verdict::punt(kPuntFragment)) {
    require(leaf().router.way(*packet).has_value(), "who waits for a neighbour has one");
    require(meta.egress < golden::kPorts, "the egress port exists");
  }
  return 0;
}
