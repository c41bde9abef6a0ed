// SPDX-License-Identifier: BSD-3-Clause
// CaptureSink: who wants to see the frames of a device. Called by the device's owner; must not
// block: a sink that is full drops and counts.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/time.hpp"
#include "packet/packet.hpp"

namespace frond {

class CaptureSink {
 public:
  enum class Direction : std::uint8_t { in, out, drop };
  // comment: "" or the drop's name. port: of the device; kNoPort for a frame it made and dropped.
  virtual void frame(Time time, std::uint16_t port, Direction direction, const Packet& packet,
                     std::string_view comment) = 0;

 protected:
  ~CaptureSink() = default;
};

}  // namespace frond
