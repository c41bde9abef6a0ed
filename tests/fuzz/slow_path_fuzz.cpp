// SPDX-License-Identifier: BSD-3-Clause
// Any frames, through a whole leaf with its slow paths (ARP, neighbour discovery, ICMP, BFD), and
// then four seconds of their timers. Besides what sanitizers find: nothing leaks, nothing grows
// beyond its bounds, and what the switch sends of its own is well formed.
//
// Input: for each frame its port (1 byte), the milliseconds before it (1), its length (2, big
// endian), its bytes; the last one may be shorter.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include <rte_eal.h>

#include "features/own_packet.hpp"
#include "pipelines/golden.hpp"
#include "pipelines/leaf.hpp"

namespace {

using namespace frond;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

PacketPool& pool() {
  static const int eal = [] {
    setenv("RUNTIME_DIRECTORY", "/dev/null", 1);  // as dpdk/eal.cpp says
    const char* args[] = {"fuzz",           "--no-huge", "--no-pci", "--no-shconf",
                          "--no-telemetry", "-m",        "256",      "--log-level=critical",
                          "--lcores",       "0",         nullptr};
    return rte_eal_init(10, const_cast<char**>(args));
  }();
  require(eal >= 0, "EAL starts");
  static PacketPool only("fuzz", {.packets = 4095, .cache = 0});
  return only;
}

struct World {
  pipelines::Leaf leaf;
  Rng rng{1};
  Time now;
  std::vector<Packet*> out;

  World()
      : leaf({.ports = golden::kPorts,
              .neighbor = {.limit = 16, .port_limit = 8, .unresolved_limit = 4, .queue_total = 8},
              .bfd = {.interval = Time::ms(100), .initial_interval = Time::s(1)}}) {
    golden::set_up(leaf.router());
    Context ctx = context();
    for (std::uint16_t p = 0; p < golden::kPorts; ++p) leaf.port_changed(ctx, p, true);
    leaf.bfd().add({2, golden::ip("10.254.0.0"), golden::ip("10.254.0.1"), std::nullopt}, true);
    leaf.bfd().add({3, golden::ip("fd00:ffff::2"), golden::ip("fd00:ffff::3"), std::nullopt}, true);
    leaf.timers(ctx);
    finish();
  }
  Context context() {
    Context ctx{now, rng, pool()};
    ctx.out = &out;
    return ctx;
  }

  void arrive(std::uint16_t port, std::span<const std::uint8_t> bytes) {
    Packet* packet = pool().make(bytes);
    require(packet != nullptr, "the pool is large enough");
    packet->meta().ingress = port;
    packet->meta().time = now;
    Batch batch;
    batch.push(packet);
    Context ctx = context();
    leaf.ingress(ctx, batch);
    batch.free_all();
    finish();
  }

  void run_until(Time end) {
    for (;;) {
      Context ctx = context();
      const Time next = leaf.timers(ctx);
      finish();
      if (next > end) break;
      require(next > now, "time goes on");
      now = next;
    }
    now = end;
  }

  void finish() {
    for (Packet* packet : out) {
      check(*packet);
      packet->free();
    }
    out.clear();
    require(leaf.neighbors().waiting() <= 8, "waiting packets are bounded");
    require(leaf.neighbors().table().size() <= 16, "neighbours are bounded");
  }

  void check(const Packet& packet) {
    require(packet.meta().egress < golden::kPorts, "the egress port exists");
    require(packet.head_length() >= 42, "headers are there");
    const std::uint16_t type = packet.at<wire::Ethernet>(0).type.host();
    if (type == wire::kTypeIpv4) {
      const auto& ip = packet.at<wire::Ipv4>(14);
      require(wire::header_valid(ip), "the checksum is right");
      require(14U + ip.total_length.host() <= packet.frame_length(), "the datagram is there");
      if (ip.proto == wire::kProtoIcmp && !ip.is_fragment() && packet.meta().l3 == 14 &&
          ip.src == wire::be32(golden::ip("10.0.1.0").v4_address.value)) {
        const std::uint32_t length = ip.total_length.host() - ip.header_bytes();
        require(wire::fold(sum_packet(packet, 14 + ip.header_bytes(), length)) == 0xffff,
                "our ICMP checksum is right");
      }
    }
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 0x4000) return 0;
  {
    auto world = std::make_unique<World>();
    while (size >= 4) {
      const auto port = static_cast<std::uint16_t>(data[0] % golden::kPorts);
      world->run_until(world->now + Time::ms(data[1]));
      const std::size_t length = std::min<std::size_t>(size - 4, data[2] * 256U + data[3]);
      if (length > 0) world->arrive(port, {data + 4, length});
      data += 4 + length;
      size -= 4 + length;
    }
    world->run_until(world->now + Time::s(4));
  }
  require(pool().in_use() == 0, "nothing leaks");
  return 0;
}
