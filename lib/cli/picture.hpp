// SPDX-License-Identifier: BSD-3-Clause
// The first minute's picture: what has come up, in a few lines.
#pragma once

#include <string>
#include <vector>

#include "control/management/fabric.hpp"

namespace frond::cli {

// demo: 2 spines, 2 leaves, 4 hosts   emulated at 1 Gb/s, not CPU-bound
//   spine1 spine2 ── leaf1 ── h1 h2
std::string picture(const management::FabricInfo& info, const std::vector<management::Node>& nodes,
                    const std::vector<management::Link>& links);

std::string rate_text(Rate rate);          // 10 Gb/s
std::string duration_text(Time duration);  // 1.8 s, 3 h 12 min

}  // namespace frond::cli
