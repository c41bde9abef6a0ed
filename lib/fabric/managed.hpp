// SPDX-License-Identifier: BSD-3-Clause
// Managed: an Emulation as management sees it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "control/config/fabric_config.hpp"
#include "control/management/event_log.hpp"
#include "control/management/fabric.hpp"
#include "fabric/emulation.hpp"

namespace frond::fabric {

class Managed final : public management::Fabric {
 public:
  // hosts_file: where the hosts' names and addresses are kept up to date; "": nowhere. stop: what a
  // request to shut down calls, from any thread.
  Managed(Emulation& emulation, const config::FabricConfig& config, std::string file,
          std::string hosts_file, std::function<void()> stop);
  ~Managed() override;

  management::FabricInfo info() const override;
  std::vector<management::Node> nodes() const override;
  std::vector<management::Link> links() const override;
  std::vector<management::Neighbor> neighbors(const std::string& node) const override;
  std::vector<management::Event> events(std::uint64_t after, Time timeout) const override {
    return log_.read(after, timeout);
  }
  std::uint64_t last_event() const override { return log_.last(); }
  Status set_link_admin(const std::string& node, const std::string& port, bool up) override;
  Status set_impairment(const std::string& node, const std::string& port,
                        const management::Impairment& impairment) override;
  Result<management::ApplyReport> apply(const std::string& yaml, const std::string& file,
                                        bool dry_run) override;
  Result<management::TraceReport> trace(const management::TraceRequest& request) const override;
  Result<std::unique_ptr<management::Capture>> capture(
      const management::CaptureRequest& request) override;
  Result<std::string> graph(const std::string& format) const override;
  void shutdown() override { stop_(); }

  // The wall clock at a time of the fabric's clock.
  management::UnixTime unix_time(Time time) const { return epoch_ + time; }

 private:
  Result<topology::End> find_end(const std::string& node, const std::string& port) const;
  void add_switch(std::uint32_t node, std::vector<management::Node>& all) const;
  void add_host(std::uint32_t node, std::vector<management::Node>& all) const;
  management::Interface interface_of(const SwitchUnit& unit, topology::End end) const;
  void write_hosts() const;
  void post(std::string kind, std::string node, std::string port, std::string text);

  Emulation& emulation_;
  config::FabricConfig config_;
  const std::string file_;
  const std::string hosts_file_;
  const std::function<void()> stop_;
  const management::UnixTime epoch_;  // wall clock at the fabric clock's zero
  const Time started_;
  management::EventLog log_;
  std::mutex apply_mutex_;                   // one apply at a time; config_ is its
  mutable std::mutex mutex_;                 // of what follows
  std::map<std::string, Time> last_change_;  // "leaf1:p3"
};

}  // namespace frond::fabric
