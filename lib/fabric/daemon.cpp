// SPDX-License-Identifier: BSD-3-Clause
#include "fabric/daemon.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <utility>

#include "control/config/load.hpp"
#include "control/management/server.hpp"
#include "dpdk/eal.hpp"
#include "fabric/emulation.hpp"
#include "fabric/managed.hpp"

namespace frond::fabric {

namespace {

// To whoever started us, who may be gone.
class Starter {
 public:
  explicit Starter(int fd) : fd_(fd) {}
  void progress(const std::string& text) const { line("progress " + text); }
  void ready() {
    line("ready");
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  int error(const std::string& text) const {
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      line("error " + text.substr(at, end - at));
      at = end + 1;
    }
    fmt::print(stderr, "{}\n", text);
    return 1;
  }

 private:
  void line(std::string text) const {
    text += '\n';
    if (fd_ >= 0) [[maybe_unused]]
      const ssize_t n = write(fd_, text.data(), text.size());
  }
  int fd_;
};

// Signals as something to read; blocked before any thread starts, so that none takes them.
class Signals {
 public:
  Signals() {
    sigemptyset(&set_);
    for (int s : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set_, s);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    signal(SIGPIPE, SIG_IGN);
    fd_ = signalfd(-1, &set_, SFD_CLOEXEC);
  }
  ~Signals() { close(fd_); }
  void wait() const {
    signalfd_siginfo info;
    while (read(fd_, &info, sizeof info) < 0 && errno == EINTR) {
    }
  }
  static void stop() { kill(getpid(), SIGTERM); }

 private:
  sigset_t set_;
  int fd_;
};

std::vector<std::string> pci_addresses(const Plan& plan, const std::string& only) {
  std::vector<std::string> all;
  for (const auto& [end, device] : plan.devices) {
    if (device.driver != dpdk::Driver::pci) continue;
    if (only.empty() || plan.topology.nodes[end.node].name == only) all.push_back(device.target);
  }
  return all;
}

}  // namespace

int run_daemon(const DaemonOptions& options) {
  const Signals signals;
  Starter starter(options.ready_fd);
  config::Loaded loaded = config::load_config(options.file);
  if (!loaded.config) return starter.error(loaded.diagnostics.text());
  config::FabricConfig config = std::move(*loaded.config);
  if (!options.name.empty()) config.name = options.name;
  try {
    const auto plan = std::make_shared<const Plan>(make_plan(config));
    if (!options.only.empty()) {
      const std::uint32_t node = plan->topology.find(options.only);
      if (node == topology::kNone || !plan->topology.nodes[node].is_switch()) {
        return starter.error(options.file + " has no switch '" + options.only + "'");
      }
    }
    starter.progress("starting DPDK");
    dpdk::Eal eal({.pci = pci_addresses(*plan, options.only), .extra = options.eal});
    Emulation emulation(
        {.name = config.name,
         .cpus = {config.cpus.begin(), config.cpus.end()},
         .idle = config.idle == config::Idle::busy ? IdlePolicy::busy : IdlePolicy::adaptive,
         .only = options.only,
         .directory = options.state_dir},
        eal);
    const Status applied =
        emulation.apply(plan, [&](const std::string& what) { starter.progress(what); });
    if (!applied.ok()) return starter.error(applied.error().message);
    Managed managed(emulation, config, options.file,
                    options.state_dir.empty() ? "" : options.state_dir + "/hosts",
                    [] { Signals::stop(); });
    std::unique_ptr<management::Server> server;
    if (!options.state_dir.empty()) {
      auto started =
          management::Server::start(managed, {.socket = options.state_dir + "/mgmt.sock"});
      if (!started.ok()) return starter.error(started.error().message);
      server = std::move(*started);
    }
    starter.ready();
    signals.wait();
    server.reset();
    return 0;
  } catch (const StartError& e) {
    return starter.error(e.what());
  }
}

}  // namespace frond::fabric
