// SPDX-License-Identifier: BSD-3-Clause
// Eal: DPDK's environment, started so that it works on any machine, beside others, and leaves
// nothing behind. One a process, made before any packet pool or ethdev, destroyed after them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

namespace frond::dpdk {

class Eal {
 public:
  struct Config {
    enum class Memory : std::uint8_t {
      automatic,  // hugepages where enough are free
      hugepages,  // or don't start
      ordinary,   // no hugepages
    };
    Memory memory = Memory::automatic;
    // What the process will need, in MiB. Ordinary memory: 0 means half of the machine's, which
    // costs nothing until it is touched. Hugepages are taken as they are needed; this many must be
    // free at the start (0: 256).
    unsigned memory_mib = 0;
    std::vector<std::string> pci;    // addresses of the devices we may use; empty: no PCI at all
    std::vector<std::string> extra;  // further EAL arguments, as DPDK spells them
  };

  // Throws StartError, with a sentence that says what to do. The calling thread and DPDK's control
  // threads keep the affinity that the process had; rte_eal_init would pin them to one CPU.
  explicit Eal(const Config& config);
  ~Eal();
  Eal(const Eal&) = delete;
  Eal& operator=(const Eal&) = delete;

  bool hugepages() const { return hugepages_; }
  bool pci() const { return pci_; }

  // DPDK's device list is not safe against two who change it at the same time.
  std::mutex& device_mutex() { return device_mutex_; }

  // What DPDK's drivers had to say since the last call, errors and warnings; they don't print.
  std::vector<std::string> take_log();

  // The arguments that would be given to rte_eal_init (tests, `doctor`). free_mib: free hugepages.
  static std::vector<std::string> arguments(const Config& config, unsigned free_mib,
                                            unsigned memory_mib, const std::string& cpus);
  static unsigned free_hugepages_mib();

 private:
  void log(std::string line);

  bool hugepages_ = false;
  bool pci_ = false;
  std::mutex device_mutex_;
  std::FILE* stream_ = nullptr;  // DPDK logs into it
  std::mutex log_mutex_;
  std::deque<std::string> log_;
  std::string partial_;  // a line that is not complete yet
};

}  // namespace frond::dpdk
