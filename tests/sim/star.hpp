// SPDX-License-Identifier: BSD-3-Clause
// For tests of virtual time: hosts around one device that forwards by address, without a pipeline.
// What is tested is time, wires and hosts; switches have their own tests.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/device.hpp"
#include "engine/serialiser.hpp"
#include "link/wire.hpp"
#include "sim/udp_host.hpp"
#include "sim/world.hpp"
#include "wire/ethernet.hpp"
#include "wire/ipv4.hpp"

namespace frond::sim {

inline Ip4 host_ip(unsigned n) { return Ip4{0x0a000001U + n}; }
inline MacAddress host_mac(unsigned n) {
  return {{2, 0, 0, 0, static_cast<std::uint8_t>(n >> 8), static_cast<std::uint8_t>(n)}};
}

// Port n leads to host_ip(n). Queues without limit, one line a port.
class Forwarder final : public Device {
 public:
  Forwarder(std::uint32_t id, unsigned ports, Rate rate) : Device("forwarder", id, 1) {
    for (unsigned i = 0; i < ports; ++i) ports_.emplace_back(rate);
    ready().resize(ports);
    backlog_.resize(ports);
  }
  ~Forwarder() override {
    for (Egress& e : ports_) {
      for (Packet* p : e.queue) p->free();
    }
  }
  void attach(unsigned port, Port* io) { ports_[port].io = io; }

  Time step(Context& ctx) override {
    inbox().run();
    ready().for_each([&](unsigned port) {
      ready().clear(port);
      Batch batch;
      ports_[port].io->receive(ctx.now, batch);
      if (batch.full()) ready().set(port);
      ctx.work += batch.size();
      for (Packet* p : batch) {
        const unsigned out = p->at<wire::Ipv4>(14).destination().value - host_ip(0).value;
        p->at<wire::Ethernet>(0).dst = host_mac(out);
        ports_[out].queue.push_back(p);
        backlog_.set(out);
      }
    });
    Time next = Time::max();
    backlog_.for_each([&](unsigned port) { next = std::min(next, transmit(ctx, port)); });
    return ready().any() ? ctx.now : next;
  }

 private:
  struct Egress {
    explicit Egress(Rate rate) : line(rate) {}
    Port* io = nullptr;
    Serialiser line;
    std::deque<Packet*> queue;
  };

  Time transmit(Context& ctx, unsigned port) {
    Egress& e = ports_[port];
    Batch batch;
    while (!e.queue.empty() && e.line.idle(ctx.now) && !batch.full()) {
      Packet* p = e.queue.front();
      e.queue.pop_front();
      p->meta().time = e.line.send(p->meta().time, ctx.now, p->frame_length());
      if (ctx.hops != nullptr) {
        ctx.hops->record(p->meta().time, id(), static_cast<std::uint16_t>(port), *p, "");
      }
      batch.push(p);
    }
    if (!batch.empty()) e.io->transmit(ctx.now, batch);
    if (e.queue.empty()) {
      backlog_.clear(port);
      return Time::max();
    }
    return e.line.next();
  }

  std::deque<Egress> ports_;
  PortSet backlog_;
};

// Hosts 0 .. n-1 with ids 0 .. n-1, the forwarder with id n; wire i joins host i (end a) to port i.
struct Star {
  struct Config {
    std::string name = "star";
    unsigned hosts = 2;
    Rate rate = Rate::gbps(100);
    link::WireConfig wire;
    std::uint64_t seed = 1;
    PacketPool::Config pool{.packets = 16383, .data_room = 256};
  };

  explicit Star(const Config& config)
      : world({.name = config.name, .pool = config.pool}),
        forwarder(config.hosts, config.hosts, config.rate) {
    for (unsigned i = 0; i < config.hosts; ++i) {
      std::string name = std::to_string(i);
      name.insert(0, 1, 'h');
      wires.push_back(std::make_unique<link::Wire>(name, config.seed, config.wire,
                                                   link::Wire::Threads::one, world.pool()));
      hosts.push_back(std::make_unique<UdpHost>(
          name, i, config.seed,
          UdpHost::Config{host_mac(i), {{2, 0, 0, 0xff, 0, 0}}, {host_ip(i)}, config.rate}));
      wires[i]->a().attach(*hosts[i], 0, &world);
      wires[i]->b().attach(forwarder, i, &world);
      hosts[i]->attach(&wires[i]->a());
      forwarder.attach(i, &wires[i]->b());
    }
    for (auto& host : hosts) world.add(*host);
    world.add(forwarder);
  }

  // Before the first run.
  void flow(unsigned from, unsigned to, UdpFlow flow) {
    flow.dst = host_ip(to);
    hosts[from]->add(flow);
  }

  World world;  // first: it owns the pool, so it goes last
  std::vector<std::unique_ptr<link::Wire>> wires;
  Forwarder forwarder;
  std::vector<std::unique_ptr<UdpHost>> hosts;
};

}  // namespace frond::sim
