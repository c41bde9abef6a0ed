// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/switch_unit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "pipelines/leaf.hpp"
#include "pipelines/spine.hpp"
#include "switch/switch.hpp"

namespace frond::fabric {

namespace {

// Writes down what the stages say.
struct Sentences {
  static constexpr bool kOn = true;
  explicit Sentences(std::vector<StageLine>& all) : lines(all) {}
  template <class... Args> void operator()(fmt::format_string<Args...> text, Args&&... args) {
    // Each sentence begins with its stage.
    std::string line = fmt::format(text, std::forward<Args>(args)...);
    std::string stage = line.substr(0, line.find(' '));
    lines.push_back({std::move(stage), std::move(line)});
  }
  std::vector<StageLine>& lines;
};

template <class Pipeline> class Unit final : public SwitchUnit {
 public:
  Unit(const std::string& name, std::uint32_t id, std::uint64_t seed,
       const std::vector<SwitchBase::PortConfig>& ports, const pipelines::AgentConfig& config) {
    auto device = std::make_unique<Switch<Pipeline>>(name, id, seed, ports, config);
    switch_ = device.get();
    device_ = std::move(device);
  }

  l3::Router& router() override { return switch_->pipeline().router(); }
  bfd::Bfd& bfd() override { return switch_->pipeline().bfd(); }
  std::vector<neighbor::Neighbors::Known> neighbors() override {
    return switch_->pipeline().neighbors().table();
  }
  Context& context() override { return switch_->context(); }
  void reconsider_timers() override { switch_->reconsider_timers(); }

  Explanation explain(Packet& packet) override {
    Explanation result;
    Sentences why(result.lines);
    const auto [verdict, stage] = switch_->pipeline().explain(packet, why);
    result.stage = stage;
    if (verdict.is_next()) {
      result.verdict = "forward";
    } else if (verdict.is_punt()) {
      result.verdict = "punt";
    } else {
      result.verdict = drop_name(stage, verdict.drop_index());
    }
    return result;
  }

 private:
  static std::string drop_name(std::string_view stage, unsigned index) {
    const auto all = Pipeline::drops();
    const auto first =
        std::find_if(all.begin(), all.end(), [&](const StageDrop& d) { return d.stage == stage; });
    return std::string((first + index)->info.name);
  }

  Switch<Pipeline>* switch_;
};

}  // namespace

std::unique_ptr<SwitchUnit> make_switch(const topology::Topology& topology, std::uint32_t node,
                                        std::uint32_t id, std::uint64_t seed, unsigned ports,
                                        const SwitchOptions& options) {
  const topology::Node& n = topology.nodes[node];
  std::vector<SwitchBase::PortConfig> configs(ports);
  for (unsigned p = 0; p < ports; ++p) {
    configs[p].name = topology::port_name(n.role, static_cast<std::uint16_t>(p));
    configs[p].queue = options.queue;
  }
  pipelines::AgentConfig agent = options.agent;
  agent.ports = static_cast<std::uint16_t>(ports);
  agent.seed = hash_name(n.name, seed);
  if (!agent.ecmp_seed) agent.ecmp_seed = topology::ecmp_seed(seed, n.name);
  if (n.role == topology::Role::leaf) {
    return std::make_unique<Unit<pipelines::Leaf>>(n.name, id, seed, configs, agent);
  }
  return std::make_unique<Unit<pipelines::Spine>>(n.name, id, seed, configs, agent);
}

void configure_port(SwitchUnit& unit, const topology::Topology& topology,
                    const topology::Addressing& addressing, topology::End port) {
  const topology::Interface& own = addressing.at(port);
  unit.router().set_interface(port.port, {own.mac, own.mtu, own.addresses});
  const std::uint32_t link = topology.port(port).link;
  if (link == topology::kNone) return;
  unit.device().set_rate(port.port, topology.links[link].rate);
  const auto peer = topology.peer(port);
  if (!peer || !topology.nodes[peer->node].is_switch()) return;
  const topology::Interface& theirs = addressing.at(*peer);
  for (const IpPrefix& address : theirs.addresses) {
    // The router refuses a neighbour only when its table is full, and then asks as for any other.
    [[maybe_unused]] const Status status =
        unit.router().set_static_neighbor(port.port, address.address, theirs.mac);
  }
}

void watch_neighbor(SwitchUnit& unit, const topology::Topology& topology,
                    const topology::Addressing& addressing, topology::End port) {
  const auto peer = topology.peer(port);
  if (!peer || !topology.nodes[peer->node].is_switch()) return;
  for (const bool v6 : {false, true}) {
    const auto own = addressing.address(port, v6);
    const auto theirs = addressing.address(*peer, v6);
    if (!own || !theirs) continue;
    unit.bfd().add({port.port, own->address, theirs->address, addressing.at(*peer).mac},
                   unit.device().oper_up(port.port));
    unit.reconsider_timers();
    return;
  }
}

}  // namespace frond::fabric
