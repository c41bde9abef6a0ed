// SPDX-License-Identifier: BSD-3-Clause
// Router: the routing tables of one switch: interfaces, FIBs, ECMP groups and neighbours. The
// stages read it; control, the neighbour feature and BFD change it, all on the switch's worker
// (inbox or slow path), so nothing here is locked or shared.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/address.hpp"
#include "base/result.hpp"
#include "features/ecmp/buckets.hpp"
#include "features/l3/fib.hpp"
#include "features/l3/next_hop.hpp"

namespace frond::l3 {

struct Interface {
  MacAddress mac;
  std::uint32_t mtu = 1500;         // of IP
  std::vector<IpPrefix> addresses;  // our address with the link's length: 10.0.1.0/31
};

struct GroupId {
  std::uint32_t value = 0;
  auto operator<=>(const GroupId&) const = default;
};

// One path of an ECMP group. It carries traffic when its port is up and it is alive.
struct Member {
  std::uint16_t port = 0;
  IpAddress gateway;
  std::uint16_t weight = 1;  // 0 counts as 1
  bool alive = true;         // false: control knows that the path is broken further on
  bool operator==(const Member&) const = default;
};

struct RouteTarget {
  enum class Kind : std::uint8_t { group, blackhole };
  Kind kind = Kind::blackhole;
  GroupId group;
  static RouteTarget to(GroupId id) { return {Kind::group, id}; }
  static RouteTarget blackhole() { return {}; }
};

struct RouteChange {
  IpPrefix prefix;
  std::optional<RouteTarget> target;  // unset: remove
};

// What the rewrite stage needs to know of a neighbour. dst and src are copied as they stand.
struct alignas(16) Adjacency {
  MacAddress dst;
  MacAddress src;
  std::uint16_t port = kNoPort;
  bool resolved = false;
};
static_assert(sizeof(Adjacency) == 16);

// What control needs to know of it. Found by the index of its Adjacency.
struct Neighbor {
  std::uint16_t port = kNoPort;  // kNoPort: this index is free
  IpAddress address;
  std::optional<MacAddress> fixed;  // set_static_neighbor: never ages, is never asked for
  std::uint32_t members = 0;        // of ECMP groups: while there are any it keeps its index
};

inline constexpr std::uint32_t kMaxGroups = 1U << 16;

class Router {
 public:
  struct Config {
    std::uint16_t ports = 0;
    std::uint64_t seed = 0;  // of the ECMP hash; one per switch, so that tiers don't polarise
    Fib::Config fib;
  };

  explicit Router(const Config& config);  // throws StartError: no memory for large FIBs
  ~Router();
  Router(const Router&) = delete;
  Router& operator=(const Router&) = delete;

  // --- Control face ---
  // Replaces what the port had: installs its addresses (local) and links (connected).
  void set_interface(std::uint16_t port, Interface interface);
  void set_loopback(std::vector<IpAddress> addresses);
  // Down: its members leave their groups at once, what was learned about its neighbours is
  // forgotten. Up: they return, to be asked for again.
  void set_port_up(std::uint16_t port, bool up);
  // Creates or replaces; at most kMaxMembers. A group without a living member has no route.
  Status set_group(GroupId id, std::vector<Member> members);
  Status remove_group(GroupId id);  // routes that still use it have no route
  Status add_route(const IpPrefix& prefix, RouteTarget target);  // or replaces
  Status remove_route(const IpPrefix& prefix);
  // Many changes: applied in order by apply_pending(), so that a step stays short.
  void queue_routes(std::vector<RouteChange> changes);
  // Applies at most n; true when more wait. A change that fails counts in failed_changes().
  bool apply_pending(unsigned n = 256);
  std::size_t pending() const { return pending_.size(); }
  std::uint64_t failed_changes() const { return failed_changes_; }
  Status set_static_neighbor(std::uint16_t port, const IpAddress& address, const MacAddress& mac);

  // --- Neighbours (features/neighbor) ---
  // Known from now on, or with another address. One on the port's link gets a host route.
  void set_neighbor(std::uint16_t port, const IpAddress& address, const MacAddress& mac);
  // Not known any more; a static one stays.
  void remove_neighbor(std::uint16_t port, const IpAddress& address);
  bool is_static_neighbor(std::uint16_t port, const IpAddress& address) const {
    return static_neighbor(port, address).has_value();
  }
  std::optional<MacAddress> static_neighbor(std::uint16_t port, const IpAddress& address) const;
  // The last stage, for a packet that had to wait for it: MAC addresses and TTL.
  void rewrite(Packet& packet, std::uint16_t port, const MacAddress& mac) const;

  // --- Questions ---
  std::uint16_t ports() const { return static_cast<std::uint16_t>(interfaces_.size()); }
  const Interface& interface(std::uint16_t port) const { return interfaces_[port]; }
  bool port_up(std::uint16_t port) const { return up_[port]; }
  const std::vector<IpAddress>& loopback() const { return loopback_; }
  bool is_local(const IpAddress& address) const;
  // Is it on this port's link: in one of its prefixes, or link-local.
  bool on_link(std::uint16_t port, const IpAddress& address) const;
  // Our address to speak from at that port: its own, else the loopback. Unset: none of the family.
  std::optional<IpAddress> source_address(std::uint16_t port, bool v6) const;
  // The way to an address; a group is not yet resolved to a member.
  NextHop lookup(const IpAddress& address) const { return fib_.lookup(address); }
  // Where a packet of our own for that address goes: the next hop itself, or the address when it is
  // on the link. Unset: no route, a blackhole, or ourselves. hash chooses the member of a group.
  struct Way {
    std::uint16_t port;
    IpAddress next_hop;
  };
  std::optional<Way> way(const IpAddress& address, std::uint32_t hash = 0) const;
  // Where a packet goes whose meta().next_hop is an adjacency or connected.
  std::optional<Way> way(const Packet& packet) const;
  // The prefix that lookup() uses. Slow: for explanations.
  std::optional<IpPrefix> matched(const IpAddress& address) const;
  std::optional<std::vector<Member>> group_members(GroupId id) const;
  std::size_t route_count() const { return routes_.size(); }
  std::size_t memory() const { return fib_.memory(); }  // of the FIBs, bytes

  // --- Fast path ---
  std::uint64_t mac_bits(std::uint16_t port) const { return macs_[port]; }  // low 48: as in memory
  std::uint32_t mtu(std::uint16_t port) const { return mtus_[port]; }
  std::uint64_t seed() const { return seed_; }
  const Fib& fib() const { return fib_; }
  const Adjacency& adjacency(std::uint32_t index) const { return adjacencies_[index]; }
  const Neighbor& neighbor(std::uint32_t index) const { return neighbors_[index]; }
  const ecmp::Buckets& buckets(std::uint32_t group) const { return buckets_[group]; }

 private:
  // Who installs a prefix; the first one that is there wins.
  enum Source : std::uint8_t { local, host, connected, configured, kSources };
  struct Group {
    bool exists = false;
    std::vector<Member> members;
    std::vector<std::uint32_t> adjacencies;  // of the members, in order
  };
  using Route = std::array<NextHop, kSources>;

  Status install(const IpPrefix& prefix, Source source, NextHop next);
  Status withdraw(const IpPrefix& prefix, Source source);
  void install_addresses(std::uint16_t port, bool add);
  std::uint32_t obtain(std::uint16_t port, const IpAddress& address);
  void release(std::uint32_t id);  // frees the index when nobody needs it
  void set_resolved(std::uint32_t id, const MacAddress* mac);
  void fill(std::uint32_t group);

  const std::uint64_t seed_;
  Fib fib_;
  std::vector<Interface> interfaces_;
  std::vector<std::uint64_t> macs_;
  std::vector<std::uint32_t> mtus_;
  std::vector<bool> up_;
  std::vector<IpAddress> loopback_;
  std::vector<Adjacency> adjacencies_;
  std::vector<Neighbor> neighbors_;
  std::vector<std::uint32_t> free_ids_;
  std::map<std::pair<std::uint16_t, IpAddress>, std::uint32_t> by_address_;
  std::map<IpPrefix, Route> routes_;
  std::vector<Group> groups_;
  std::vector<ecmp::Buckets> buckets_;
  std::deque<RouteChange> pending_;
  std::uint64_t failed_changes_ = 0;
};

}  // namespace frond::l3
