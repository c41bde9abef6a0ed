// SPDX-License-Identifier: BSD-3-Clause
// HopTrace: a hash over every hop of every packet. Same seed, same hash: on any compiler, build
// type or machine. The drop's name is hashed, not its number, so declaring another changes nothing.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/rng.hpp"
#include "packet/packet.hpp"

namespace frond {

class HopTrace {
 public:
  // verdict: "" for a packet that left, else the drop's name.
  void record(Time time, std::uint32_t device, std::uint16_t port, const Packet& packet,
              std::string_view verdict) {
    hash_ = mix64(hash_ ^ static_cast<std::uint64_t>(time.ns()));
    hash_ = mix64(hash_ + (std::uint64_t{device} << 16 | port));
    hash_ = mix64(hash_ ^ packet.meta().id);
    hash_ = mix64(hash_ + packet.frame_length());
    if (!verdict.empty()) hash_ = mix64(hash_ ^ hash_name(verdict));
    ++hops_;
  }
  std::uint64_t hash() const { return hash_; }
  std::uint64_t hops() const { return hops_; }

 private:
  std::uint64_t hash_ = 0x66726f6e64ULL;
  std::uint64_t hops_ = 0;
};

}  // namespace frond
