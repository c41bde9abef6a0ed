// SPDX-License-Identifier: BSD-3-Clause
#include "control/config/validate_addresses.hpp"

#include <algorithm>
#include <map>

#include "topology/addressing.hpp"

namespace frond::config {
namespace {

using topology::End;
using topology::kNone;

// Why an interface cannot have the address, or "".
std::string unusable(const IpPrefix& p) {
  if (p.address.v6) {
    const Ip6& a = p.address.v6_address;
    if (a == Ip6{}) return "is unspecified";
    if (a.is_multicast()) return "is multicast";
    if (a.is_link_local()) return "is link-local; every port makes its own";
    return p.length == 0 ? "has no prefix length" : "";
  }
  const std::uint32_t a = p.address.v4_address.value;
  if (a >> 24 == 0 || a >> 24 == 127) return "is not an address of a network (RFC 6890)";
  if (a >> 28 >= 14) return "is multicast or reserved";
  if (p.length == 0) return "has no prefix length";
  if (p.length < 31) {
    const std::uint32_t host = a & (~std::uint32_t{0} >> p.length);
    if (host == 0) return "is its network's own address";
    if (host == ~std::uint32_t{0} >> p.length) return "is its network's broadcast address";
  }
  return "";
}

class Checker {
 public:
  Checker(const FabricConfig& config, const Plan& plan, const Locator& at, Diagnostics& out)
      : c_(config), t_(plan.topology), at_(at), out_(out) {}

  void run() {
    const auto plan = topology::assign_addresses(t_);
    if (!plan) {
      out_.error(at_({}), "size", plan.error().message);
      return;
    }
    a_ = &*plan;
    // Those of the file first: they are what can be changed.
    for (std::uint32_t n = 0; n < t_.nodes.size(); ++n) {
      for (std::uint16_t p = 0; p < t_.nodes[n].ports.size(); ++p) asked({n, p});
    }
    if (!any_) {
      static_routes();
      return;
    }
    for (std::uint32_t n = 0; n < t_.nodes.size(); ++n) {
      for (const IpPrefix& p : a_->loopbacks[n]) {
        given(p.address, "the loopback of " + t_.nodes[n].name);
      }
      for (std::uint16_t p = 0; p < t_.nodes[n].ports.size(); ++p) {
        const End end{n, p};
        if (!t_.port(end).addresses.empty()) continue;
        for (const IpPrefix& i : a_->at(end).addresses)
          given(i.address, "port " + t_.end_name(end));
      }
    }
    for (const topology::Link& l : t_.links) both_ends(l);
    static_routes();
  }

 private:
  Path port_path(End e) const { return {"nodes", t_.nodes[e.node].name, "ports", t_.port(e).name}; }

  Path address_path(End e, std::size_t i) const {
    Path p = port_path(e);
    p.emplace_back("addresses");
    p.push_back(std::to_string(i));
    return p;
  }

  void asked(End e) {
    const topology::Port& port = t_.port(e);
    for (std::size_t i = 0; i < port.addresses.size(); ++i) {
      any_ = true;
      const IpPrefix& p = port.addresses[i];
      if (p == IpPrefix{} && out_.errors() > 0) continue;  // what could not be read
      if (const std::string why = unusable(p); !why.empty()) {
        out_.error(at_(address_path(e, i)), "address", p.to_string() + " " + why);
      }
      const auto [it, fresh] = seen_.emplace(p.address, Owner{address_path(e, i), t_.end_name(e)});
      if (!fresh) {
        const Mark first = at_(it->second.path);
        out_.error(at_(address_path(e, i)), "duplicate-address",
                   "address " + p.address.to_string() + " is already that of " + it->second.port +
                       (first.line > 0 ? " in line " + std::to_string(first.line) : ""));
      }
    }
    if (!port.mac) return;
    any_ = any_ || port.mac.has_value();
    Path path = port_path(e);
    path.emplace_back("mac");
    if (port.mac->is_group() || *port.mac == MacAddress{}) {
      out_.error(at_(path), "address",
                 port.mac->to_string() +
                     (port.mac->is_group() ? " is a group address" : " is no address") +
                     "; a port has a unicast one");
    }
    const auto [it, fresh] = macs_.emplace(*port.mac, t_.end_name(e));
    if (!fresh) {
      out_.error(at_(path), "duplicate-address",
                 "MAC " + port.mac->to_string() + " is already that of " + it->second);
    }
  }

  void given(const IpAddress& address, const std::string& who) {
    const auto it = seen_.find(address);
    if (it == seen_.end()) return;
    out_.error(at_(it->second.path), "duplicate-address",
               "address " + address.to_string() + " is what Frond gives " + who);
  }

  // On a link, what one end has needs a partner in the same network.
  void both_ends(const topology::Link& l) {
    for (const auto& [e, other] : {std::pair(l.a, l.b), std::pair(l.b, l.a)}) {
      const auto& mine = t_.port(e).addresses;
      const auto& theirs = t_.port(other).addresses;
      if (mine.empty()) continue;
      if (theirs.empty()) {
        Path p = port_path(e);
        p.emplace_back("addresses");
        out_.error(at_(p), "address",
                   "port " + t_.end_name(e) + " has addresses of its own, so its peer " +
                       t_.end_name(other) + " needs some too");
        continue;
      }
      for (std::size_t i = 0; i < mine.size(); ++i) {
        const bool partner = std::any_of(theirs.begin(), theirs.end(), [&](const IpPrefix& p) {
          return p.network() == mine[i].network();
        });
        if (partner) continue;
        out_.error(at_(address_path(e, i)), "address",
                   mine[i].to_string() + " of " + t_.end_name(e) +
                       " is in no network of its peer " + t_.end_name(other));
      }
    }
  }

  void static_routes() {
    for (const auto& [name, node] : c_.nodes) {
      if (node.routes.empty()) continue;
      const std::uint32_t n = t_.find(name);
      if (n == kNone || !t_.nodes[n].is_switch()) continue;
      std::map<IpPrefix, std::size_t> seen;
      for (std::size_t r = 0; r < node.routes.size(); ++r) static_route(n, r, node.routes[r], seen);
    }
  }

  void static_route(std::uint32_t n, std::size_t r, const StaticRoute& route,
                    std::map<IpPrefix, std::size_t>& seen) {
    const Path path{"nodes", t_.nodes[n].name, "routes", std::to_string(r)};
    const auto option = [&](const char* key) {
      Path p = path;
      p.emplace_back(key);
      return p;
    };
    const IpPrefix network = route.prefix.network();
    if (network != route.prefix) {
      out_.error(at_(option("prefix")), "route",
                 route.prefix.to_string() + " has bits set beyond its length", network.to_string());
    }
    if (const auto [it, fresh] = seen.emplace(network, r); !fresh) {
      out_.error(at_(option("prefix")), "duplicate",
                 "a route to " + network.to_string() + " is already routes[" +
                     std::to_string(it->second) + "]");
    }
    if (route.via.size() > 128) {
      out_.error(at_(option("via")), "route", "more than 128 next hops");
      return;
    }
    for (std::size_t v = 0; v < route.via.size(); ++v) {
      const IpAddress& via = route.via[v];
      Path p = option("via");
      p.push_back(std::to_string(v));
      if (via.v6 != route.prefix.address.v6) {
        out_.error(at_(p), "route",
                   via.to_string() + " is of another family than " + route.prefix.to_string());
        continue;
      }
      bool reachable = false;
      bool own = false;
      for (const topology::Interface& i : a_->interfaces[n]) {
        for (const IpPrefix& address : i.addresses) {
          reachable = reachable || address.contains(via);
          own = own || address.address == via;
        }
      }
      if (own) {
        out_.error(at_(p), "route", via.to_string() + " is the switch's own address");
      } else if (!reachable) {
        out_.error(at_(p), "route",
                   "next hop " + via.to_string() + " is on no network of " + t_.nodes[n].name +
                       "'s ports");
      }
    }
  }

  struct Owner {
    Path path;
    std::string port;
  };

  const FabricConfig& c_;
  const topology::Topology& t_;
  const Locator& at_;
  Diagnostics& out_;
  const topology::Addressing* a_ = nullptr;
  std::map<IpAddress, Owner> seen_;
  std::map<MacAddress, std::string> macs_;
  bool any_ = false;
};

}  // namespace

void validate_addresses(const FabricConfig& config, const Plan& plan, const Locator& at,
                        Diagnostics& out) {
  Checker(config, plan, at, out).run();
}

}  // namespace frond::config
