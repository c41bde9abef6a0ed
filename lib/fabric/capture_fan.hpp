// SPDX-License-Identifier: BSD-3-Clause
// CaptureFan: the captures of one switch, each with the ports that it wants. On the switch's owner.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/capture_ring.hpp"
#include "engine/port_set.hpp"

namespace frond::fabric {

class CaptureFan final : public CaptureSink {
 public:
  void add(std::shared_ptr<CaptureRing> ring, PortSet ports, bool drops) {
    listeners_.push_back({std::move(ring), std::move(ports), drops});
  }
  void remove(const CaptureRing* ring) {
    std::erase_if(listeners_, [&](const Listener& l) { return l.ring.get() == ring; });
  }
  bool empty() const { return listeners_.empty(); }
  PortSet ports(unsigned count) const {
    PortSet all(count);
    for (const Listener& l : listeners_) all.add(l.ports);
    return all;
  }

  void frame(Time time, std::uint16_t port, Direction direction, const Packet& packet,
             std::string_view comment) override {
    for (const Listener& l : listeners_) {
      if (port >= l.ports.ports() || !l.ports.test(port)) continue;
      if (direction == Direction::drop && !l.drops) continue;
      l.ring->frame(time, port, direction, packet, comment);
    }
  }

 private:
  struct Listener {
    std::shared_ptr<CaptureRing> ring;
    PortSet ports;
    bool drops;
  };
  std::vector<Listener> listeners_;
};

}  // namespace frond::fabric
