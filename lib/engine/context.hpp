// SPDX-License-Identifier: BSD-3-Clause
// Context: all that a device is told when it is stepped. Time and chance come from here only.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/rng.hpp"
#include "base/time.hpp"
#include "engine/capture.hpp"
#include "engine/hop_trace.hpp"
#include "packet/pool.hpp"

namespace frond {

struct Context {
  Time now;
  Rng& rng;  // the device's own
  PacketPool& pool;
  HopTrace* hops = nullptr;  // nobody looks

  // The rest is the device's own business while it is stepped.
  std::uint32_t device = 0;
  CaptureSink* capture = nullptr;
  // Packets that slow paths send: meta().egress names the port, the frame is complete. The device
  // queues them after the batch.
  std::vector<Packet*>* out = nullptr;
  unsigned work = 0;  // packets handled in this step: the idle policy looks at it

  void send(Packet* packet, std::uint16_t egress) {
    packet->meta().egress = egress;
    packet->meta().time = now;
    packet->meta().flags |= PacketMeta::kControl;
    out->push_back(packet);
  }

  // The one place where a dropped packet becomes visible. Who drops also counts, and frees.
  void dropped(const Packet& packet, std::string_view reason) {
    if (hops != nullptr) hops->record(now, device, packet.meta().ingress, packet, reason);
    if (capture != nullptr) [[unlikely]] {
      capture->frame(now, packet.meta().ingress, CaptureSink::Direction::drop, packet, reason);
    }
  }
};

}  // namespace frond
