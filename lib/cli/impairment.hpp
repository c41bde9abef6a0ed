// SPDX-License-Identifier: BSD-3-Clause
// Impairments as people write them: loss=0.1% delay=1ms jitter=100us seed=7 silent.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "control/management/fabric.hpp"

namespace frond::cli {

// Changes `to` by these words. An error names the word, what is allowed and what was meant.
Status parse_impairment(const std::vector<std::string>& words, management::Impairment& to);
std::string impairment_text(const management::Impairment& impairment);  // "none" when there is none

}  // namespace frond::cli
