// SPDX-License-Identifier: BSD-3-Clause
// Entering a host: its network namespace, as `ip netns exec` does it.
#pragma once

#include <string>

#include "base/result.hpp"

namespace frond::cli {

std::string netns_path(const std::string& name);  // /run/netns/NAME

// This process, from here on, is in that namespace: network, a /sys that shows it, and the files of
// /etc/netns/NAME over those of /etc. `where`: a path, or a name in /run/netns. hosts: a file to be
// seen as /etc/hosts, if it is there; "": none.
Status enter_netns(const std::string& where, const std::string& hosts = "");

}  // namespace frond::cli
