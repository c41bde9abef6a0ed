// SPDX-License-Identifier: BSD-3-Clause
// Session: which fabric a command means, and the connection to it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/state.hpp"
#include "control/management/client.hpp"

namespace frond::cli {

// "demo/leaf1:p1" names the fabric too; then --name is not needed. Splits it off.
std::string split_fabric(std::string text, std::string& fabric);

// The fabric that is meant: the given name, else the only one that runs. The error says what runs
// and what to do.
Result<std::string> choose_fabric(const std::string& given);
Result<std::unique_ptr<management::Client>> open_fabric(const std::string& given,
                                                        std::string* chosen = nullptr);

struct PortName {
  std::string node, port;
  std::string text() const { return node + ":" + port; }
};
// "leaf1:p1"; "h1" alone means the port of a host that has one.
Result<PortName> find_port(management::Client& client, const std::string& text);

// The name in `known` that is nearest to `wanted`, if it is near enough to be meant; else "".
std::string nearest(const std::string& wanted, const std::vector<std::string>& known);

}  // namespace frond::cli
