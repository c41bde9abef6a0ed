// SPDX-License-Identifier: BSD-3-Clause
// Neighbors: ARP (RFC 826, RFC 5227) and neighbour discovery (RFC 4861) for the interfaces of one
// switch. It answers for the interface's own addresses, resolves next hops, keeps packets until
// that is done, and installs what it learns into the router.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "base/fields.hpp"
#include "engine/context.hpp"
#include "engine/timer_wheel.hpp"
#include "features/l3/router.hpp"
#include "features/neighbor/cache.hpp"
#include "features/neighbor/wait_queue.hpp"
#include "features/slow_path.hpp"
#include "wire/nd.hpp"

namespace frond::neighbor {

struct Config {
  std::uint32_t limit = 4096;
  std::uint32_t port_limit = 1024;
  std::uint32_t unresolved_limit = 128;
  std::uint32_t queue_limit = 16;
  std::uint32_t queue_total = 512;
  std::uint32_t attempts = 3;
  Time retry = Time::ms(250);
  Time failed_hold = Time::s(1);
  Time reachable_time = Time::s(30);
  Time probe_delay = Time::s(5);
  std::uint32_t announcements = 2;

  template <class F> static void fields(F& f) {
    f("limit", &Config::limit, "neighbours", "Neighbours of the whole switch", range(1, 65536));
    f("port_limit", &Config::port_limit, "neighbours", "Neighbours at one port", range(1, 65536));
    f("unresolved_limit", &Config::unresolved_limit, "neighbours",
      "Neighbours at one port that nobody has answered for yet", range(1, 65536));
    f("queue_limit", &Config::queue_limit, "packets",
      "Packets that wait for one neighbour; the oldest gives way", range(1, 1024));
    f("queue_total", &Config::queue_total, "packets",
      "Packets that wait for neighbours in the whole switch", range(1, 65536));
    f("attempts", &Config::attempts, "solicitations", "Asked before a neighbour is given up",
      range(1, 10));
    f("retry", &Config::retry, "", "Wait for the first answer; doubled with each attempt",
      range(Time::ms(1), Time::s(60)));
    f("failed_hold", &Config::failed_hold, "",
      "How long a neighbour that did not answer is not asked again",
      range(Time::ms(1), Time::s(60)));
    f("reachable_time", &Config::reachable_time, "",
      "How long a confirmation lasts; each time drawn between half and one and a half of it",
      range(Time::ms(10), Time::s(86400)));
    f("probe_delay", &Config::probe_delay, "",
      "How long an unconfirmed neighbour is used before it is probed",
      range(Time::ms(1), Time::s(3600)));
    f("announcements", &Config::announcements, "announcements",
      "Sent for each own address when a port comes up, a second apart", range(0, 10));
  }
};

// RFC 2644: the all-zeros and all-ones addresses of a link that has them (RFC 3021: not a /31).
inline bool is_broadcast(const IpPrefix& link, const IpAddress& address) {
  if (address.v6 || link.address.v6 || link.length > 30 || !link.contains(address)) return false;
  const std::uint32_t host = 0xffffffffU >> link.length;
  return (address.v4_address.value & host) == 0 || (address.v4_address.value & host) == host;
}

class Neighbors {
 public:
  static constexpr std::string_view kName = "neighbor";
  enum Drop : std::uint8_t {
    arp_malformed,
    arp_not_for_us,
    nd_malformed,
    nd_checksum,
    nd_hop_limit,
    nd_not_for_us,
    nd_ignored,
    neighbor_unsolicited,
    neighbor_off_link,
    neighbor_conflict,
    neighbor_static,
    neighbor_table_full,
    neighbor_queue_full,
    neighbor_unresolved,
    neighbor_broadcast,
    neighbor_port_down,
    neighbor_no_buffer,
    kDropCount,
  };
  static const std::array<DropInfo, kDropCount> kDrops;

  // Tells the sender of a packet that its next hop does not answer. The packet stays ours.
  using Unreachable = std::function<void(Context&, const Packet&)>;

  // The router must outlive this. seed: of the device.
  Neighbors(const Config& config, unsigned ports, std::uint64_t seed, l3::Router& router,
            Unreachable unreachable);
  ~Neighbors();
  Neighbors(const Neighbors&) = delete;
  Neighbors& operator=(const Neighbors&) = delete;

  // --- Packets; all are owned from here on ---
  // An ARP frame; an ICMPv6 message of types 133 to 137. Parsed: l3 and l4 are set.
  void receive_arp(Context& ctx, Packet* packet);
  void receive_nd(Context& ctx, Packet* packet);
  // A transit packet that a stage punted with kPuntNoNeighbor: its meta().next_hop is an adjacency,
  // or connected. Sent, rewritten, as soon as that has a MAC address.
  void resolve(Context& ctx, Packet* packet);
  // A packet of our own, with kFrameRoom bytes for the Ethernet header in front of its IP header.
  void send(Context& ctx, Packet* packet, std::uint16_t port, const IpAddress& next_hop);

  // After Router::set_port_up.
  void port_changed(Context& ctx, std::uint16_t port, bool up);
  // Does what is due; returns when it next wants to be called.
  Time timers(Context& ctx);

  struct Known {
    std::uint16_t port;
    IpAddress address;
    Reach state;
    MacAddress mac;
  };
  std::vector<Known> table();  // owner's thread
  std::uint32_t waiting() const { return queue_.size(); }

  // Any thread.
  std::uint64_t drop_count(std::uint16_t port, unsigned index) const {
    return drops_.value(port, index);
  }

 private:
  struct PortState {
    bool up = false;
    std::uint32_t announced = 0;
    TimerWheel::Timer announce;
    Time defend_after;  // not before
  };
  // What a received message says of its sender.
  struct Heard {
    MacAddress mac;
    bool confirms;   // it answers what we asked
    bool overrides;  // it may change a MAC address that is known
    bool creates;    // it wants something of us: so we will talk to it
  };
  enum class Update : std::uint8_t { done, unsolicited, is_static, full };

  // neighbor.cpp
  Update update(Context& ctx, std::uint16_t port, const IpAddress& address, const Heard& heard);
  void confirm(Entry& entry, Context& ctx, bool confirmed);
  void forget(Entry& entry);
  bool ours(std::uint16_t port, const IpAddress& address) const;
  bool on_link(std::uint16_t port, const IpAddress& address) const;
  void hold(Context& ctx, Packet* packet, std::uint16_t port, const IpAddress& next_hop);
  void wait(Context& ctx, Entry& entry, Packet* packet);
  void release(Context& ctx, Entry& entry);
  void transmit(Context& ctx, Packet* packet, std::uint16_t port, const MacAddress& mac);
  void drop_unresolved(Context& ctx, Packet* packet);
  void run(Context& ctx, Entry& entry);
  void solicit(Context& ctx, Entry& entry);
  void announce(Context& ctx, std::uint16_t port);
  void announce_one(Context& ctx, std::uint16_t port, const IpAddress& address);
  void defend(Context& ctx, std::uint16_t port, const IpAddress& address);
  // What becomes of a message about `update`.
  void finish(Context& ctx, Packet* packet, Update update);

  // arp.cpp
  void solicit_arp(Context& ctx, const Entry& entry, bool unicast);
  void send_arp(Context& ctx, std::uint16_t port, std::uint16_t operation, Ip4 sender,
                const MacAddress& target_mac, Ip4 target, const MacAddress& to);

  // nd.cpp
  void receive_solicitation(Context& ctx, Packet* packet, const wire::NdOptions& options);
  void receive_advertisement(Context& ctx, Packet* packet, const wire::NdOptions& options);
  void solicit_nd(Context& ctx, const Entry& entry, bool unicast);
  void announce_nd(Context& ctx, std::uint16_t port, const Ip6& address);
  void advertise(Context& ctx, std::uint16_t port, const Ip6& target, const Ip6& to,
                 const MacAddress& mac, bool solicited);
  void send_nd(Context& ctx, Packet* packet, std::uint16_t port, const MacAddress& to);

  Config config_;
  l3::Router& router_;
  Unreachable unreachable_;
  TimerWheel wheel_;
  Cache cache_;
  WaitQueue queue_;
  std::vector<PortState> ports_;
  SlowDrops<kDropCount> drops_;
};

}  // namespace frond::neighbor
