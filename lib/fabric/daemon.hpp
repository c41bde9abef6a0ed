// SPDX-License-Identifier: BSD-3-Clause
// Daemon: an emulation with its management socket, from a file until it is told to stop. What
// `fabricd up` and `switchd` are apart from their command lines.
#pragma once

#include <string>
#include <vector>

namespace frond::fabric {

struct DaemonOptions {
  std::string file;
  std::string name;              // of the fabric; "": the file's
  std::string state_dir;         // its socket is mgmt.sock in there; "": no management
  std::string only;              // this switch and nothing else; "": all
  int ready_fd = -1;             // lines `progress TEXT`, then `ready` or `error TEXT`
  std::vector<std::string> eal;  // further EAL arguments
};

// The exit status: 0 after a signal or a request to shut down.
int run_daemon(const DaemonOptions& options);

}  // namespace frond::fabric
