// SPDX-License-Identifier: BSD-3-Clause
#include "netdev/interface.hpp"

#include <linux/if.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/netlink.h>
#include <netlink/route/addr.h>
#include <netlink/route/link.h>
#include <netlink/route/link/veth.h>
#include <netlink/route/neighbour.h>
#include <netlink/route/nexthop.h>
#include <netlink/route/route.h>

#include <utility>

namespace frond::netdev {
namespace {

template <class T, void (*Put)(T*)> struct Putter {
  void operator()(T* object) const { Put(object); }
};
using Link = std::unique_ptr<rtnl_link, Putter<rtnl_link, rtnl_link_put>>;
using Addr = std::unique_ptr<nl_addr, Putter<nl_addr, nl_addr_put>>;
using IfAddr = std::unique_ptr<rtnl_addr, Putter<rtnl_addr, rtnl_addr_put>>;
using RouteObject = std::unique_ptr<rtnl_route, Putter<rtnl_route, rtnl_route_put>>;
using NeighObject = std::unique_ptr<rtnl_neigh, Putter<rtnl_neigh, rtnl_neigh_put>>;
using Cache = std::unique_ptr<nl_cache, Putter<nl_cache, nl_cache_free>>;

Error netlink_error(const std::string& what, int error) {
  Error::Code code = Error::Code::internal;
  std::string hint;
  switch (-error) {
    case NLE_EXIST:
      code = Error::Code::already_exists;
      break;
    case NLE_NODEV:
    case NLE_OBJ_NOTFOUND:
      code = Error::Code::not_found;
      break;
    case NLE_PERM:
      code = Error::Code::permission_denied;
      hint = "; run it as root, or in a user namespace of your own";
      break;
    case NLE_INVAL:
    case NLE_RANGE:
      code = Error::Code::invalid_argument;
      break;
    case NLE_NOMEM:
      code = Error::Code::resource_exhausted;
      break;
    case NLE_OPNOTSUPP:
      code = Error::Code::unimplemented;
      break;
    default:
      break;
  }
  return {code, what + ": " + nl_geterror(error) + hint};
}

Status done(const std::string& what, int error) {
  if (error < 0) return netlink_error(what, error);
  return {};
}

Addr make_addr(const IpAddress& a, int length) {
  std::uint8_t v4[4];
  const std::uint8_t* bytes = a.v6_address.bytes.data();
  if (!a.v6) {
    for (int i = 0; i < 4; ++i)
      v4[i] = static_cast<std::uint8_t>(a.v4_address.value >> (24 - 8 * i));
    bytes = v4;
  }
  Addr addr(nl_addr_build(a.v6 ? AF_INET6 : AF_INET, bytes, a.v6 ? 16 : 4));
  nl_addr_set_prefixlen(addr.get(), length);
  return addr;
}

Addr make_addr(const MacAddress& mac) { return Addr(nl_addr_build(AF_LLC, mac.bytes.data(), 6)); }

InterfaceState state_of(rtnl_link* link) {
  InterfaceState s;
  s.name = rtnl_link_get_name(link);
  if (const char* kind = rtnl_link_get_type(link)) s.kind = kind;
  s.index = rtnl_link_get_ifindex(link);
  s.mtu = rtnl_link_get_mtu(link);
  const unsigned flags = rtnl_link_get_flags(link);
  s.up = (flags & IFF_UP) != 0;
  s.carrier = (flags & IFF_LOWER_UP) != 0;
  if (nl_addr* mac = rtnl_link_get_addr(link); mac != nullptr && nl_addr_get_len(mac) == 6) {
    const auto* bytes = static_cast<const std::uint8_t*>(nl_addr_get_binary_addr(mac));
    std::copy(bytes, bytes + 6, s.mac.bytes.begin());
  }
  return s;
}

RouteObject make_route(int index, const Route& route) {
  RouteObject object(rtnl_route_alloc());
  const IpPrefix to = route.to.network();
  rtnl_route_set_family(object.get(), to.address.v6 ? AF_INET6 : AF_INET);
  const Addr dst = make_addr(to.address, to.length);
  rtnl_route_set_dst(object.get(), dst.get());
  rtnl_route_set_table(object.get(), RT_TABLE_MAIN);
  rtnl_route_set_protocol(object.get(), RTPROT_STATIC);
  rtnl_route_set_scope(object.get(),
                       route.via || to.address.v6 ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK);
  rtnl_nexthop* hop = rtnl_route_nh_alloc();
  rtnl_route_nh_set_ifindex(hop, index);
  if (route.via) {
    const Addr via = make_addr(*route.via, static_cast<int>(route.via->bits()));
    rtnl_route_nh_set_gateway(hop, via.get());
  }
  rtnl_route_add_nexthop(object.get(), hop);
  return object;
}

}  // namespace

void Rtnetlink::Close::operator()(nl_sock* socket) const { nl_socket_free(socket); }
Rtnetlink::~Rtnetlink() = default;

Result<Rtnetlink> Rtnetlink::open(const Namespace& ns) {
  Rtnetlink connection(nl_socket_alloc());
  const Status status = ns.run([&] {
    return done("netlink in " + ns.name(), nl_connect(connection.socket_.get(), NETLINK_ROUTE));
  });
  if (!status.ok()) return status.error();
  return connection;
}

Status Rtnetlink::create_veth(const std::string& name, const Namespace& peer_ns,
                              const std::string& peer_name) {
  if (name.size() >= IFNAMSIZ || peer_name.size() >= IFNAMSIZ) {
    return Error{Error::Code::invalid_argument, "interface name '" +
                                                    (name.size() >= IFNAMSIZ ? name : peer_name) +
                                                    "' is longer than 15 characters"};
  }
  const Link link(rtnl_link_veth_alloc());
  rtnl_link_set_name(link.get(), name.c_str());
  rtnl_link* peer = rtnl_link_veth_get_peer(link.get());  // a reference of its own
  rtnl_link_set_name(peer, peer_name.c_str());
  rtnl_link_set_ns_fd(peer, peer_ns.fd());
  const int error = rtnl_link_add(socket_.get(), link.get(), NLM_F_CREATE | NLM_F_EXCL);
  rtnl_link_put(peer);
  return done("cannot make veth '" + name + "' - '" + peer_name + "'", error);
}

Status Rtnetlink::remove(const std::string& name) {
  const Link link(rtnl_link_alloc());
  rtnl_link_set_name(link.get(), name.c_str());
  return done("cannot remove interface '" + name + "'",
              rtnl_link_delete(socket_.get(), link.get()));
}

Result<InterfaceState> Rtnetlink::look(const std::string& name) {
  rtnl_link* raw = nullptr;
  const int error = rtnl_link_get_kernel(socket_.get(), 0, name.c_str(), &raw);
  const Link link(raw);
  if (error == -NLE_NODEV || error == -NLE_OBJ_NOTFOUND) {
    return Error{Error::Code::not_found, "there is no interface '" + name + "'"};
  }
  if (error < 0) return netlink_error("interface '" + name + "'", error);
  return state_of(link.get());
}

Result<std::vector<InterfaceState>> Rtnetlink::list() {
  nl_cache* raw = nullptr;
  if (const int error = rtnl_link_alloc_cache(socket_.get(), AF_UNSPEC, &raw); error < 0) {
    return netlink_error("interfaces", error);
  }
  const Cache cache(raw);
  std::vector<InterfaceState> all;
  for (nl_object* o = nl_cache_get_first(raw); o != nullptr; o = nl_cache_get_next(o)) {
    all.push_back(state_of(reinterpret_cast<rtnl_link*>(o)));
  }
  return all;
}

Status Rtnetlink::change(int index, rtnl_link* changes, const std::string& what) {
  const Link now(rtnl_link_alloc());
  rtnl_link_set_ifindex(now.get(), index);
  return done(what, rtnl_link_change(socket_.get(), now.get(), changes, 0));
}

Status Rtnetlink::move(const std::string& name, const Namespace& to) {
  const Result<InterfaceState> found = look(name);
  if (!found.ok()) return found.error();
  const Link changes(rtnl_link_alloc());
  rtnl_link_set_ns_fd(changes.get(), to.fd());
  return change(found->index, changes.get(),
                "interface '" + name + "': cannot move to " + to.name());
}

Status Rtnetlink::configure_link(int index, const std::string& name,
                                 const InterfaceConfig& config) {
  const std::string cannot = "interface '" + name + "': cannot ";
  if (config.rename && *config.rename != name) {
    const Link changes(rtnl_link_alloc());
    rtnl_link_set_name(changes.get(), config.rename->c_str());
    if (Status s = change(index, changes.get(), cannot + "rename to '" + *config.rename + "'");
        !s.ok())
      return s;
  }
  if (config.mac) {
    const Link changes(rtnl_link_alloc());
    const Addr mac = make_addr(*config.mac);
    rtnl_link_set_addr(changes.get(), mac.get());
    if (Status s = change(index, changes.get(), cannot + "set MAC " + config.mac->to_string());
        !s.ok())
      return s;
  }
  if (config.mtu) {
    const Link changes(rtnl_link_alloc());
    rtnl_link_set_mtu(changes.get(), *config.mtu);
    if (Status s = change(index, changes.get(), cannot + "set MTU " + std::to_string(*config.mtu));
        !s.ok())
      return s;
  }
  if (config.up) {
    const Link changes(rtnl_link_alloc());
    if (*config.up) {
      rtnl_link_set_flags(changes.get(), IFF_UP);
    } else {
      rtnl_link_unset_flags(changes.get(), IFF_UP);
    }
    if (Status s = change(index, changes.get(), cannot + (*config.up ? "set up" : "set down"));
        !s.ok())
      return s;
  }
  return {};
}

Status Rtnetlink::configure(const std::string& given, const InterfaceConfig& config) {
  const Result<InterfaceState> found = look(given);
  if (!found.ok()) return found.error();
  const int index = found->index;
  if (Status s = configure_link(index, given, config); !s.ok()) return s;
  const std::string name = config.rename.value_or(given);
  for (const IpPrefix& a : config.addresses) {
    if (Status s = add_address(index, name, a); !s.ok()) return s;
  }
  for (const Neighbor& n : config.neighbors) {
    if (Status s = add_neighbor(index, name, n); !s.ok()) return s;
  }
  for (const Route& r : config.routes) {
    if (Status s = add_route(index, name, r); !s.ok()) return s;
  }
  return {};
}

namespace {
IfAddr make_address(int index, const IpPrefix& address) {
  IfAddr object(rtnl_addr_alloc());
  const Addr local = make_addr(address.address, address.length);
  rtnl_addr_set_ifindex(object.get(), index);
  rtnl_addr_set_local(object.get(), local.get());
  if (address.address.v6) rtnl_addr_set_flags(object.get(), IFA_F_NODAD);
  return object;
}
}  // namespace

Status Rtnetlink::add_address(int index, const std::string& name, const IpPrefix& address) {
  const IfAddr object = make_address(index, address);
  return done("interface '" + name + "': cannot add address " + address.to_string(),
              rtnl_addr_add(socket_.get(), object.get(), NLM_F_CREATE | NLM_F_REPLACE));
}

Status Rtnetlink::remove_address(const std::string& name, const IpPrefix& address) {
  const Result<InterfaceState> found = look(name);
  if (!found.ok()) return found.error();
  const IfAddr object = make_address(found->index, address);
  return done("interface '" + name + "': cannot remove address " + address.to_string(),
              rtnl_addr_delete(socket_.get(), object.get(), 0));
}

Status Rtnetlink::add_route(int index, const std::string& name, const Route& route) {
  const RouteObject object = make_route(index, route);
  return done("interface '" + name + "': cannot add route to " + route.to.to_string() +
                  (route.via ? " via " + route.via->to_string() : ""),
              rtnl_route_add(socket_.get(), object.get(), NLM_F_CREATE | NLM_F_REPLACE));
}

Status Rtnetlink::remove_route(const std::string& name, const Route& route) {
  const Result<InterfaceState> found = look(name);
  if (!found.ok()) return found.error();
  const RouteObject object = make_route(found->index, route);
  return done("interface '" + name + "': cannot remove route to " + route.to.to_string(),
              rtnl_route_delete(socket_.get(), object.get(), 0));
}

Status Rtnetlink::add_neighbor(int index, const std::string& name, const Neighbor& neighbor) {
  const NeighObject object(rtnl_neigh_alloc());
  const Addr dst = make_addr(neighbor.address, static_cast<int>(neighbor.address.bits()));
  const Addr mac = make_addr(neighbor.mac);
  rtnl_neigh_set_ifindex(object.get(), index);
  rtnl_neigh_set_dst(object.get(), dst.get());
  rtnl_neigh_set_lladdr(object.get(), mac.get());
  rtnl_neigh_set_state(object.get(), NUD_PERMANENT);
  return done("interface '" + name + "': cannot add neighbour " + neighbor.address.to_string(),
              rtnl_neigh_add(socket_.get(), object.get(), NLM_F_CREATE | NLM_F_REPLACE));
}

Status prepare_host(const Namespace& ns) {
  // Addresses are given, not negotiated: neither duplicate address detection (a second of silence)
  // nor router advertisements.
  for (const char* scope : {"all", "default"}) {
    const std::string base = std::string("net.ipv6.conf.") + scope + ".";
    for (const char* name : {"accept_dad", "dad_transmits", "accept_ra"}) {
      const Status s = ns.set_sysctl(base + name, "0");
      if (!s.ok() && s.error().code != Error::Code::not_found) return s;  // a kernel without IPv6
    }
  }
  // Not an error where it can't be: a user namespace that maps one group refuses the others.
  (void)ns.set_sysctl("net.ipv4.ping_group_range", "0 2147483647").ok();
  Result<Rtnetlink> net = Rtnetlink::open(ns);
  if (!net.ok()) return net.error();
  return net->set_up("lo", true);
}

Status prepare_switch(const Namespace& ns) {
  const std::pair<const char*, const char*> settings[] = {
      {"net.ipv6.conf.all.disable_ipv6", "1"},
      {"net.ipv6.conf.default.disable_ipv6", "1"},
      {"net.ipv4.conf.all.arp_ignore", "8"},
      {"net.ipv4.conf.default.arp_ignore", "8"},
      {"net.ipv4.ip_forward", "0"}};
  for (const auto& [name, value] : settings) {
    const Status s = ns.set_sysctl(name, value);
    if (!s.ok() && s.error().code != Error::Code::not_found) return s;
  }
  return {};
}

}  // namespace frond::netdev
