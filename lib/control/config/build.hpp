// SPDX-License-Identifier: BSD-3-Clause
// FabricConfig -> Topology. The one place that knows what nodes, links and overrides add up to.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "control/config/fabric_config.hpp"
#include "topology/topology.hpp"

namespace frond::config {

// The topology with what only the configuration knows of each link.
struct Plan {
  topology::Topology topology;
  std::vector<std::uint32_t> link_config;  // [link]: index in FabricConfig::links, or kNone
};

// What stands in the way, and at which place of the file: {"links", "2", "a"}. The suggestion may
// be empty.
using Path = std::vector<std::string>;
using Complain = std::function<void(const Path& at, const char* rule, std::string message,
                                    std::string suggestion)>;

// Complains about what does not fit and leaves it out. Of a valid configuration: complete.
Plan build(const FabricConfig& config, const Complain& complain = {});

// Effective values of a link: its own, else the generator's, else the default.
LinkDriver link_driver(const FabricConfig& config, const Plan& plan, std::uint32_t link);
const link::Impairment& link_impairment(const FabricConfig& config, const Plan& plan,
                                        std::uint32_t link, bool sent_by_a);
LinkState link_state(const FabricConfig& config, const Plan& plan, std::uint32_t link);
// The port's own configuration, or nullptr.
const PortConfig* port_config(const FabricConfig& config, const topology::Topology& topology,
                              topology::End end);
std::uint64_t switch_ecmp_seed(const FabricConfig& config, const std::string& node);

}  // namespace frond::config
