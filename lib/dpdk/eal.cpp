// SPDX-License-Identifier: BSD-3-Clause
#include "dpdk/eal.hpp"

#include <bpf/libbpf.h>
#include <sched.h>
#include <unistd.h>
#include <xdp/libxdp.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_log.h>

#include "base/result.hpp"
#include "dpdk/removal.hpp"

namespace frond::dpdk {
namespace {

constexpr unsigned kHugepagesNeeded = 256;  // MiB: the default packet pool and a few ports

bool given(const std::vector<std::string>& extra, std::initializer_list<const char*> names) {
  for (const std::string& e : extra) {
    for (const char* n : names) {
      if (e == n || e.starts_with(std::string(n) + "=")) return true;
    }
  }
  return false;
}

unsigned wanted_hugepages(const Eal::Config& config) {
  return config.memory_mib != 0 ? config.memory_mib : kHugepagesNeeded;
}

bool use_hugepages(const Eal::Config& config, unsigned free_mib) {
  if (given(config.extra, {"--no-huge"})) return false;
  if (config.memory == Eal::Config::Memory::automatic) return free_mib >= wanted_hugepages(config);
  return config.memory == Eal::Config::Memory::hugepages;
}

unsigned half_the_memory_mib() {
  const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
  const auto size = static_cast<std::uint64_t>(sysconf(_SC_PAGE_SIZE));
  return static_cast<unsigned>(pages * size / 2 >> 20);
}

// "0-3,7": as --lcores takes it.
std::string cpu_list(const cpu_set_t& set) {
  std::string list;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) list += (list.empty() ? "" : ",") + std::to_string(cpu);
  }
  return list;
}

std::set<int> threads() {
  std::set<int> all;
  std::error_code ignored;
  for (const auto& t : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    all.insert(std::stoi(t.path().filename()));
  }
  return all;
}

// In ordinary memory DPDK makes a directory in $RUNTIME_DIRECTORY (or /var/run) that it neither
// needs (--no-shconf: errors are skipped) nor removes. It can make none below a device.
class NoRuntimeDirectory {
 public:
  NoRuntimeDirectory() {
    if (const char* old = getenv("RUNTIME_DIRECTORY")) {
      had_ = true;
      old_ = old;
    }
    setenv("RUNTIME_DIRECTORY", "/dev/null", 1);
  }
  ~NoRuntimeDirectory() {
    if (had_) {
      setenv("RUNTIME_DIRECTORY", old_.c_str(), 1);
    } else {
      unsetenv("RUNTIME_DIRECTORY");
    }
  }

 private:
  bool had_ = false;
  std::string old_;
};

}  // namespace

unsigned Eal::free_hugepages_mib() {
  std::uint64_t kib = 0;
  std::error_code ignored;
  for (const auto& size :
       std::filesystem::directory_iterator("/sys/kernel/mm/hugepages", ignored)) {
    const std::string name = size.path().filename();  // hugepages-2048kB
    std::uint64_t free = 0;
    std::ifstream(size.path() / "free_hugepages") >> free;
    kib += free * std::strtoull(name.c_str() + std::strlen("hugepages-"), nullptr, 10);
  }
  return static_cast<unsigned>(kib >> 10);
}

std::vector<std::string> Eal::arguments(const Config& config, unsigned free_mib,
                                        unsigned memory_mib, const std::string& cpus) {
  std::vector<std::string> args = {"frond", "--no-telemetry"};
  const bool own_memory = given(config.extra, {"-m", "--socket-mem"});
  if (use_hugepages(config, free_mib)) {
    // --in-memory: no files, so nothing is left and many processes live side by side.
    // --single-file-segments: virtio-user hands its memory to the peer, as few descriptors.
    args.insert(args.end(), {"--in-memory", "--single-file-segments"});
  } else {
    if (!given(config.extra, {"--no-huge"})) args.push_back("--no-huge");
    args.push_back("--no-shconf");  // refused together with --in-memory
    if (!own_memory) {
      args.insert(args.end(),
                  {"-m", std::to_string(config.memory_mib != 0 ? config.memory_mib : memory_mib)});
    }
  }
  if (!given(config.extra, {"-l", "-c", "-s", "--lcores"})) {
    // The main lcore may run on each of our CPUs: then nothing is pinned, now or later.
    args.insert(args.end(), {"--lcores", "0@(" + cpus + ")"});
  }
  if (config.pci.empty() && !given(config.extra, {"-a", "--allow"})) {
    args.push_back("--no-pci");
  } else {
    for (const std::string& address : config.pci) args.insert(args.end(), {"-a", address});
  }
  if (!given(config.extra, {"--log-level"})) args.insert(args.end(), {"--log-level", "*:warning"});
  args.insert(args.end(), config.extra.begin(), config.extra.end());
  return args;
}

Eal::Eal(const Config& config) {
  cpu_set_t affinity;
  if (sched_getaffinity(0, sizeof affinity, &affinity) != 0) CPU_ZERO(&affinity);
  const unsigned free_mib = free_hugepages_mib();
  if (config.memory == Config::Memory::hugepages && free_mib < wanted_hugepages(config)) {
    throw StartError("not enough hugepages: " + std::to_string(free_mib) + " MiB are free, " +
                     std::to_string(wanted_hugepages(config)) +
                     " are needed; `sysctl vm.nr_hugepages=N`, or start without them");
  }
  const std::vector<std::string> args =
      arguments(config, free_mib, half_the_memory_mib(), cpu_list(affinity));
  hugepages_ = use_hugepages(config, free_mib);
  pci_ = !given(args, {"--no-pci"});

  // Drivers' messages become part of our errors; nothing of theirs is printed.
  cookie_io_functions_t to_us{};
  to_us.write = [](void* self, const char* text, std::size_t n) {
    static_cast<Eal*>(self)->log(std::string(text, n));
    return static_cast<ssize_t>(n);
  };
  stream_ = fopencookie(this, "w", to_us);
  if (stream_ != nullptr) {
    setvbuf(stream_, nullptr, _IOLBF, 1024);
    rte_openlog_stream(stream_);
  }

  // af_xdp's libraries talk much about what they try first.
  libbpf_set_print(nullptr);
  libxdp_set_print(nullptr);

  const std::set<int> before = threads();
  std::vector<char*> argv;
  for (const std::string& a : args) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  int started = 0;
  {
    const NoRuntimeDirectory none;
    started = rte_eal_init(static_cast<int>(argv.size()) - 1, argv.data());
  }
  if (started < 0) {
    std::string why = rte_strerror(rte_errno);
    for (const std::string& line : take_log()) why += "; " + line;
    rte_openlog_stream(nullptr);
    if (stream_ != nullptr) std::fclose(stream_);
    throw StartError(
        "DPDK does not start: " + why +
        (hugepages_ ? "; fewer hugepages may be free than it takes: try without" : ""));
  }
  if (pci_) RemovalWatch::begin();
  // --lcores has left them unpinned, unless the caller gave his own.
  if (CPU_COUNT(&affinity) > 0) {
    sched_setaffinity(0, sizeof affinity, &affinity);
    for (int tid : threads()) {
      if (!before.contains(tid)) sched_setaffinity(tid, sizeof affinity, &affinity);
    }
  }
}

Eal::~Eal() {
  if (pci_) RemovalWatch::end();
  rte_eal_cleanup();
  rte_openlog_stream(nullptr);
  if (stream_ != nullptr) std::fclose(stream_);
}

void Eal::log(std::string text) {
  constexpr std::size_t kLines = 16;
  const std::lock_guard lock(log_mutex_);
  partial_ += text;
  for (std::size_t end; (end = partial_.find('\n')) != std::string::npos;
       partial_.erase(0, end + 1)) {
    if (end > 0) log_.push_back(partial_.substr(0, end));
    if (log_.size() > kLines) log_.pop_front();
  }
}

std::vector<std::string> Eal::take_log() {
  const std::lock_guard lock(log_mutex_);
  std::vector<std::string> lines(log_.begin(), log_.end());
  log_.clear();
  return lines;
}

}  // namespace frond::dpdk
