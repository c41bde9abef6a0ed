// SPDX-License-Identifier: BSD-3-Clause
// Emulation: a Plan against the wall clock: switches on workers, wires between them, hosts as
// network namespaces with a tap each.
//
// There is one way to change what runs: apply(plan), which carries out the difference to what is
// there. Start-up is the difference from nothing, shut-down the difference to nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "engine/capture_ring.hpp"
#include "engine/clock.hpp"
#include "engine/worker.hpp"
#include "fabric/capture_fan.hpp"
#include "fabric/control_loop.hpp"
#include "fabric/controller.hpp"
#include "fabric/plan.hpp"
#include "link/impaired_port.hpp"
#include "link/wire.hpp"
#include "netdev/link_monitor.hpp"
#include "netdev/namespace.hpp"
#include "netdev/tap_port.hpp"

namespace frond::fabric {

class Emulation {
 public:
  struct Options {
    std::string name;                 // namespaces are name-HOST
    std::vector<unsigned> cpus;       // a worker pinned to each; empty: one worker, not pinned
    IdlePolicy idle = IdlePolicy::adaptive;
    unsigned packets = 32767;         // in the pool
  };

  // What a port noticed; told on the control loop.
  struct SeenEvent {
    Time time;
    std::string node, port;
    bool up;
    std::string mechanism;
    Time detection;
    Time converged;  // until the last switch had taken its new routes
  };

  // After EAL. Nothing runs yet. Throws StartError.
  explicit Emulation(const Options& options);
  ~Emulation();  // the difference to nothing

  // Carries out the difference. When something cannot be done the rest of the difference is not
  // tried; the caller applies the old plan again, or ends. progress: what is being done, for people.
  Status apply(std::shared_ptr<const Plan> plan,
               const std::function<void(const std::string&)>& progress = {});

  void on_event(std::function<void(const SeenEvent&)> callback) { on_event_ = std::move(callback); }

  // --- Management; any thread ---
  // Keeps what the pointers below lead to from changing while it lives.
  std::shared_lock<std::shared_mutex> hold() const { return std::shared_lock(structure_); }
  const Plan& plan() const { return *plan_; }  // while held
  SwitchUnit* find_switch(const std::string& name) const;
  // Runs f on the switch's worker, within a step, and waits for it. While held.
  void on_switch(SwitchUnit& unit, const std::function<void()>& f) const;

  struct LinkView {
    bool impairable = false;
    link::Impairment from_a, from_b;
    std::uint64_t drops = 0;  // in the medium, both ways
  };
  LinkView look_at_link(std::uint32_t link) const;  // index in the plan's topology; while held
  Status set_admin(topology::End end, bool up);
  Status impair(topology::End end, bool outward, const link::Impairment& impairment);
  bool admin_up(topology::End end) const;

  CaptureFan& captures(SwitchUnit& unit) const;
  Time now() const { return clock_.now(); }
  const Clock& clock() const { return clock_; }
  PacketPool& pool() const { return pool_; }
  std::uint64_t busy_ns() const;
  unsigned workers() const { return static_cast<unsigned>(workers_.size()); }
  Time lost() const;
  std::string host_namespace(const std::string& host) const { return options_.name + "-" + host; }

 private:
  struct RunningSwitch;
  struct RunningLink;
  struct RunningHost;

  static std::shared_ptr<const Plan> empty_plan(const std::string& name);
  RunningSwitch* running(const std::string& node) const;
  RunningLink* link_at(topology::End end) const;
  Status remove_links(const Plan& next);
  Status remove_nodes(const Plan& next);
  Status add_switches(const Plan& next);
  Status add_hosts(const Plan& next, const std::function<void(const std::string&)>& progress);
  Status update_links(const Plan& next);
  Status add_links(const Plan& next);
  Status connect_switches(const Plan& next, std::uint32_t link);
  Status connect_host(const Plan& next, std::uint32_t link, topology::End at_switch,
                      topology::End at_host);
  Status configure_host(const Plan& next, topology::End host, topology::End gateway);
  void attach(const Plan& next, topology::End end, Port* io, bool bfd);
  void detach(const Plan& plan, topology::End end);
  Status install(const std::shared_ptr<const Plan>& plan, std::vector<SwitchChange> changes);
  void port_event(const std::string& node, const PortEvent& event);

  Options options_;
  Clock clock_;
  mutable PacketPool pool_;
  netdev::LinkMonitor monitor_;
  netdev::NamespaceDirectory namespaces_;
  mutable std::shared_mutex structure_;
  std::shared_ptr<const Plan> plan_;
  std::optional<Controller> controller_;
  std::vector<std::unique_ptr<Worker>> workers_;
  unsigned next_worker_ = 0;
  std::map<std::string, std::unique_ptr<RunningHost>> hosts_;
  std::map<std::string, std::unique_ptr<RunningLink>> links_;  // by link name
  std::map<std::string, std::unique_ptr<RunningSwitch>> switches_;
  std::function<void(const SeenEvent&)> on_event_;
  ControlLoop control_;  // last: it stops before what it uses goes
};

}  // namespace frond::fabric
