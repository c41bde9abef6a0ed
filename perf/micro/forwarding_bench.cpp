// SPDX-License-Identifier: BSD-3-Clause
// What forwarding costs on hot caches: the tables, each stage, the whole list of stages. The
// packets are those of the golden table that go through, or 512 flows of 64-byte packets over a
// group of two. `restore` is what putting the frames back as they were costs: to be subtracted.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "base/rng.hpp"
#include "pipelines/golden.hpp"
#include "pipelines/leaf.hpp"
#include "tests/support/heap_packet.hpp"

namespace {

using namespace frond;

constexpr unsigned kBurst = 32;

struct Nobody {
  void punt(Context&, Packet*, PuntCode) { std::abort(); }
  void drop(Context&, Packet*, unsigned) { std::abort(); }
};

// Packets that can be put back as they came.
class Packets {
 public:
  void add(const golden::Frame& frame, std::uint16_t ingress) {
    frames_.push_back(frame);
    packets_.push_back(std::make_unique<HeapPacket>(frame));
    ingress_.push_back(ingress);
  }
  std::size_t size() const { return packets_.size(); }
  void restore(std::size_t first, Batch& batch) {
    batch.clear();
    for (std::size_t i = first; i < first + kBurst; ++i) {
      Packet& p = **packets_[i % size()];
      std::memcpy(p.data(), frames_[i % size()].data(), 64);
      p.reset_meta();
      p.meta().ingress = ingress_[i % size()];
      batch.push(&p);
    }
  }

 private:
  std::vector<golden::Frame> frames_;
  std::vector<std::unique_ptr<HeapPacket>> packets_;
  std::vector<std::uint16_t> ingress_;
};

struct Bench {
  l3::Router router{{.ports = golden::kPorts, .seed = 1}};
  pipelines::LeafStages stages{parse::Parse(),         l2::L2(router),     l3::Input(router),
                               l3::RouteStage(router), ecmp::Ecmp(router), l3::Mtu(router),
                               l3::Rewrite(router)};
  Packets packets;
  Rng rng;
  Nobody nobody;

  Bench() { golden::set_up(router); }
  void flows(bool v6) {
    for (std::uint16_t i = 0; i < 512; ++i) {
      wire::FrameSpec f = golden::base(v6);
      f.dst = golden::ip(v6 ? "fd00:0:0:2::1" : "10.0.2.1");
      f.src_port = static_cast<std::uint16_t>(1024 + i);
      f.pad_to = 64;
      packets.add(wire::build(f), 0);
    }
  }
  void golden_packets() {
    for (const golden::Case& c : golden::cases()) {
      if (c.egress == kNoPort) continue;
      golden::Frame frame = c.in;
      frame.resize(std::max<std::size_t>(frame.size(), 64));
      packets.add(frame, c.ingress);
    }
  }
};

template <class F> void each_burst(benchmark::State& state, Bench& b, F&& f) {
  Batch batch;
  std::size_t first = 0;
  for (auto _ : state) {
    b.packets.restore(first, batch);
    f(batch);
    first += kBurst;
    if (first >= b.packets.size()) first = 0;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * kBurst);
}

enum Load { ipv4_flows, ipv6_flows, golden_table };
void load(Bench& b, std::int64_t which) {
  which == golden_table ? b.golden_packets() : b.flows(which == ipv6_flows);
}

void restore(benchmark::State& state) {
  Bench b;
  load(b, state.range(0));
  each_burst(state, b, [](Batch& batch) { benchmark::DoNotOptimize(batch); });
}
BENCHMARK(restore)->DenseRange(ipv4_flows, golden_table);

void pipeline(benchmark::State& state) {
  Bench b;
  load(b, state.range(0));
  PacketPool* none = nullptr;  // no stage makes packets
  Context ctx{.now = Time(), .rng = b.rng, .pool = *none};
  each_burst(state, b, [&](Batch& batch) { b.stages.process(ctx, batch, b.nobody); });
}
BENCHMARK(pipeline)->DenseRange(ipv4_flows, golden_table);

void parse(benchmark::State& state) {
  Bench b;
  load(b, state.range(0));
  NoWhy why;
  each_burst(state, b, [&](Batch& batch) {
    for (Packet* p : batch) benchmark::DoNotOptimize(b.stages.stage<0>().decide(*p, why));
  });
}
BENCHMARK(parse)->DenseRange(ipv4_flows, golden_table);

void fib_v4(benchmark::State& state) {
  l3::Fib fib({});
  for (std::uint32_t i = 0; i < 128; ++i) {
    if (!fib.set({Ip4{0x0a000000 | i << 8}, 24}, l3::NextHop::group(i)).ok()) std::abort();
    if (!fib.set({Ip4{0x0a000100 | i}, 32}, l3::NextHop::local()).ok()) std::abort();
  }
  Rng rng;
  std::vector<std::uint32_t> dst(1024);
  for (auto& d : dst) d = static_cast<std::uint32_t>(0x0a000000 + rng.below(1 << 15));
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(fib.lookup(dst[i++ & 1023]));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(fib_v4);

void fib_v6(benchmark::State& state) {
  l3::Fib fib({});
  const auto host = [](std::uint64_t leaf, std::uint64_t n) {
    Ip6 a{{0xfd}};
    a.bytes[7] = static_cast<std::uint8_t>(leaf);
    a.bytes[15] = static_cast<std::uint8_t>(n);
    return a;
  };
  for (std::uint32_t i = 0; i < 128; ++i) {
    if (!fib.set({host(i, 0), 64}, l3::NextHop::group(i)).ok()) std::abort();
    if (!fib.set({host(1, i), 128}, l3::NextHop::local()).ok()) std::abort();
    if (!fib.set({host(1, i * 2), 127}, l3::NextHop::connected(1)).ok()) std::abort();
  }
  Rng rng;
  std::vector<Ip6> dst(1024);
  for (auto& d : dst) d = host(rng.below(128), rng.below(256));
  std::size_t i = 0;
  for (auto _ : state) benchmark::DoNotOptimize(fib.lookup(dst[i++ & 1023]));
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}
BENCHMARK(fib_v6);

void ecmp_hash(benchmark::State& state) {
  Bench b;
  load(b, state.range(0));
  NoWhy why;
  Batch batch;
  b.packets.restore(0, batch);
  for (Packet* p : batch) (void)b.stages.stage<0>().decide(*p, why);
  for (auto _ : state) {
    for (Packet* p : batch) {
      benchmark::DoNotOptimize(b.router.buckets(0).choose(ecmp::flow_hash(*p, b.router.seed())));
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * kBurst);
}
BENCHMARK(ecmp_hash)->DenseRange(ipv4_flows, golden_table);

}  // namespace

BENCHMARK_MAIN();
