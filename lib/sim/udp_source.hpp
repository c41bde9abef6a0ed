// SPDX-License-Identifier: BSD-3-Clause
// UdpSource: one flow of equal datagrams at a constant rate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/address.hpp"
#include "base/rate.hpp"
#include "engine/serialiser.hpp"
#include "packet/pool.hpp"
#include "wire/checksum.hpp"

namespace frond::sim {

struct UdpFlow {
  std::uint32_t id = 0;  // unique in the World: sinks tell flows by it
  IpAddress dst;
  std::uint16_t src_port = 49152;
  std::uint16_t dst_port = 9;  // discard (RFC 863)
  Rate rate = Rate::gbps(1);   // of the line, preamble and gap included: the line's rate fills it
  std::uint32_t frame = 1518;  // bytes with FCS, as RFC 2544 counts
  Time start;                  // of the first datagram; when that has passed: at once
  Time stop = Time::max();     // none is begun at or after it
  std::uint64_t count = 0;     // datagrams; 0: no limit
  std::uint8_t dscp = 0;
  bool elide = true;  // leave the zeros after the probe out of memory
};

class UdpSource {
 public:
  // Throws StartError when the frame cannot hold headers and probe, or is longer than IP allows.
  UdpSource(const UdpFlow& flow, const MacAddress& mac, const MacAddress& gateway,
            const IpAddress& src);

  const UdpFlow& flow() const { return flow_; }
  std::uint64_t sent() const { return sent_; }
  std::uint64_t octets() const { return sent_ * flow_.frame; }

  void begin(Time now) { due_ = std::max(flow_.start, now); }
  void end() { ended_ = true; }
  // When the next datagram is due; max: there is none.
  Time due() const {
    const bool done = ended_ || (flow_.count != 0 && sent_ >= flow_.count) || due_ >= flow_.stop;
    return done ? Time::max() : due_;
  }
  // The datagram that is due, its first bit leaving at `at`. nullptr: no buffer; the datagram
  // counts as sent, so it will be missing.
  Packet* make(PacketPool& pool, Time at);

 private:
  UdpFlow flow_;
  std::vector<std::uint8_t> frame_;  // all that is present, the probe empty
  std::uint32_t elided_ = 0;
  std::uint32_t udp_ = 0;  // offset of its header
  wire::Sum sum_ = 0;      // of the datagram with an empty probe
  Serialiser pace_;        // as if the flow had a line of its own
  Time due_;
  std::uint64_t sent_ = 0;
  bool ended_ = false;
};

}  // namespace frond::sim
