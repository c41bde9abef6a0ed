// SPDX-License-Identifier: BSD-3-Clause
// A file -> FabricConfig, or all that is wrong with it. Reading has no effect besides.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "control/config/diagnostic.hpp"
#include "control/config/fabric_config.hpp"

namespace frond::config {

struct Loaded {
  std::optional<FabricConfig> config;  // without errors only
  Diagnostics diagnostics;
  bool readable = true;

  // Of `frond validate`: 0 good, 1 invalid, 2 cannot be read, 3 warnings under strict.
  int exit_code(bool strict = false) const;
};

// The name in messages, and the stem that a fabric without `name:` is called after.
Loaded parse_config(std::string_view text, const std::string& file);
Loaded load_config(const std::string& path);

}  // namespace frond::config
