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

#include "dpdk/eal.hpp"
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
    std::string name;            // namespaces are name-HOST
    std::vector<unsigned> cpus;  // a worker pinned to each; empty: one worker, not pinned
    IdlePolicy idle = IdlePolicy::adaptive;
    unsigned packets = 32767;  // in the pool
    std::string only;          // this node and no host; "": all
    std::string directory;     // for sockets between our own ports
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
  Emulation(const Options& options, dpdk::Eal& eal);
  ~Emulation();  // the difference to nothing

  // Carries out the difference. When something cannot be done the rest of the difference is not
  // tried; the caller applies the old plan again, or ends. say: what is being done, for people.
  // Any thread; one at a time.
  using Say = std::function<void(const std::string&)>;
  Status apply(
      std::shared_ptr<const Plan> plan, const Say& say = [](const std::string&) {});

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
  // Of what leaves that end.
  Status impair(topology::End end, const link::Impairment& impairment);
  bool admin_up(topology::End end) const;

  // ports: of the switch. While held.
  void add_capture(SwitchUnit& unit, std::shared_ptr<CaptureRing> ring, PortSet ports,
                   bool drops) const;
  void remove_capture(SwitchUnit& unit, const CaptureRing* ring) const;
  Time now() const { return clock_.now(); }
  const Clock& clock() const { return clock_; }
  PacketPool& pool() const { return pool_; }
  std::uint64_t busy_ns() const;
  unsigned workers() const { return static_cast<unsigned>(workers_.size()); }
  Time lost() const;
  std::string host_namespace(const std::string& host) const { return options_.name + "-" + host; }

 private:
  struct RunningWorker;
  struct RunningSwitch;
  struct RunningLink;
  struct RunningHost;

  bool ours(const Plan& plan, std::uint32_t node) const;
  RunningSwitch* running(const std::string& node) const;
  RunningLink* link_at(topology::End end) const;
  Status remove_links(const Plan& next);
  Status remove_nodes(const Plan& next);
  Status add_switches(const Plan& next, const Say& say);
  Status add_hosts(const Plan& next, const Say& say);
  Status update_switches(const Plan& next);
  Status update_links(const Plan& next);
  Status add_links(const Plan& next, const Say& say);
  Status add_link(const Plan& next, std::uint32_t link);
  Status add_outside(const Plan& next, topology::End end);
  Status join_switches(const Plan& next, RunningLink& running);
  Status join_host(const Plan& next, RunningLink& running, unsigned at_switch);
  Status configure_host(const Plan& next, topology::End host);
  Status need_switch_namespace();
  void plug(const Plan& next, RunningLink& running, unsigned side, std::unique_ptr<Port> io);
  void attach(const Plan& next, topology::End end, Port* io);
  RunningWorker& running_worker(const std::string& node) const;
  void detach(const std::string& node, const std::string& port);
  void install(const std::shared_ptr<const Plan>& plan, const std::vector<SwitchChange>& changes);
  void port_event(const std::string& node, const PortEvent& event);

  Options options_;
  dpdk::Eal& eal_;
  Clock clock_;
  mutable PacketPool pool_;
  netdev::LinkMonitor monitor_;
  netdev::NamespaceDirectory namespaces_;
  mutable std::shared_mutex structure_;
  std::shared_ptr<const Plan> plan_;
  std::optional<Controller> controller_;
  std::vector<std::unique_ptr<RunningWorker>> workers_;
  unsigned next_worker_ = 0;
  std::uint32_t next_id_ = 0;
  std::optional<netdev::Namespace> switch_namespace_;  // of veth ends, when there are any
  std::map<std::string, std::unique_ptr<RunningHost>> hosts_;
  std::map<std::string, std::unique_ptr<RunningLink>> links_;  // by link name
  std::map<std::string, std::unique_ptr<RunningSwitch>> switches_;
  std::function<void(const SeenEvent&)> on_event_;
  ControlLoop control_;  // last: it stops before what it uses goes
};

}  // namespace frond::fabric
