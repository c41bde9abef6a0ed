// SPDX-License-Identifier: BSD-3-Clause
// switchd: one switch of a fabric in a process of its own; the same assembly as fabricd, restricted
// to that switch. Its ports lead out through DPDK drivers, as the file says.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "fabric/daemon.hpp"

int main(int argc, char** argv) {
  frond::fabric::DaemonOptions options;
  CLI::App app("One switch of a fabric; its ports lead out of the process as the file says.",
               "switchd");
  app.set_version_flag("--version", FROND_VERSION);
  app.add_option("FILE", options.file, "The fabric")->required();
  app.add_option("--node", options.only, "Which of its switches")->required();
  app.add_option("--name", options.name, "Of the fabric, instead of the file's");
  app.add_option("--state-dir", options.state_dir, "Where its management socket goes (none)");
  app.add_option("--ready-fd", options.ready_fd, "Tell on this descriptor when it is up");
  app.add_option("--eal", options.eal, "A further argument for DPDK, as it spells it");
  CLI11_PARSE(app, argc, argv);
  try {
    return frond::fabric::run_daemon(options);
  } catch (const std::exception& e) {
    fmt::print(stderr, "switchd: {}\n", e.what());
    return 1;
  }
}
