// SPDX-License-Identifier: BSD-3-Clause
// The report of a simulation: JSON that is the same bytes for the same plan and seed, and a table
// for people.
#pragma once

#include <string>

#include "fabric/simulation.hpp"

namespace frond::fabric {

inline constexpr int kReportVersion = 1;

std::string report_json(const Simulation& simulation);
std::string report_text(const Simulation& simulation);

}  // namespace frond::fabric
