// SPDX-License-Identifier: BSD-3-Clause
// A trace as text: the node's name once, then what each of its stages decided.
#pragma once

#include <string>

#include "control/management/fabric.hpp"

namespace frond::cli {

std::string trace_text(const management::TraceReport& report);

}  // namespace frond::cli
