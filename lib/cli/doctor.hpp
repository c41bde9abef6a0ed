// SPDX-License-Identifier: BSD-3-Clause
// frond doctor: what stands between this machine and a fabric, and the command that cures it.
// Looking (facts) and judging (checks) are apart, so that broken machines can be tested.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace frond::cli {

struct InterfaceFacts {
  std::string name;
  bool exists = false;
  bool pci = false;    // the name is a PCI address
  std::string driver;  // of the PCI device
  bool tx_vlan_offload = false;
  bool has_address = false;  // the kernel uses it too
  std::uint32_t mtu = 0;
};

struct Facts {
  bool root = false, cap_net_admin = false, cap_sys_admin = false;
  std::optional<std::string> tun;      // why /dev/net/tun cannot be opened
  std::optional<std::string> netns;    // why no network namespace can be made
  std::optional<std::string> run_dir;  // why the run directory cannot be used
  std::string run_root;
  bool fabricd = false;
  bool af_xdp = false;             // the kernel has the socket
  bool userns_restricted = false;  // AppArmor or sysctl forbids user namespaces
  std::uint64_t memory_available = 0, hugepages_total = 0, hugepages_free = 0;
  std::uint64_t run_free = 1ULL << 40;       // bytes left where the run directory is
  double cpus = 0;                           // that we may use, with the cgroup's quota
  std::uint64_t files = 0, memlock = 0;      // limits
  std::vector<std::string> missing_drivers;  // of DPDK
  bool iommu = false, vfio = false, vfio_noiommu = false;
  bool management_port_taken = false;  // 9339
  std::vector<std::string> crashed;    // fabrics
  std::vector<std::string> stray;      // namespaces frond-* of no fabric
  std::vector<InterfaceFacts> interfaces;
};

// interfaces: those that a configuration will name; PCI addresses too.
Facts look_at_machine(const std::vector<std::string>& interfaces);

struct Check {
  enum class Level : std::uint8_t { good, hint, bad };
  std::string name;
  Level level = Level::good;
  std::string finding;
  std::string cure;  // a command; "" when nothing needs one
};
std::vector<Check> judge(const Facts& facts);

}  // namespace frond::cli
