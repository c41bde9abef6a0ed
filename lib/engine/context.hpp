// SPDX-License-Identifier: BSD-3-Clause
// Context: all that a device is told when it is stepped. Time and chance come from here only.
#pragma once

#include <vector>

#include "base/rng.hpp"
#include "base/time.hpp"
#include "packet/pool.hpp"

namespace frond {

class HopTrace;

struct Context {
  Time now;
  Rng& rng;                 // the device's own
  PacketPool& pool;
  HopTrace* hops = nullptr; // nobody looks
  // Packets that slow paths send: meta().egress names the port, the frame is complete. The device
  // queues them after the batch.
  std::vector<Packet*>* out = nullptr;
  unsigned work = 0;        // packets handled in this step: the idle policy looks at it

  void send(Packet* packet, std::uint16_t egress) {
    packet->meta().egress = egress;
    packet->meta().time = now;
    packet->meta().flags |= PacketMeta::kControl;
    out->push_back(packet);
  }
};

}  // namespace frond
