// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <cstdlib>
#include <exception>

#include "cli/command.hpp"

int main(int argc, char** argv) {
  // gRPC's own diagnostics are not for our users; ours say what to do.
  setenv("GRPC_VERBOSITY", "NONE", 0);
  try {
    frond::cli::Application app;
    return app.run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "frond: {}\n", e.what());
    return frond::cli::kCannot;
  }
}
