// SPDX-License-Identifier: BSD-3-Clause
// Port: one end of a link, as a device sees it. Never blocks.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/time.hpp"
#include "engine/verdict.hpp"
#include "packet/batch.hpp"
#include "telemetry/counter.hpp"

namespace frond {

class Port {
 public:
  virtual ~Port() = default;

  // Appends what has arrived by `now`, at most batch.room(), and returns how many. Each packet's
  // metadata is reset and its time is its ideal arrival (now, where the medium has no clock).
  virtual unsigned receive(Time now, Batch& batch) = 0;

  // Takes packets from the front of the batch, owns those, removes them from it, and returns how
  // many. meta().time is the ideal departure of the last bit. What is refused stays in the batch
  // and is the device's to count (port_tx_full) and free.
  virtual unsigned transmit(Time now, Batch& batch) = 0;

  // Carrier, as the medium tells it.
  virtual bool up() const = 0;
  // What keeps it from its medium, as a sentence; "" while nothing does. Any thread.
  virtual std::string why_closed() const { return {}; }

  // What the medium itself had to drop or refuse (truncated, too long for the driver, ...).
  virtual std::span<const DropInfo> drop_info() const { return {}; }
  virtual std::uint64_t drops(unsigned index) const { return index * 0; }
};

}  // namespace frond
