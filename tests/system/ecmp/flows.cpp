// SPDX-License-Identifier: BSD-3-Clause
// For tests: the far ends of the ports of ecmp_switches. Sends many flows from a host of the
// fat-tree to hosts of other pods, and sees where each packet of each flow comes out.
//
//   ecmp_flows INGRESS UPLINK...      ports as in lab.hpp
//
// Standard input: `PATHS SEED FLOWS ROUNDS` sends a packet of each flow a round and answers when
// no more come; `+` waits for more and answers again.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/rng.hpp"
#include "engine/clock.hpp"
#include "tests/system/ecmp/lab.hpp"
#include "wire/build.hpp"

namespace {

using namespace frond;
using ecmp_lab::Mark;
using topology::Role;
using Frame = std::vector<std::uint8_t>;

constexpr unsigned kBurst = 48;

struct Request {
  unsigned paths = 0, flows = 0, rounds = 0;
  unsigned long seed = 0;
};

std::vector<std::uint8_t> bytes_of(Mark mark) {
  std::vector<std::uint8_t> bytes(sizeof mark);
  std::memcpy(bytes.data(), &mark, sizeof mark);
  return bytes;
}

// The frames of h1: half of the flows IPv4, half IPv6, to any host of another pod.
class Sender {
 public:
  explicit Sender(const Request& request)
      : plan_(ecmp_lab::fat_tree(request.paths, request.seed, false)) {
    const topology::Topology& t = plan_.topology;
    const std::uint32_t leaf = t.find("leaf1");
    const topology::End port = ecmp_lab::ports_to(t, leaf, Role::host).front();
    const topology::End host = *t.peer(port);
    spec_.src_mac = plan_.addressing.at(host).mac;
    spec_.dst_mac = plan_.addressing.at(port).mac;
    std::vector<topology::End> others;
    for (std::uint32_t n = 0; n < t.nodes.size(); ++n) {
      // Leaves are numbered through, pod by pod, as many in each as there are paths.
      if (t.nodes[n].role == Role::host && t.nodes[t.peer({n, 0})->node].id > request.paths)
        others.push_back({n, 0});
    }
    Rng rng(request.seed, "flows");
    std::set<std::tuple<std::uint32_t, bool, std::uint16_t>> taken;
    while (frames_.size() < request.flows) {
      const bool v6 = frames_.size() % 2 != 0;
      const topology::End to = others[rng.below(others.size())];
      spec_.src_port = static_cast<std::uint16_t>(32768 + rng.below(28232));  // as Linux does
      spec_.dst_port = 5201;
      if (!taken.insert({to.node, v6, spec_.src_port}).second) continue;
      spec_.src = plan_.addressing.address(host, v6)->address;
      spec_.dst = plan_.addressing.address(to, v6)->address;
      spec_.payload = bytes_of({ecmp_lab::kFlow, static_cast<std::uint32_t>(frames_.size())});
      frames_.push_back(wire::build(spec_));
    }
    std::swap(spec_.src, spec_.dst);
  }

  const std::vector<Frame>& frames() const { return frames_; }
  // To h1 itself: it leaves the leaf where it came in, once all before it have been forwarded.
  Frame turn_back(std::uint32_t number) {
    spec_.payload = bytes_of({ecmp_lab::kTurnBack, number});
    return wire::build(spec_);
  }

 private:
  fabric::Plan plan_;
  wire::FrameSpec spec_;
  std::vector<Frame> frames_;
};

class Run {
 public:
  Run(const Request& request, const std::vector<std::unique_ptr<Port>>& ports, const Clock& clock,
      PacketPool& pool)
      : request_(request),
        ports_(ports),
        clock_(clock),
        pool_(pool),
        sender_(request),
        seen_(request.flows) {}

  void send() {
    for (unsigned round = 0; round < request_.rounds; ++round) {
      Batch batch;
      for (const Frame& frame : sender_.frames()) {
        put(batch, frame);
        if (batch.size() == kBurst) flush(batch);
      }
      flush(batch);
    }
  }

  void drain() {
    for (Time last = clock_.now(); clock_.now() < last + Time::ms(10);) {
      if (look() != 0)
        last = clock_.now();
      else
        usleep(50);
    }
  }

  void report() const {
    std::array<unsigned, ecmp_lab::kMaxPaths> flows{};
    unsigned arrived = 0, incomplete = 0;
    for (const Seen& s : seen_) {
      if (s.packets == 0) continue;
      ++arrived;
      ++flows[s.port];
      incomplete += s.packets != request_.rounds ? 1 : 0;
    }
    std::printf(
        "{\"sent\": %lu, \"received\": %lu, \"arrived\": %u, \"incomplete\": %u, "
        "\"moved\": %u, \"astray\": %u, \"flows\": [",
        sent_, received_, arrived, incomplete, moved_, astray_);
    for (unsigned i = 0; i < request_.paths; ++i) std::printf("%s%u", i == 0 ? "" : ", ", flows[i]);
    std::printf("]}\n");
    std::fflush(stdout);
  }

 private:
  struct Seen {
    unsigned packets = 0;
    unsigned port = 0;
  };

  void put(Batch& batch, const Frame& frame) {
    Packet* packet = pool_.make(frame);
    if (packet == nullptr) throw StartError("no packet is left");
    packet->meta().time = clock_.now();
    batch.push(packet);
    ++sent_;
  }

  // Sends, and waits until the leaf has forwarded all of it: so no ring on the way is overrun.
  void flush(Batch& batch) {
    const Time limit = clock_.now() + Time::s(10);
    while (clock_.now() < limit) {
      put(batch, sender_.turn_back(++turn_));
      while (!batch.empty()) {
        ports_[0]->transmit(clock_.now(), batch);
        look();
      }
      const Time patience = clock_.now() + Time::ms(200);
      for (unsigned quiet = 0; clock_.now() < patience;) {
        quiet = look() != 0 ? 0 : quiet + 1;
        if (turned_ == turn_) return;
        if (quiet > 20) usleep(10);
      }
    }
    throw StartError("nothing comes back from the leaf");
  }

  unsigned look() {
    unsigned n = 0;
    for (unsigned p = 0; p < ports_.size(); ++p) {
      Batch batch;
      n += ports_[p]->receive(clock_.now(), batch);
      for (const Packet* packet : batch) take(p, *packet);
      batch.free_all();
    }
    return n;
  }

  void take(unsigned port, const Packet& packet) {
    if (packet.length() < 14 + 20 + 8 + sizeof(Mark)) return;  // an announcement
    const bool v6 = packet.data()[12] == 0x86;
    const unsigned at = 14 + (v6 ? 40 : 20) + 8;
    Mark mark{};
    if (packet.length() < at + sizeof mark) return;
    std::memcpy(&mark, packet.data() + at, sizeof mark);
    if (mark.magic == ecmp_lab::kTurnBack && port == 0) turned_ = mark.number;
    if (mark.magic != ecmp_lab::kFlow) return;
    if (port == 0 || port > request_.paths || mark.number >= seen_.size()) {
      ++astray_;
      return;
    }
    Seen& seen = seen_[mark.number];
    ++received_;
    if (seen.packets != 0 && seen.port != port - 1) ++moved_;
    if (seen.packets == 0) seen.port = port - 1;
    ++seen.packets;
  }

  const Request request_;
  const std::vector<std::unique_ptr<Port>>& ports_;
  const Clock& clock_;
  PacketPool& pool_;
  Sender sender_;
  std::vector<Seen> seen_;
  std::uint64_t sent_ = 0, received_ = 0;
  std::uint32_t turn_ = 0, turned_ = 0;
  unsigned moved_ = 0, astray_ = 0;
};

void run(const std::vector<std::string>& specs) {
  dpdk::Eal eal({.memory = dpdk::Eal::Config::Memory::ordinary});
  PacketPool pool("packets", {.packets = 32767, .cache = 0});
  netdev::LinkMonitor monitor;
  netdev::ReadySet ready;
  const Clock clock;
  std::vector<std::unique_ptr<Port>> ports;
  ports.reserve(specs.size());
  for (const std::string& spec : specs)
    ports.push_back(ecmp_lab::make_port(spec, eal, pool, monitor, ready));
  std::printf("ready\n");
  std::fflush(stdout);
  std::unique_ptr<Run> flows;
  std::string line;
  while (ecmp_lab::take_line(line, -1)) {
    Request request;
    if (std::sscanf(line.c_str(), "%u %lu %u %u", &request.paths, &request.seed, &request.flows,
                    &request.rounds) == 4) {
      flows = std::make_unique<Run>(request, ports, clock, pool);
      flows->send();
    }
    if (flows == nullptr) throw StartError("what is '" + line + "'?");
    flows->drain();
    flows->report();
  }
  ports.clear();
  std::printf("{\"left\": %u}\n", pool.in_use());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2 + static_cast<int>(ecmp_lab::kMaxPaths))
      throw StartError("usage: ecmp_flows INGRESS and eight UPLINKs");
    run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
