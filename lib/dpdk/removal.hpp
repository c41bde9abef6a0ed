// SPDX-License-Identifier: BSD-3-Clause
// RemovalWatch: a PCI device is to be given back, or is gone. VFIO asks and waits until the device
// is released; under UIO it disappears at once, and what its registers were becomes memory that
// nobody reads.
#pragma once

#include <functional>
#include <string>

namespace frond::dpdk {

class RemovalWatch {
 public:
  // Once a process, after EAL has started with PCI.
  static void begin();
  static void end();

  // told: on DPDK's interrupt thread, which holds the device until told returns and a little
  // longer.
  RemovalWatch(std::string device, std::function<void()> told);
  ~RemovalWatch();
  RemovalWatch(const RemovalWatch&) = delete;
  RemovalWatch& operator=(const RemovalWatch&) = delete;

 private:
  std::string device_;
  std::function<void()> told_;
};

}  // namespace frond::dpdk
