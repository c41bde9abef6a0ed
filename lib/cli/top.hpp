// SPDX-License-Identifier: BSD-3-Clause
// What `frond top` computes and shows, apart from the terminal.
#pragma once

#include <string>
#include <vector>

#include "control/management/fabric.hpp"

namespace frond::cli {

struct PortRates {
  std::string port;
  bool up = false;
  double load = 0;  // the busier direction, of the line rate
  double in_bps = 0, out_bps = 0, in_pps = 0, out_pps = 0, drops = 0;
  std::uint64_t queue_bytes = 0;
};

// Between two looks. A port whose counters went back was replaced: it counts from 0.
std::vector<PortRates> port_rates(const std::vector<management::Node>& before, Time from,
                                  const std::vector<management::Node>& after, Time to);
void sort_rates(std::vector<PortRates>& rates, const std::string& by);
std::string top_text(const management::FabricInfo& info, const std::vector<PortRates>& rates,
                     unsigned width, unsigned height);

}  // namespace frond::cli
