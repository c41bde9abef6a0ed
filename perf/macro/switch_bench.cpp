// SPDX-License-Identifier: BSD-3-Clause
// Frond's contender in `bench switch`: the Switch that `frond up` assembles, on one busy worker,
// over the DPDK devices it is told, one in and two or more out. Speaks to its driver over stdin and
// stdout, a line at a time:
//   (at first)  ready                     everything is there, nothing is attached yet
//   start       started                   packets come in from now on
//   stats       {"forwarded": ...}        counters since the start
//   stages      {"parse": ...}            cycles a packet by stage, measured now
//   quit, or the end of stdin             ends
#include <nlohmann/json.hpp>
#include <time.h>

#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <rte_cycles.h>

#include "base/address.hpp"
#include "base/result.hpp"
#include "dpdk/eal.hpp"
#include "dpdk/ethdev_port.hpp"
#include "engine/clock.hpp"
#include "engine/worker.hpp"
#include "netdev/link_monitor.hpp"
#include "packet/pool.hpp"
#include "perf/macro/stage_times.hpp"
#include "pipelines/leaf.hpp"
#include "switch/switch.hpp"

namespace frond::perf {
namespace {

struct Options {
  std::string cpu = "1";     // of the data path; other threads stay where the process may run
  std::string gbps = "100";  // line rate of every port
  std::string in, in_mac, in_address, prefix;
  std::vector<std::string> out, out_mac, out_address, gateway, gateway_mac;
};

template <class T> T parse(const std::string& text, const char* what) {
  const auto value = T::parse(text);
  if (!value) throw StartError("'" + text + "' is not " + what);
  return *value;
}

void check(const Status& status) {
  if (!status.ok()) throw StartError(status.error().message);
}

// Of the thread that speaks with the driver, never of the worker.
void pause_ms(long ms) {
  const timespec duration{ms / 1000, ms % 1000 * 1'000'000};
  nanosleep(&duration, nullptr);
}

class SwitchBench {
 public:
  using Leaf = pipelines::Leaf;

  SwitchBench(const Options& options, dpdk::Eal& eal)
      : options_(options),
        eal_(eal),
        pool_("bench", {}),
        worker_({.name = "datapath",
                 .cpu = static_cast<unsigned>(std::stoul(options.cpu)),
                 .idle = IdlePolicy::busy},
                clock_, pool_) {
    open_ports();
    build_switch();
    configure(device_->pipeline().router());
    for (std::uint16_t port = 1; port < ports_.size(); ++port) {
      device_->attach(port, ports_[port].get());
    }
    worker_.add(*device_);
    worker_.start();
  }

  ~SwitchBench() {
    worker_.stop();
    device_.reset();  // before its ports, and all packets before their pool
    ports_.clear();
  }

  void serve() {
    std::cout << "ready" << std::endl;
    for (std::string line; std::getline(std::cin, line) && line != "quit";) {
      if (line == "start") {
        start();
        std::cout << "started" << std::endl;
      } else if (line == "stats") {
        std::cout << stats().dump() << std::endl;
      } else if (line == "stages") {
        std::cout << stages().dump() << std::endl;
      } else {
        throw StartError("no command '" + line + "'");
      }
    }
  }

 private:
  void open_ports() {
    ports_.push_back(open(options_.in));
    for (const std::string& device : options_.out) ports_.push_back(open(device));
  }

  // DRIVER:SOCKET:ARGUMENTS
  std::unique_ptr<Port> open(const std::string& device) {
    const auto first = device.find(':');
    const auto second = device.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) {
      throw StartError("'" + device + "' is not DRIVER:SOCKET:ARGUMENTS");
    }
    dpdk::EthdevConfig config;
    config.target = device.substr(first + 1, second - first - 1);
    config.args = device.substr(second + 1);
    const std::string driver = device.substr(0, first);
    for (const auto known : {dpdk::Driver::pcap, dpdk::Driver::null, dpdk::Driver::vhost}) {
      if (driver != dpdk::to_string(known)) continue;
      config.driver = known;
      return std::make_unique<dpdk::EthdevPort>(config, eal_, pool_, monitor_);
    }
    throw StartError("no driver '" + driver + "': pcap, null or vhost");
  }

  void build_switch() {
    std::vector<SwitchBase::PortConfig> configs;
    for (std::size_t port = 0; port < ports_.size(); ++port) {
      configs.push_back(
          {.name = "p" + std::to_string(port + 1), .rate = Rate::gbps(std::stoul(options_.gbps))});
    }
    Leaf::Config config;
    config.ports = static_cast<std::uint16_t>(ports_.size());
    device_ = std::make_unique<Switch<Leaf>>("bench", 0, 1, configs, config);
  }

  // Two or more ways to the prefix, through neighbours that are known: nothing to resolve.
  void configure(l3::Router& router) {
    router.set_interface(0, interface(options_.in_mac, options_.in_address));
    std::vector<l3::Member> members;
    for (std::size_t i = 0; i < options_.out.size(); ++i) {
      const auto port = static_cast<std::uint16_t>(i + 1);
      const auto gateway = frond::perf::parse<IpAddress>(options_.gateway[i], "an address");
      router.set_interface(port, interface(options_.out_mac[i], options_.out_address[i]));
      check(router.set_static_neighbor(
          port, gateway, frond::perf::parse<MacAddress>(options_.gateway_mac[i], "a MAC address")));
      members.push_back({.port = port, .gateway = gateway});
    }
    check(router.set_group({0}, std::move(members)));
    check(router.add_route(frond::perf::parse<IpPrefix>(options_.prefix, "a prefix"),
                           l3::RouteTarget::to({0})));
  }

  static l3::Interface interface(const std::string& mac, const std::string& address) {
    return {.mac = frond::perf::parse<MacAddress>(mac, "a MAC address"),
            .addresses = {frond::perf::parse<IpPrefix>(address, "an address with its length")}};
  }

  // The ways out first (a vhost-user port is up when its peer has come), then the way in.
  void start() {
    for (int waited = 0; !outputs_up(); waited += 10) {
      if (waited > 10'000) throw StartError("not all ways out came up within 10 s");
      pause_ms(10);
    }
    worker_.call([this] { device_->attach(0, ports_[0].get()); });
    first_rounds_ = worker_.rounds();
  }

  bool outputs_up() const {
    for (std::uint16_t port = 1; port < ports_.size(); ++port) {
      if (!device_->oper_up(port)) return false;
    }
    return true;
  }

  std::uint64_t forwarded() const {
    std::uint64_t sent = 0;
    for (std::uint16_t port = 1; port < ports_.size(); ++port) {
      sent += device_->counters(port).out_pkts.value() - own_drop(port, SwitchBase::port_tx_full);
    }
    return sent;
  }

  std::uint64_t own_drop(std::uint16_t port, SwitchBase::OwnDrop drop) const {
    const auto own = static_cast<unsigned>(Leaf::drops().size());
    return device_->drop_count(port, own + drop);
  }

  nlohmann::json stats() const {
    std::map<std::string, std::uint64_t> drops;
    const auto list = device_->drop_list();
    for (std::uint16_t port = 0; port < ports_.size(); ++port) {
      for (unsigned i = 0; i < list.size(); ++i) {
        drops[std::string(list[i].info.name)] += device_->drop_count(port, i);
      }
      const auto own = ports_[port]->drop_info();
      for (unsigned i = 0; i < own.size(); ++i) {
        drops[std::string(own[i].name)] += ports_[port]->drops(i);
      }
    }
    const std::uint64_t rounds = worker_.rounds() - first_rounds_;
    const std::uint64_t received = device_->counters(0).in_pkts.value();
    return {{"forwarded", forwarded()},
            {"received", received},
            {"drops", drops},
            {"packets_per_step",
             rounds == 0 ? 0.0 : static_cast<double>(received) / static_cast<double>(rounds)}};
  }

  // The whole is what the running switch takes; the parts are timed on the worker, on the same
  // devices, with packets as they come; the rest is what the switch itself does between them.
  nlohmann::ordered_json stages() {
    const double cycles_per_ns = static_cast<double>(rte_get_tsc_hz()) * 1e-9;
    const std::uint64_t packets = forwarded();
    const Time start = clock_.now();
    pause_ms(1000);
    const double elapsed = static_cast<double>((clock_.now() - start).ns());
    if (forwarded() == packets) throw StartError("nothing comes in: there is nothing to time");
    const double whole = elapsed / static_cast<double>(forwarded() - packets);
    Parts parts(clock_);
    worker_.call([&] { time_parts(parts); });
    if (parts.stopped) throw StartError("a packet did not go through all stages");

    nlohmann::ordered_json json;
    double sum = 0;
    const auto add = [&](std::string_view name, double ns) {
      json[std::string(name)] = ns * cycles_per_ns;
      sum += ns;
    };
    add("receive", parts.per_packet(parts.receive_ns));
    for (unsigned i = 0; i < Parts::Stages::kStages; ++i) {
      add(Parts::Stages::kNames[i], parts.stages.ns_per_packet(i));
    }
    add("transmit", parts.per_packet(parts.transmit_ns));
    add("switch, queue and line", whole - sum);
    json["all"] = whole * cycles_per_ns;
    return json;
  }

  struct Parts {
    using Stages = StageTimes<pipelines::LeafStages>;
    explicit Parts(const Clock& clock) : stages(clock) {}
    double per_packet(std::uint64_t ns) const {
      return packets == 0 ? 0.0 : static_cast<double>(ns) / static_cast<double>(packets);
    }
    Stages stages;
    std::uint64_t receive_ns = 0, transmit_ns = 0, packets = 0;
    bool stopped = false;  // not every packet went through
  };

  void time_parts(Parts& parts) {
    const Time end = clock_.now() + Time::s(1);
    for (Time now = clock_.now(); now < end; now = clock_.now()) {
      Batch batch;
      ports_[0]->receive(now, batch);
      const Time received = clock_.now();
      for (Packet* packet : batch) packet->meta().ingress = 0;
      Context ctx{now, device_->rng(), pool_};
      if (!parts.stages.run(device_->pipeline().stages(), ctx, batch)) {
        batch.free_all();
        parts.stopped = true;
        return;
      }
      std::vector<Batch> ways(ports_.size());
      for (Packet* packet : batch) ways[packet->meta().egress].push(packet);
      const Time sending = clock_.now();
      for (std::size_t port = 1; port < ports_.size(); ++port) {
        if (!ways[port].empty()) ports_[port]->transmit(now, ways[port]);
      }
      const Time sent = clock_.now();
      for (Batch& way : ways) way.free_all();
      parts.receive_ns += static_cast<std::uint64_t>((received - now).ns());
      parts.transmit_ns += static_cast<std::uint64_t>((sent - sending).ns());
      parts.packets += batch.size();
    }
  }

  Options options_;
  dpdk::Eal& eal_;
  Clock clock_;
  PacketPool pool_;
  netdev::LinkMonitor monitor_;
  std::vector<std::unique_ptr<Port>> ports_;
  std::unique_ptr<Switch<Leaf>> device_;
  Worker worker_;
  std::uint64_t first_rounds_ = 0;
};

// --NAME VALUE, written by our driver only.
Options read_options(int argc, char** argv) {
  Options o;
  const std::map<std::string, std::string*> once = {
      {"--in", &o.in},         {"--in-mac", &o.in_mac}, {"--in-address", &o.in_address},
      {"--prefix", &o.prefix}, {"--cpu", &o.cpu},       {"--gbps", &o.gbps}};
  const std::map<std::string, std::vector<std::string>*> often = {
      {"--out", &o.out},
      {"--out-mac", &o.out_mac},
      {"--out-address", &o.out_address},
      {"--gateway", &o.gateway},
      {"--gateway-mac", &o.gateway_mac}};
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) throw StartError(name + " needs a value");
    if (once.contains(name)) {
      *once.at(name) = argv[i + 1];
    } else if (often.contains(name)) {
      often.at(name)->push_back(argv[i + 1]);
    } else {
      throw StartError("no option " + name + "; this program is started by `./dev bench switch`");
    }
  }
  for (const auto& [name, values] : often) {
    if (values->empty() || values->size() != o.out.size()) {
      throw StartError("each --out needs its " + name);
    }
  }
  for (const auto& [name, value] : once) {
    if (value->empty()) throw StartError(name + " is missing");
  }
  return o;
}

}  // namespace
}  // namespace frond::perf

int main(int argc, char** argv) {
  try {
    const frond::perf::Options options = frond::perf::read_options(argc, argv);
    frond::dpdk::Eal eal({.memory = frond::dpdk::Eal::Config::Memory::hugepages});
    frond::perf::SwitchBench(options, eal).serve();
  } catch (const std::exception& error) {
    std::cerr << "switch_bench: " << error.what() << std::endl;
    return 1;
  }
  return 0;
}
