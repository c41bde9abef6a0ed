// SPDX-License-Identifier: BSD-3-Clause
// The states of neighbours and the packets that wait for them. arp.cpp and nd.cpp hold the two
// protocols.
#include "features/neighbor/neighbor.hpp"

#include <algorithm>

#include "features/own_packet.hpp"
#include "wire/arp.hpp"
#include "wire/ethernet.hpp"

namespace frond::neighbor {
namespace {

constexpr std::uint32_t kPortKey = 0x80000000;  // of a timer: a port's, not an entry's

}  // namespace

const std::array<DropInfo, Neighbors::kDropCount> Neighbors::kDrops{{
    {"arp_malformed", "ARP that is short, not IPv4 over Ethernet, or from a group MAC (RFC 826)"},
    {"arp_not_for_us", "ARP for an address that is not this interface's"},
    {"nd_malformed", "a neighbour message that RFC 4861 7.1 calls invalid, or a fragmented one"},
    {"nd_checksum", "a neighbour message with a wrong ICMPv6 checksum"},
    {"nd_hop_limit", "a neighbour message that is not from this link: hop limit below 255"},
    {"nd_not_for_us", "a solicitation for an address that is not this interface's"},
    {"nd_ignored", "router discovery or a redirect: this router takes and gives none"},
    {"neighbor_unsolicited", "an answer or announcement of somebody we do not know"},
    {"neighbor_off_link", "the sender's address does not belong to this interface's links"},
    {"neighbor_conflict", "somebody else uses, or answers for, our address (RFC 5227 2.4)"},
    {"neighbor_static", "it would change a neighbour that is configured"},
    {"neighbor_table_full", "no room for one more neighbour"},
    {"neighbor_queue_full", "too many packets wait for this neighbour, or for all of them"},
    {"neighbor_unresolved", "the next hop does not answer"},
    {"neighbor_broadcast", "to the network or broadcast address of a link (RFC 2644)"},
    {"neighbor_port_down", "the port went down before its neighbour had answered"},
    {"neighbor_no_buffer", "no packet left in the pool for a message of our own"},
}};

Neighbors::Neighbors(const Config& config, unsigned ports, std::uint64_t seed, l3::Router& router,
                     Unreachable unreachable)
    : config_(config),
      router_(router),
      unreachable_(std::move(unreachable)),
      cache_({config.limit, config.port_limit, config.unresolved_limit}, ports, seed),
      queue_(config.queue_total),
      ports_(ports),
      drops_(ports, kDrops) {
  for (std::uint32_t port = 0; port < ports; ++port) ports_[port].announce.key = kPortKey | port;
}

Neighbors::~Neighbors() {
  cache_.for_each([&](Entry& entry) {
    while (Packet* packet = queue_.pop(entry.waiting)) packet->free();
  });
}

// --- What is known ---

bool Neighbors::ours(std::uint16_t port, const IpAddress& address) const {
  const l3::Interface& interface = router_.interface(port);
  if (address.v6 && address.v6_address == Ip6::link_local(interface.mac)) return true;
  return std::any_of(interface.addresses.begin(), interface.addresses.end(),
                     [&](const IpPrefix& own) { return own.address == address; });
}

bool Neighbors::on_link(std::uint16_t port, const IpAddress& address) const {
  const auto& links = router_.interface(port).addresses;
  return router_.on_link(port, address) &&
         std::none_of(links.begin(), links.end(),
                      [&](const IpPrefix& link) { return is_broadcast(link, address); });
}

// The rules of RFC 4861 7.2.3 and 7.2.5; ARP has no flags, what it says may always override.
Neighbors::Update Neighbors::update(Context& ctx, std::uint16_t port, const IpAddress& address,
                                    const Heard& heard) {
  if (const auto configured = router_.static_neighbor(port, address)) {
    return *configured == heard.mac ? Update::done : Update::is_static;
  }
  Entry* entry = cache_.find(port, address);
  if (entry == nullptr) {
    if (!heard.creates) return Update::unsolicited;
    entry = cache_.add(port, address, true);
    if (entry == nullptr) return Update::full;
  }
  if (entry->usable() && entry->mac != heard.mac) {
    if (!heard.overrides) {
      // 7.2.5 I: do not believe it, but find out soon.
      if (entry->state == Reach::reachable) confirm(*entry, ctx, false);
      return Update::done;
    }
  } else if (entry->usable()) {
    if (heard.confirms) confirm(*entry, ctx, true);
    return Update::done;
  }
  entry->mac = heard.mac;
  confirm(*entry, ctx, heard.confirms);
  router_.set_neighbor(port, address, heard.mac);
  release(ctx, *entry);
  return Update::done;
}

void Neighbors::confirm(Entry& entry, Context& ctx, bool confirmed) {
  cache_.set_state(entry, confirmed ? Reach::reachable : Reach::stale);
  if (!confirmed) {
    wheel_.arm(entry.timer, ctx.now + config_.probe_delay);
    return;
  }
  // 6.3.2: between half and one and a half, so that probes do not fall into step.
  const auto base = static_cast<std::uint64_t>(config_.reachable_time.ns());
  wheel_.arm(entry.timer,
             ctx.now + Time::ns(static_cast<std::int64_t>(base / 2 + ctx.rng.below(base + 1))));
}

void Neighbors::forget(Entry& entry) {
  if (entry.usable()) router_.remove_neighbor(entry.port, entry.address);
  wheel_.cancel(entry.timer);
  cache_.remove(entry);
}

std::vector<Neighbors::Known> Neighbors::table() {
  std::vector<Known> all;
  cache_.for_each([&](const Entry& e) { all.push_back({e.port, e.address, e.state, e.mac}); });
  return all;
}

// --- Packets that want a neighbour ---

void Neighbors::resolve(Context& ctx, Packet* packet) {
  const auto way = router_.way(*packet);
  // The neighbour may have gone since the route was looked up.
  if (!way || way->port >= ports_.size()) {
    return drops_.drop(ctx, packet, neighbor_unresolved);
  }
  packet->meta().egress = way->port;
  if (!ports_[way->port].up) return drops_.drop(ctx, packet, neighbor_port_down);
  hold(ctx, packet, way->port, way->next_hop);
}

void Neighbors::send(Context& ctx, Packet* packet, std::uint16_t port, const IpAddress& next_hop) {
  packet->meta().flags |= PacketMeta::kControl;
  packet->meta().egress = port;
  hold(ctx, packet, port, next_hop);
}

void Neighbors::hold(Context& ctx, Packet* packet, std::uint16_t port, const IpAddress& next_hop) {
  if (const auto mac = router_.static_neighbor(port, next_hop))
    return transmit(ctx, packet, port, *mac);
  Entry* entry = cache_.find(port, next_hop);
  if (entry == nullptr) {
    for (const IpPrefix& own : router_.interface(port).addresses) {
      if (is_broadcast(own, next_hop)) return drops_.drop(ctx, packet, neighbor_broadcast);
    }
    entry = cache_.add(port, next_hop, false);
    if (entry == nullptr) return drops_.drop(ctx, packet, neighbor_table_full);
    solicit(ctx, *entry);
  }
  if (entry->usable()) return transmit(ctx, packet, port, entry->mac);
  if (entry->state == Reach::failed) return drop_unresolved(ctx, packet);
  wait(ctx, *entry, packet);
}

void Neighbors::wait(Context& ctx, Entry& entry, Packet* packet) {
  const bool room = entry.waiting.size < config_.queue_limit && !queue_.full();
  // RFC 4861 7.2.2: the newest is the one worth keeping.
  Packet* victim = room ? nullptr : queue_.pop(entry.waiting);
  if (!room && victim == nullptr) victim = packet;
  if (victim != nullptr) drops_.drop(ctx, victim, neighbor_queue_full);
  if (victim != packet) queue_.push(entry.waiting, packet);
}

void Neighbors::release(Context& ctx, Entry& entry) {
  while (Packet* packet = queue_.pop(entry.waiting)) {
    transmit(ctx, packet, entry.port, entry.mac);
  }
}

void Neighbors::transmit(Context& ctx, Packet* packet, std::uint16_t port, const MacAddress& mac) {
  if ((packet->meta().flags & PacketMeta::kControl) == 0) {
    router_.rewrite(*packet, port, mac);
  } else {
    auto& ethernet = packet->at<wire::Ethernet>(0);
    ethernet.dst = mac;
    ethernet.src = router_.interface(port).mac;
  }
  ctx.send(packet, port);
}

void Neighbors::drop_unresolved(Context& ctx, Packet* packet) {
  const bool own = (packet->meta().flags & PacketMeta::kControl) != 0;
  if (!own && unreachable_) unreachable_(ctx, *packet);
  drops_.drop(ctx, packet, neighbor_unresolved);
}

// --- Time ---

Time Neighbors::timers(Context& ctx) {
  while (TimerWheel::Timer* timer = wheel_.expire(ctx.now)) {
    if ((timer->key & kPortKey) != 0) {
      announce(ctx, static_cast<std::uint16_t>(timer->key & ~kPortKey));
    } else {
      run(ctx, cache_.at(timer->key));
    }
  }
  return wheel_.next_due();
}

void Neighbors::run(Context& ctx, Entry& entry) {
  switch (entry.state) {
    case Reach::reachable:
      return confirm(entry, ctx, false);
    case Reach::stale:
      cache_.set_state(entry, Reach::probe);
      return solicit(ctx, entry);
    case Reach::incomplete:
      if (entry.asked < config_.attempts) return solicit(ctx, entry);
      cache_.set_state(entry, Reach::failed);
      wheel_.arm(entry.timer, ctx.now + config_.failed_hold);
      while (Packet* packet = queue_.pop(entry.waiting)) drop_unresolved(ctx, packet);
      return;
    case Reach::probe:
      if (entry.asked < config_.attempts) return solicit(ctx, entry);
      return forget(entry);
    case Reach::failed:
      return forget(entry);
  }
}

void Neighbors::solicit(Context& ctx, Entry& entry) {
  const Time wait = config_.retry * (std::int64_t{1} << std::min<unsigned>(entry.asked, 10));
  ++entry.asked;
  wheel_.arm(entry.timer, ctx.now + wait);
  const bool unicast = entry.usable();
  entry.address.v6 ? solicit_nd(ctx, entry, unicast) : solicit_arp(ctx, entry, unicast);
}

// --- Ports ---

void Neighbors::port_changed(Context& ctx, std::uint16_t port, bool up) {
  PortState& state = ports_[port];
  state.up = up;
  wheel_.cancel(state.announce);
  if (up) {
    // Learned while the port was not yet used (BFD's neighbour).
    cache_.for_each([&](const Entry& entry) {
      if (entry.port == port && entry.usable())
        router_.set_neighbor(port, entry.address, entry.mac);
    });
    state.announced = 0;
    return announce(ctx, port);
  }
  cache_.for_each([&](Entry& entry) {
    if (entry.port != port) return;
    while (Packet* packet = queue_.pop(entry.waiting)) {
      drops_.drop(ctx, packet, neighbor_port_down);
    }
    forget(entry);
  });
}

void Neighbors::announce(Context& ctx, std::uint16_t port) {
  PortState& state = ports_[port];
  if (state.announced == config_.announcements) return;
  const l3::Interface& interface = router_.interface(port);
  for (const IpPrefix& own : interface.addresses) announce_one(ctx, port, own.address);
  // RFC 5227 1.1 has two seconds between announcements, RFC 4861 10 has one.
  if (++state.announced < config_.announcements) {
    wheel_.arm(state.announce, ctx.now + Time::s(1));
  }
}

// RFC 5227 2.3: an ARP request whose sender and target are ourselves. RFC 4861 7.2.6.
void Neighbors::announce_one(Context& ctx, std::uint16_t port, const IpAddress& address) {
  if (address.v6) {
    announce_nd(ctx, port, address.v6_address);
  } else {
    send_arp(ctx, port, wire::Arp::kRequest, address.v4_address, MacAddress(), address.v4_address,
             wire::kBroadcastMac);
  }
}

void Neighbors::defend(Context& ctx, std::uint16_t port, const IpAddress& address) {
  // RFC 5227 2.4 (c): at most one in ten seconds, or two routers would argue for ever.
  PortState& state = ports_[port];
  if (state.defend_after > ctx.now) return;
  state.defend_after = ctx.now + Time::s(10);
  announce_one(ctx, port, address);
}

}  // namespace frond::neighbor
