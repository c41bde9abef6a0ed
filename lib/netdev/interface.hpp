// SPDX-License-Identifier: BSD-3-Clause
// Interfaces of a network namespace: make, look at, configure, remove (rtnetlink, through libnl).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/address.hpp"
#include "base/result.hpp"
#include "netdev/namespace.hpp"

struct nl_sock;
struct rtnl_link;

namespace frond::netdev {

struct Route {
  IpPrefix to;                   // 0.0.0.0/0 or ::/0: the default route
  std::optional<IpAddress> via;  // unset: on the link
};

struct Neighbor {
  IpAddress address;
  MacAddress mac;
};

// What an interface shall be; what is unset stays as it is. Applied in this order.
struct InterfaceConfig {
  std::optional<std::string> rename;
  std::optional<MacAddress> mac;
  std::optional<std::uint32_t> mtu;
  std::optional<bool> up;
  std::vector<IpPrefix> addresses;  // IPv6 ones work at once: no duplicate address detection
  std::vector<Neighbor> neighbors;  // permanent
  std::vector<Route> routes;        // added, or replaced
};

struct InterfaceState {
  std::string name;
  std::string kind;  // "veth", "tun", ...; "" for hardware
  int index = 0;
  MacAddress mac;
  std::uint32_t mtu = 0;
  bool up = false;       // what its owner wants (IFF_UP)
  bool carrier = false;  // and what the link says (IFF_LOWER_UP)
};

// A connection to the network configuration of one namespace. Any thread, one at a time.
class Rtnetlink {
 public:
  static Result<Rtnetlink> open(const Namespace& ns);
  Rtnetlink(Rtnetlink&&) noexcept = default;
  Rtnetlink& operator=(Rtnetlink&&) noexcept = default;
  ~Rtnetlink();

  // One end here, the other in `peer_ns`.
  Status create_veth(const std::string& name, const Namespace& peer_ns,
                     const std::string& peer_name);
  Status remove(const std::string& name);

  Result<InterfaceState> look(const std::string& name);
  Result<std::vector<InterfaceState>> list();

  Status configure(const std::string& name, const InterfaceConfig& config);
  Status set_up(const std::string& name, bool up) { return configure(name, {.up = up}); }
  Status move(const std::string& name, const Namespace& to);
  Status remove_address(const std::string& name, const IpPrefix& address);
  Status remove_route(const std::string& name, const Route& route);

 private:
  explicit Rtnetlink(nl_sock* socket) : socket_(socket) {}
  Status add_address(int index, const std::string& name, const IpPrefix& address);
  Status add_route(int index, const std::string& name, const Route& route);
  Status add_neighbor(int index, const std::string& name, const Neighbor& neighbor);
  Status configure_link(int index, const std::string& name, const InterfaceConfig& config);
  Status change(int index, rtnl_link* changes, const std::string& what);

  struct Close {
    void operator()(nl_sock* socket) const;
  };
  std::unique_ptr<nl_sock, Close> socket_;
};

// A namespace for a host: loopback up, IPv6 addresses usable at once, ping for everybody.
Status prepare_host(const Namespace& ns);

// A namespace for the switch's ends of links: the kernel's own stack stays silent on them (no IPv6,
// no answers to ARP), since each frame is ours to answer. Set before interfaces are made.
Status prepare_switch(const Namespace& ns);

}  // namespace frond::netdev
