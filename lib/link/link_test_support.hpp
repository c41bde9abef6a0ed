// SPDX-License-Identifier: BSD-3-Clause
// For this folder's tests: packets with numbers, sent from one end and taken from the other.
#pragma once

#include <cstdint>
#include <vector>

#include "link/wire.hpp"

namespace frond::link {

inline void send(Port& port, PacketPool& pool, std::uint64_t id, Time departure,
                 std::uint32_t bytes = 60, std::uint32_t elided = 0) {
  Packet* packet = pool.make(std::vector<std::uint8_t>(bytes));
  packet->meta().id = id;
  packet->meta().elided = elided;
  packet->meta().time = departure;
  packet->meta().egress = 3;  // must not be seen by the receiver
  Batch batch;
  batch.push(packet);
  port.transmit(departure, batch);
}

struct Arrival {
  std::uint64_t id;
  std::int64_t time;
  bool operator==(const Arrival&) const = default;
};

// All that has arrived by now; frees it.
inline std::vector<Arrival> receive(Port& port, Time now) {
  std::vector<Arrival> all;
  Batch batch;
  while (port.receive(now, batch) != 0) {
    for (const Packet* p : batch) all.push_back({p->meta().id, p->meta().time.ns()});
    batch.free_all();
  }
  return all;
}

}  // namespace frond::link
