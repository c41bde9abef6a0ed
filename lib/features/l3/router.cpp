// SPDX-License-Identifier: BSD-3-Clause
#include "features/l3/router.hpp"

#include <algorithm>
#include <cstring>

#include "features/l3/rewrite.hpp"
#include "wire/ethernet.hpp"
#include "wire/ipv6.hpp"

namespace frond::l3 {
namespace {

IpPrefix host_prefix(const IpAddress& a) { return {a, static_cast<std::uint8_t>(a.bits())}; }

std::uint64_t bits_of(const MacAddress& mac) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, mac.bytes.data(), 6);
  return bits;
}

}  // namespace

std::string NextHop::to_string() const {
  switch (kind()) {
    case Kind::adjacency:
      return "neighbour " + std::to_string(index());
    case Kind::group:
      return "ecmp group " + std::to_string(index());
    case Kind::connected:
      return "connected at port " + std::to_string(index());
    case Kind::local:
      return "local";
    case Kind::blackhole:
      return "blackhole";
    case Kind::none:
      break;
  }
  return "none";
}

Router::Router(const Config& config)
    : seed_(config.seed),
      fib_(config.fib),
      interfaces_(config.ports),
      macs_(config.ports),
      mtus_(config.ports, Interface().mtu),
      up_(config.ports) {}

Router::~Router() = default;

// --- Prefixes ---

Status Router::install(const IpPrefix& prefix, Source source, NextHop next) {
  const IpPrefix network = prefix.network();
  const auto [it, is_new] = routes_.try_emplace(network);
  Route& route = it->second;
  const NextHop before = route[source];
  route[source] = next;
  const auto best =
      std::find_if(route.begin(), route.end(), [](NextHop n) { return n != NextHop(); });
  if (best == route.end()) return {};
  Status status = fib_.set(network, *best);
  if (status.ok()) return status;
  route[source] = before;
  if (is_new) routes_.erase(it);
  return status;
}

Status Router::withdraw(const IpPrefix& prefix, Source source) {
  const IpPrefix network = prefix.network();
  const auto it = routes_.find(network);
  if (it == routes_.end() || it->second[source] == NextHop()) {
    return Error{Error::Code::not_found, "no route " + network.to_string()};
  }
  Route& route = it->second;
  route[source] = NextHop();
  const auto best =
      std::find_if(route.begin(), route.end(), [](NextHop n) { return n != NextHop(); });
  if (best != route.end()) return fib_.set(network, *best);
  routes_.erase(it);
  return fib_.remove(network);
}

Status Router::add_route(const IpPrefix& prefix, RouteTarget target) {
  NextHop next = NextHop::blackhole();
  if (target.kind == RouteTarget::Kind::group) {
    const std::uint32_t g = target.group.value;
    if (g >= groups_.size() || !groups_[g].exists) {
      return Error{Error::Code::not_found, "route " + prefix.to_string() + ": no ECMP group " +
                                               std::to_string(g) + "; set it first"};
    }
    next = NextHop::group(g);
  }
  return install(prefix, configured, next);
}

Status Router::remove_route(const IpPrefix& prefix) { return withdraw(prefix, configured); }

void Router::queue_routes(std::vector<RouteChange> changes) {
  pending_.insert(pending_.end(), changes.begin(), changes.end());
}

bool Router::apply_pending(unsigned n) {
  for (; n > 0 && !pending_.empty(); --n) {
    const RouteChange& c = pending_.front();
    const Status status = c.target ? add_route(c.prefix, *c.target) : remove_route(c.prefix);
    failed_changes_ += !status.ok();
    pending_.pop_front();
  }
  return !pending_.empty();
}

// --- Interfaces ---

void Router::set_interface(std::uint16_t port, Interface interface) {
  install_addresses(port, false);
  interfaces_[port] = std::move(interface);
  macs_[port] = bits_of(interfaces_[port].mac);
  mtus_[port] = interfaces_[port].mtu;
  install_addresses(port, true);
}

// Our addresses, their links, and the host routes of the neighbours on them.
void Router::install_addresses(std::uint16_t port, bool add) {
  const auto put = [&](const IpPrefix& prefix, Source source, NextHop next) {
    // A full FIB shows in what is missing; an address that two ports share is gone with the first.
    (void)(add ? install(prefix, source, next) : withdraw(prefix, source));
  };
  for (const IpPrefix& own : interfaces_[port].addresses) {
    put(host_prefix(own.address), local, NextHop::local());
    if (own.length == own.address.bits()) continue;
    put(own, connected, NextHop::connected(port));
    if (own.address.v6 || own.length > 30) continue;
    // RFC 2644: a router does not forward directed broadcasts.
    const std::uint32_t network = own.network().address.v4_address.value;
    const std::uint32_t hosts = 0xffffffffU >> own.length;
    put(host_prefix(Ip4{network}), connected, NextHop::blackhole());
    put(host_prefix(Ip4{network | hosts}), connected, NextHop::blackhole());
  }
  for (std::uint32_t id = 0; id < neighbors_.size(); ++id) {
    if (neighbors_[id].port != port) continue;
    adjacencies_[id].src = interfaces_[port].mac;
    if (adjacencies_[id].resolved && on_link(port, neighbors_[id].address) &&
        !(neighbors_[id].address.v6 && neighbors_[id].address.v6_address.is_link_local())) {
      put(host_prefix(neighbors_[id].address), Source::host, NextHop::adjacency(id));
    }
  }
}

void Router::set_loopback(std::vector<IpAddress> addresses) {
  for (const IpAddress& a : loopback_) (void)withdraw(host_prefix(a), local);
  loopback_ = std::move(addresses);
  for (const IpAddress& a : loopback_) (void)install(host_prefix(a), local, NextHop::local());
}

void Router::set_port_up(std::uint16_t port, bool up) {
  if (up_[port] == up) return;
  up_[port] = up;
  for (std::uint32_t id = 0; id < neighbors_.size() && !up; ++id) {
    if (neighbors_[id].port == port) remove_neighbor(port, neighbors_[id].address);
  }
  for (std::uint32_t g = 0; g < groups_.size(); ++g) {
    if (std::any_of(groups_[g].members.begin(), groups_[g].members.end(),
                    [&](const Member& m) { return m.port == port; })) {
      fill(g);
    }
  }
}

bool Router::is_local(const IpAddress& address) const {
  const auto it = routes_.find(host_prefix(address));
  return it != routes_.end() && it->second[local] != NextHop();
}

bool Router::on_link(std::uint16_t port, const IpAddress& address) const {
  if (address.v6 && address.v6_address.is_link_local()) return true;
  const auto& own = interfaces_[port].addresses;
  return std::any_of(own.begin(), own.end(),
                     [&](const IpPrefix& p) { return p.contains(address); });
}

std::optional<IpAddress> Router::source_address(std::uint16_t port, bool v6) const {
  if (port < interfaces_.size()) {
    for (const IpPrefix& own : interfaces_[port].addresses) {
      if (own.address.v6 == v6 && !(v6 && own.address.v6_address.is_link_local())) {
        return own.address;
      }
    }
  }
  for (const IpAddress& a : loopback_) {
    if (a.v6 == v6) return a;
  }
  return std::nullopt;
}

// --- ECMP ---

Status Router::set_group(GroupId id, std::vector<Member> members) {
  if (id.value >= kMaxGroups || members.size() > ecmp::kMaxMembers) {
    return Error{Error::Code::invalid_argument, "ECMP group " + std::to_string(id.value) + " of " +
                                                    std::to_string(members.size()) +
                                                    " members: at most " +
                                                    std::to_string(kMaxGroups) + " groups of " +
                                                    std::to_string(ecmp::kMaxMembers)};
  }
  for (const Member& m : members) {
    if (m.port >= ports()) {
      return Error{Error::Code::invalid_argument, "ECMP group " + std::to_string(id.value) +
                                                      ": no port " + std::to_string(m.port)};
    }
  }
  if (id.value >= groups_.size()) {
    groups_.resize(id.value + 1);
    buckets_.resize(id.value + 1);
  }
  Group& group = groups_[id.value];
  // The new ones first, so that a member that stays keeps its index.
  std::vector<std::uint32_t> adjacencies;
  for (const Member& m : members) {
    adjacencies.push_back(obtain(m.port, m.gateway));
    ++neighbors_[adjacencies.back()].members;
  }
  adjacencies.swap(group.adjacencies);
  for (std::uint32_t old : adjacencies) {
    --neighbors_[old].members;
    release(old);
  }
  group.members = std::move(members);
  group.exists = true;
  fill(id.value);
  return {};
}

Status Router::remove_group(GroupId id) {
  if (id.value >= groups_.size() || !groups_[id.value].exists) {
    return Error{Error::Code::not_found, "no ECMP group " + std::to_string(id.value)};
  }
  const Status status = set_group(id, {});
  groups_[id.value].exists = false;
  return status;
}

void Router::fill(std::uint32_t g) {
  const Group& group = groups_[g];
  std::vector<ecmp::Share> shares;
  for (const Member& m : group.members) shares.push_back({m.weight, m.alive && up_[m.port]});
  std::vector<std::uint32_t> next_hops;
  for (std::uint8_t member : ecmp::spread(shares)) {
    next_hops.push_back(member == ecmp::kNobody
                            ? NextHop().bits()
                            : NextHop::adjacency(group.adjacencies[member]).bits());
  }
  buckets_[g] = ecmp::Buckets(std::move(next_hops));
}

std::optional<std::vector<Member>> Router::group_members(GroupId id) const {
  if (id.value >= groups_.size() || !groups_[id.value].exists) return std::nullopt;
  return groups_[id.value].members;
}

// --- Neighbours ---

std::uint32_t Router::obtain(std::uint16_t port, const IpAddress& address) {
  const auto [it, is_new] = by_address_.try_emplace({port, address}, 0);
  if (!is_new) return it->second;
  if (free_ids_.empty()) {
    free_ids_.push_back(static_cast<std::uint32_t>(neighbors_.size()));
    neighbors_.emplace_back();
    adjacencies_.emplace_back();
  }
  const std::uint32_t id = free_ids_.back();
  free_ids_.pop_back();
  it->second = id;
  neighbors_[id] = {port, address, std::nullopt, 0};
  adjacencies_[id] = {MacAddress(), interfaces_[port].mac, port, false};
  return id;
}

void Router::release(std::uint32_t id) {
  Neighbor& n = neighbors_[id];
  if (n.members != 0 || n.fixed || adjacencies_[id].resolved) return;
  by_address_.erase({n.port, n.address});
  n = {};
  free_ids_.push_back(id);
}

void Router::set_resolved(std::uint32_t id, const MacAddress* mac) {
  Adjacency& adjacency = adjacencies_[id];
  const Neighbor& n = neighbors_[id];
  const bool was = adjacency.resolved;
  adjacency.resolved = mac != nullptr;
  if (mac != nullptr) adjacency.dst = *mac;
  if (was == adjacency.resolved || (n.address.v6 && n.address.v6_address.is_link_local()) ||
      !on_link(n.port, n.address)) {
    return;
  }
  (void)(was ? withdraw(host_prefix(n.address), Source::host)
             : install(host_prefix(n.address), Source::host, NextHop::adjacency(id)));
}

void Router::set_neighbor(std::uint16_t port, const IpAddress& address, const MacAddress& mac) {
  const std::uint32_t id = obtain(port, address);
  if (!neighbors_[id].fixed) set_resolved(id, &mac);
}

void Router::remove_neighbor(std::uint16_t port, const IpAddress& address) {
  const auto it = by_address_.find({port, address});
  if (it == by_address_.end() || neighbors_[it->second].fixed) return;
  const std::uint32_t id = it->second;
  set_resolved(id, nullptr);
  release(id);
}

Status Router::set_static_neighbor(std::uint16_t port, const IpAddress& address,
                                   const MacAddress& mac) {
  if (mac.is_group()) {
    return Error{Error::Code::invalid_argument,
                 "neighbour " + address.to_string() + ": " + mac.to_string() +
                     " is a group address; give the MAC address of one station"};
  }
  if (!on_link(port, address)) {
    return Error{Error::Code::invalid_argument,
                 "neighbour " + address.to_string() + " is on none of the port's links"};
  }
  const std::uint32_t id = obtain(port, address);
  neighbors_[id].fixed = mac;
  set_resolved(id, &mac);
  return {};
}

std::optional<MacAddress> Router::static_neighbor(std::uint16_t port,
                                                  const IpAddress& address) const {
  const auto it = by_address_.find({port, address});
  return it == by_address_.end() ? std::nullopt : neighbors_[it->second].fixed;
}

void Router::rewrite(Packet& packet, std::uint16_t port, const MacAddress& mac) const {
  packet.meta().egress = port;
  rewrite_headers(packet, {mac, interfaces_[port].mac, port, true});
}

// --- Questions ---

std::optional<Router::Way> Router::way(const IpAddress& address, std::uint32_t hash) const {
  NextHop next = lookup(address);
  if (next.kind() == NextHop::Kind::group) {
    next = NextHop::from_bits(buckets_[next.index()].choose(hash));
  }
  if (next.kind() == NextHop::Kind::connected) {
    return Way{static_cast<std::uint16_t>(next.index()), address};
  }
  if (next.kind() != NextHop::Kind::adjacency) return std::nullopt;
  const Neighbor& n = neighbors_[next.index()];
  return Way{n.port, n.address};
}

std::optional<Router::Way> Router::way(const Packet& packet) const {
  const PacketMeta& meta = packet.meta();
  const NextHop next = NextHop::from_bits(meta.next_hop);
  if (next.kind() == NextHop::Kind::adjacency) {
    const Neighbor& n = neighbors_[next.index()];
    return Way{n.port, n.address};
  }
  if (next.kind() != NextHop::Kind::connected) return std::nullopt;
  const auto port = static_cast<std::uint16_t>(next.index());
  if (meta.ether_type == wire::kTypeIpv6) return Way{port, packet.at<wire::Ipv6>(meta.l3).dst};
  return Way{port, packet.at<wire::Ipv4>(meta.l3).destination()};
}

std::optional<IpPrefix> Router::matched(const IpAddress& address) const {
  for (unsigned length = address.bits() + 1; length-- > 0;) {
    const IpPrefix prefix = IpPrefix{address, static_cast<std::uint8_t>(length)}.network();
    if (routes_.contains(prefix)) return prefix;
  }
  return std::nullopt;
}

}  // namespace frond::l3
