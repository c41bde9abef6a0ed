// SPDX-License-Identifier: BSD-3-Clause
// Checks of addresses and routes, and where a value stands in the file.
#pragma once

#include "control/config/build.hpp"
#include "control/config/diagnostic.hpp"
#include "control/config/yaml_tree.hpp"

namespace frond::config {

// Path -> position. What the file does not have stands where its nearest parent does.
class Locator {
 public:
  explicit Locator(const yaml::Node* root) : root_(root) {}
  Mark operator()(const Path& path) const { return locate(path, false); }  // of the value
  Mark key(const Path& path) const { return locate(path, true); }
  bool has(const Path& path) const;  // maps only

 private:
  Mark locate(const Path& path, bool key) const;
  const yaml::Node* root_;
};

void validate_addresses(const FabricConfig& config, const Plan& plan, const Locator& at,
                        Diagnostics& out);

}  // namespace frond::config
