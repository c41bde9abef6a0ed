// SPDX-License-Identifier: BSD-3-Clause
// What an Emulation is made of, for its own files only.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "fabric/emulation.hpp"

namespace frond::fabric {

struct Emulation::RunningWorker {
  RunningWorker(Worker::Config config, const Clock& clock, PacketPool& pool)
      : worker(std::move(config), clock, pool) {}
  netdev::ReadySet ready;  // used by the worker; outlives the ports in it
  Worker worker;
};

struct Emulation::RunningSwitch {
  topology::Role role = topology::Role::leaf;
  RunningWorker* worker = nullptr;
  CaptureFan fan;
  std::unique_ptr<SwitchUnit> unit;
};

struct Emulation::RunningHost {
  netdev::Namespace ns;
};

// A link, or a port that leads out of the process.
struct Emulation::RunningLink {
  struct Side {
    std::string node, port;  // "": nothing of ours is there
    bool at_switch = false;
    bool admin = true;
    std::unique_ptr<link::ImpairedPort> io;  // unless a wire
  };
  std::array<Side, 2> sides;
  std::unique_ptr<link::Wire> wire;
  netdev::TapPort* tap = nullptr;  // within a side's io
  // What it was made from; a change of these makes it anew.
  LinkPlan plan;
  Rate rate;
  Time delay;
  std::uint32_t mtu = 0;
  std::string signature;

  LinkView view() const;
  // Which side is the one at that port: 0, 1.
  unsigned side(const std::string& node, const std::string& port) const {
    return sides[0].node == node && sides[0].port == port ? 0 : 1;
  }
  void impair(unsigned from, const link::Impairment& impairment);
  void set_carrier(Time now);
};

}  // namespace frond::fabric
