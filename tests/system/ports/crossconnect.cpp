// SPDX-License-Identifier: BSD-3-Clause
// For tests: two ports, joined. What one receives the other sends, nothing else happens.
//
//   crossconnect [--hugepages] PORT PORT
//   PORT: kind:target[,mtu=N][,netns=NAME][,queue=N][,server][,wait][,no-offloads][,args=REST]
//   kind: netdev (our tap), packet (our packet socket), or a DPDK driver
//
// Prints a JSON line with links and counters whenever a line is read from standard input, and ends
// with the input.
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "dpdk/eal.hpp"
#include "dpdk/ethdev_port.hpp"
#include "engine/clock.hpp"
#include "netdev/packet_port.hpp"
#include "netdev/tap_port.hpp"

namespace {

using namespace frond;

struct Spec {
  std::string kind;
  bool offloads = true;
  dpdk::EthdevConfig ethdev;
};

Spec parse(const std::string& text) {
  Spec spec;
  const std::size_t colon = text.find(':');
  spec.kind = text.substr(0, colon);
  std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  bool first = true;
  while (!rest.empty()) {
    if (rest.starts_with("args=")) {  // the rest, with its commas
      spec.ethdev.args = rest.substr(5);
      break;
    }
    const std::string word = rest.substr(0, rest.find(','));
    rest = rest.size() > word.size() ? rest.substr(word.size() + 1) : "";
    const auto value = [&word] { return word.substr(word.find('=') + 1); };
    if (first && word.find('=') == std::string::npos)
      spec.ethdev.target = word;
    else if (word.starts_with("mtu="))
      spec.ethdev.mtu = static_cast<std::uint32_t>(std::stoul(value()));
    else if (word.starts_with("queue="))
      spec.ethdev.queue = static_cast<unsigned>(std::stoul(value()));
    else if (word.starts_with("netns="))
      spec.ethdev.netns = value();
    else if (word == "server")
      spec.ethdev.server = true;
    else if (word == "wait")
      spec.ethdev.wait = true;
    else if (word == "no-offloads")
      spec.offloads = false;
    else
      throw StartError("what is '" + word + "'?");
    first = false;
  }
  return spec;
}

std::unique_ptr<Port> make_port(const Spec& spec, dpdk::Eal& eal, PacketPool& pool,
                                netdev::LinkMonitor& monitor, netdev::ReadySet& ready) {
  if (spec.kind == "netdev" || spec.kind == "packet") {
    Result<netdev::Namespace> ns = netdev::Namespace::open(spec.ethdev.netns);
    if (!ns.ok()) throw StartError(ns.error().message);
    if (spec.kind == "packet") {
      return std::make_unique<netdev::PacketPort>(spec.ethdev.target, *ns, pool, monitor, &ready);
    }
    const netdev::TapPort::Config config{.interface = spec.ethdev.target,
                                         .mtu = spec.ethdev.mtu != 0 ? spec.ethdev.mtu : 1500,
                                         .offloads = spec.offloads};
    return std::make_unique<netdev::TapPort>(config, *ns, pool, monitor, &ready);
  }
  dpdk::EthdevConfig config = spec.ethdev;
  for (int d = 0; d <= static_cast<int>(dpdk::Driver::pci); ++d) {
    config.driver = static_cast<dpdk::Driver>(d);
    if (to_string(config.driver) == spec.kind)
      return std::make_unique<dpdk::EthdevPort>(config, eal, pool, monitor);
  }
  throw StartError("there is no kind of port '" + spec.kind + "'");
}

struct Side {
  std::unique_ptr<Port> port;
  std::uint64_t in = 0;
  std::uint32_t longest = 0;
  std::uint64_t refused = 0;  // port_tx_full of a device
};

void report(const Side (&sides)[2], const PacketPool& pool) {
  std::printf("{\"in_use\": %u, \"ports\": [", pool.in_use());
  for (int i = 0; i < 2; ++i) {
    const Side& s = sides[i];
    std::printf("%s{\"up\": %s, \"in\": %lu, \"longest\": %u, \"refused\": %lu, \"drops\": {",
                i == 0 ? "" : ", ", s.port->up() ? "true" : "false", s.in, s.longest, s.refused);
    const auto names = s.port->drop_info();
    for (unsigned d = 0; d < names.size(); ++d) {
      std::printf("%s\"%s\": %lu", d == 0 ? "" : ", ", names[d].name.data(), s.port->drops(d));
    }
    std::printf("}}");
  }
  std::printf("]}\n");
  std::fflush(stdout);
}

// False: the input has ended.
bool asked(const Side (&sides)[2], const PacketPool& pool) {
  pollfd input{0, POLLIN, 0};
  if (poll(&input, 1, 0) <= 0) return true;
  char text[64];
  if (read(0, text, sizeof text) <= 0) return false;
  report(sides, pool);
  return true;
}

void run(const std::vector<std::string>& args) {
  const bool hugepages = args[0] == "--hugepages";
  dpdk::Eal eal({.memory = hugepages ? dpdk::Eal::Config::Memory::hugepages
                                     : dpdk::Eal::Config::Memory::ordinary,
                 .memory_mib = hugepages ? 64U : 1024U});
  PacketPool pool("packets", {.packets = 16383, .cache = 0});
  netdev::LinkMonitor monitor;
  netdev::ReadySet ready;
  const Clock clock;
  Side sides[2];
  for (int i = 0; i < 2; ++i)
    sides[i].port = make_port(parse(args[args.size() - 2 + i]), eal, pool, monitor, ready);
  report(sides, pool);
  unsigned quiet = 0;
  for (unsigned round = 0; round % 256 != 0 || asked(sides, pool); ++round) {
    unsigned moved = 0;
    for (int i = 0; i < 2; ++i) {
      Batch batch;
      moved += sides[i].port->receive(clock.now(), batch);
      for (const Packet* p : batch) sides[i].longest = std::max(sides[i].longest, p->length());
      sides[i].in += batch.size();
      sides[1 - i].port->transmit(clock.now(), batch);
      sides[1 - i].refused += batch.size();
      batch.free_all();
    }
    quiet = moved != 0 ? 0 : quiet + 1;
    if (quiet > 100) usleep(20);
  }
  for (Side& s : sides) s.port.reset();
  std::printf("{\"left\": %u}\n", pool.in_use());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 3) throw StartError("usage: crossconnect [--hugepages] PORT PORT");
    run({argv + 1, argv + argc});
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
