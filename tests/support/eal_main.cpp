// SPDX-License-Identifier: BSD-3-Clause
// main() of the unit tests that need packets: EAL without hugepages, PCI or shared files.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include <rte_eal.h>

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  setenv("RUNTIME_DIRECTORY", "/dev/null", 1);  // as dpdk/eal.cpp says
  const char* eal[] = {"test",           "--no-huge", "--no-pci", "--no-shconf",
                       "--no-telemetry", "-m",        "1024",     "--log-level=critical",
                       "--lcores",       "0",         nullptr};
  if (rte_eal_init(10, const_cast<char**>(eal)) < 0) {
    std::fprintf(stderr, "rte_eal_init failed\n");
    return 1;
  }
  const int result = RUN_ALL_TESTS();
  rte_eal_cleanup();
  return result;
}
