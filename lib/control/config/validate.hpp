// SPDX-License-Identifier: BSD-3-Clause
// What the types cannot say: names, links, addresses, drivers, traffic. Every finding, not the
// first.
#pragma once

#include "control/config/diagnostic.hpp"
#include "control/config/fabric_config.hpp"
#include "control/config/yaml_tree.hpp"

namespace frond::config {

// root: where the values stand in the file; nullptr for a configuration that was made otherwise.
void validate(const FabricConfig& config, const yaml::Node* root, Diagnostics& out);

}  // namespace frond::config
