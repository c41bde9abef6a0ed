// SPDX-License-Identifier: BSD-3-Clause
// Facts about this machine for frond doctor. Nothing is changed.
#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <glob.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/doctor.hpp"
#include "cli/programs.hpp"
#include "cli/state.hpp"

namespace frond::cli {
namespace fs = std::filesystem;
namespace {

std::string slurp(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// "NAME: value" in a file like /proc/meminfo.
std::uint64_t field(const std::string& text, const std::string& name, int base = 10) {
  const std::size_t at = text.find("\n" + name + ":");
  const std::size_t start = text.rfind(name + ":", 0) == 0 ? name.size() + 1
                            : at == text.npos              ? text.npos
                                                           : at + name.size() + 2;
  return start == text.npos ? 0 : std::strtoull(text.c_str() + start, nullptr, base);
}

std::optional<std::string> try_netns() {
  const pid_t child = fork();
  if (child == 0) _exit(unshare(CLONE_NEWNET) == 0 ? 0 : errno & 0x7f);
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) < 0 || !WIFEXITED(status))
    return "no process can be made";
  if (WEXITSTATUS(status) == 0) return {};
  return std::strerror(WEXITSTATUS(status));
}

double usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  double cpus = sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
  std::istringstream quota(slurp("/sys/fs/cgroup/cpu.max"));
  double most = 0;
  double period = 0;
  if (quota >> most >> period && period > 0) cpus = std::min(cpus, most / period);
  return cpus;
}

bool driver_there(const std::string& driver) {
  glob_t found{};
  const std::string pattern = fmt::format("/usr/lib*/*/dpdk/pmds-*/librte_{}.so*", driver);
  const std::string local = fmt::format("/usr/local/lib*/*/dpdk/pmds-*/librte_{}.so*", driver);
  const bool there = glob(pattern.c_str(), 0, nullptr, &found) == 0;
  globfree(&found);
  if (there) return true;
  found = {};
  const bool also = glob(local.c_str(), 0, nullptr, &found) == 0;
  globfree(&found);
  return also;
}

bool tcp_taken(std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  sockaddr_in a{};
  a.sin_family = AF_INET;
  a.sin_port = htons(port);
  a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  const bool taken =
      bind(fd, reinterpret_cast<sockaddr*>(&a), sizeof(a)) != 0 && errno == EADDRINUSE;
  close(fd);
  return taken;
}

InterfaceFacts look_at_interface(const std::string& name) {
  InterfaceFacts i;
  i.name = name;
  i.pci = name.find(':') != name.npos;
  std::error_code ignored;
  if (i.pci) {
    const std::string full = name.size() == 7 ? "0000:" + name : name;
    const fs::path device = "/sys/bus/pci/devices/" + full;
    i.exists = name.find('/') == name.npos && fs::exists(device, ignored);
    if (i.exists) i.driver = fs::read_symlink(device / "driver", ignored).filename();
    return i;
  }
  i.exists = if_nametoindex(name.c_str()) != 0;
  if (!i.exists || name.size() >= IFNAMSIZ) return i;
  const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ifreq request{};
  std::memcpy(request.ifr_name, name.data(), name.size());
  if (ioctl(fd, SIOCGIFMTU, &request) == 0) i.mtu = static_cast<std::uint32_t>(request.ifr_mtu);
  ethtool_value value{ETHTOOL_GFLAGS, 0};
  request.ifr_data = reinterpret_cast<char*>(&value);
  if (ioctl(fd, SIOCETHTOOL, &request) == 0)
    i.tx_vlan_offload = (value.data & ETH_FLAG_TXVLAN) != 0;
  close(fd);
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) == 0) {
    for (const ifaddrs* a = all; a != nullptr; a = a->ifa_next) {
      i.has_address = i.has_address || (name == a->ifa_name && a->ifa_addr != nullptr &&
                                        a->ifa_addr->sa_family == AF_INET);
    }
    freeifaddrs(all);
  }
  return i;
}

std::vector<std::string> stray_namespaces(const std::vector<Found>& fabrics) {
  std::vector<std::string> stray;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/run/netns", ignored)) {
    const std::string name = entry.path().filename();
    if (name.rfind("frond-", 0) != 0) continue;
    bool known = false;
    for (const Found& f : fabrics) known = known || name == "frond-" + f.name;
    if (!known) stray.push_back(name);
  }
  return stray;
}

}  // namespace

Facts look_at_machine(const std::vector<std::string>& interfaces) {
  Facts f;
  f.root = geteuid() == 0;
  const std::uint64_t caps = field(slurp("/proc/self/status"), "CapEff", 16);
  f.cap_net_admin = (caps >> 12 & 1) != 0;  // capability.h
  f.cap_sys_admin = (caps >> 21 & 1) != 0;
  if (const int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC); fd >= 0) {
    close(fd);
  } else {
    f.tun = fmt::format("cannot be opened: {}", std::strerror(errno));
  }
  if (f.cap_sys_admin) f.netns = try_netns();
  f.run_root = run_root();
  const fs::path parent = fs::path(f.run_root).parent_path();
  std::error_code ignored;
  const fs::path there = fs::exists(f.run_root, ignored) ? fs::path(f.run_root) : parent;
  if (access(there.c_str(), W_OK) != 0)
    f.run_dir = fmt::format("{}: {}", f.run_root, std::strerror(errno));
  struct statvfs vfs {};
  if (statvfs(there.c_str(), &vfs) == 0) f.run_free = std::uint64_t{vfs.f_bavail} * vfs.f_frsize;
  f.fabricd = static_cast<bool>(find_fabricd());
  if (const int fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0); fd >= 0) {
    f.af_xdp = true;
    close(fd);
  } else {
    f.af_xdp = errno == EPERM;
  }
  f.userns_restricted =
      slurp("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").rfind("1", 0) == 0 ||
      slurp("/proc/sys/kernel/unprivileged_userns_clone").rfind("0", 0) == 0;
  const std::string memory = slurp("/proc/meminfo");
  f.memory_available = field(memory, "MemAvailable") * 1024;
  f.hugepages_total = field(memory, "HugePages_Total");
  f.hugepages_free = field(memory, "HugePages_Free");
  f.cpus = usable_cpus();
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) f.files = limit.rlim_max;
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0) f.memlock = limit.rlim_max;
  for (const char* driver : {"net_af_packet", "net_af_xdp", "net_tap", "net_vhost", "net_virtio",
                             "net_memif", "net_pcap", "net_null"}) {
    if (!driver_there(driver)) f.missing_drivers.emplace_back(driver);
  }
  f.iommu = !fs::is_empty("/sys/kernel/iommu_groups", ignored) && !ignored;
  f.vfio = fs::exists("/dev/vfio/vfio", ignored);
  f.vfio_noiommu =
      slurp("/sys/module/vfio/parameters/enable_unsafe_noiommu_mode").rfind("Y", 0) == 0;
  f.management_port_taken = tcp_taken(9339);
  const auto fabrics = all_fabrics();
  for (const Found& found : fabrics) {
    if (!found.running) f.crashed.push_back(found.name);
  }
  f.stray = stray_namespaces(fabrics);
  for (const std::string& name : interfaces) f.interfaces.push_back(look_at_interface(name));
  return f;
}

}  // namespace frond::cli
