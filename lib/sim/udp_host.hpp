// SPDX-License-Identifier: BSD-3-Clause
// UdpHost: a host with one port. It sends its flows, paced, over its own line; measures what
// arrives; and answers what a host's stack answers (ARP, neighbour solicitations, pings).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/device.hpp"
#include "engine/port.hpp"
#include "engine/serialiser.hpp"
#include "sim/flow_meter.hpp"
#include "sim/udp_source.hpp"
#include "telemetry/counter.hpp"

namespace frond::sim {

class UdpHost final : public Device {
 public:
  struct Config {
    MacAddress mac;
    MacAddress gateway;                // where all that it sends goes
    std::vector<IpAddress> addresses;  // the first of each family is the source of flows
    Rate rate = Rate::gbps(100);
  };

  enum Drop : std::uint8_t {
    host_other_mac,
    host_malformed,
    host_other_ip,
    host_bad_checksum,
    host_unhandled,
    host_icmp_error,
    host_reply_overflow,
    host_no_buffer,
    host_port_full,
    kDrops
  };
  static constexpr std::array<DropInfo, kDrops> kDropInfo{{
      {"host_other_mac", "the destination MAC address is not this host's"},
      {"host_malformed", "a length in the frame's headers does not fit the frame"},
      {"host_other_ip", "the destination IP address is not this host's"},
      {"host_bad_checksum", "an IP, UDP or ICMP checksum is wrong: the frame was damaged"},
      {"host_unhandled", "nothing here wants such a packet"},
      {"host_icmp_error", "an ICMP error about a packet that this host had sent"},
      {"host_reply_overflow", "too many answers were waiting for the line"},
      {"host_no_buffer", "the pool was empty when a datagram was due"},
      {"host_port_full", "the port refused a packet when the line was free"},
  }};

  UdpHost(std::string name, std::uint32_t id, std::uint64_t seed, Config config);
  ~UdpHost() override;

  // The port must outlive the host's steps.
  void attach(Port* port) {
    port_ = port;
    port != nullptr ? attached_.set(0) : attached_.clear(0);
  }
  // Before the first step, or from an inbox message. Throws StartError when the flow is impossible.
  void add(const UdpFlow& flow);
  // Ends the flow: it sends nothing more and is still reported.
  void stop(std::uint32_t flow);

  Time step(Context& ctx) override;

  const Config& config() const { return config_; }
  // In the order in which they were added, or first seen.
  std::span<const UdpSource> sources() const { return sources_; }
  std::span<const FlowMeter> meters() const { return meters_; }
  std::uint64_t drops(unsigned index) const { return drops_[index].value(); }

  struct Counters {
    Counter in_packets, in_octets, out_packets, out_octets;  // octets with FCS
    Counter replies;
  };
  const Counters& counters() const { return counters_; }

 private:
  struct Due {
    Time time;
    std::uint32_t source;
    bool operator<(const Due& o) const {  // for a heap whose top is the earliest
      return time != o.time ? time > o.time : source > o.source;
    }
  };

  void begin_flows(Time now);
  void receive(Context& ctx);
  void handle(Context& ctx, Packet* packet);
  void handle_ipv4(Context& ctx, Packet* packet);
  void handle_ipv6(Context& ctx, Packet* packet);
  void handle_icmp(Context& ctx, Packet* packet);
  void handle_icmp6(Context& ctx, Packet* packet, std::uint32_t length);
  void deliver(Context& ctx, Packet* packet, wire::Sum pseudo, std::uint32_t l4,
               std::uint32_t available);
  FlowMeter& meter(std::uint32_t flow);
  void reply(Context& ctx, Packet* packet);
  void drop(Context& ctx, Packet* packet, Drop reason);

  void transmit(Context& ctx);
  void emit(Context& ctx, Batch& batch);
  void put_on_line(Context& ctx, Packet* packet, Time ready, Batch& batch);
  Time next() const;

  static constexpr unsigned kMaxReplies = 64;

  const Config config_;
  std::vector<IpAddress> addresses_;  // config's and the link-local one
  Port* port_ = nullptr;
  Serialiser line_;
  std::vector<UdpSource> sources_;
  std::size_t begun_ = 0;  // sources before this one are in due_, or are done
  std::vector<Due> due_;   // a heap
  std::vector<Packet*> replies_;
  std::vector<FlowMeter> meters_;
  std::unordered_map<std::uint32_t, std::uint32_t> meter_of_;  // flow -> index; never iterated
  std::uint32_t last_meter_ = 0;
  std::uint64_t next_packet_ = 0;
  Counters counters_;
  std::array<Counter, kDrops> drops_;
};

}  // namespace frond::sim
