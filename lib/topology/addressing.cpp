// SPDX-License-Identifier: BSD-3-Clause
#include "topology/addressing.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "base/rng.hpp"

namespace frond::topology {
namespace {

constexpr std::uint32_t ip4(unsigned a, unsigned b, unsigned c, unsigned d) {
  return a << 24 | b << 16 | c << 8 | d;
}

Ip6 ip6(std::uint16_t g0, std::uint16_t g1, std::uint16_t g2, std::uint16_t g3, std::uint32_t low) {
  Ip6 a;
  unsigned i = 0;
  for (std::uint16_t g : {g0, g1, g2, g3}) {
    a.bytes[i++] = static_cast<std::uint8_t>(g >> 8);
    a.bytes[i++] = static_cast<std::uint8_t>(g);
  }
  for (unsigned b = 0; b < 4; ++b) a.bytes[12 + b] = static_cast<std::uint8_t>(low >> (24 - 8 * b));
  return a;
}

unsigned tier(Role role) { return static_cast<unsigned>(role) - 1; }

class Planner {
 public:
  explicit Planner(const Topology& t) : t_(t) {
    out_.interfaces.resize(t.nodes.size());
    out_.loopbacks.resize(t.nodes.size());
    out_.blocks.resize(t.nodes.size());
    for (std::size_t n = 0; n < t.nodes.size(); ++n) {
      out_.interfaces[n].resize(t.nodes[n].ports.size());
    }
  }

  Result<Addressing> run() {
    number_blocks();
    if (auto s = number_links(); !s) return s.error();
    for (std::uint32_t n = 0; n < t_.nodes.size(); ++n) {
      loopback(n);
      for (std::uint16_t p = 0; p < t_.nodes[n].ports.size(); ++p) {
        if (t_.nodes[n].ports[p].used()) interface({n, p});
      }
    }
    return std::move(out_);
  }

 private:
  bool host_port(End e) const {
    const auto peer = t_.peer(e);
    return peer && t_.nodes[peer->node].role == Role::host;
  }

  // A leaf's block number is its id. Other switches with hosts follow after the highest leaf. Ids
  // have 14 bits, so all of them fit below 10.253.
  void number_blocks() {
    block_.assign(t_.nodes.size(), 0);
    std::uint32_t highest = 0;
    for (const Node& node : t_.nodes) {
      if (node.role == Role::leaf) highest = std::max(highest, node.id);
    }
    for (std::uint32_t n = 0; n < t_.nodes.size(); ++n) {
      const Node& node = t_.nodes[n];
      bool hosts = false;
      for (std::uint16_t p = 0; p < node.ports.size(); ++p) hosts = hosts || host_port({n, p});
      if (!node.is_switch() || !hosts) continue;
      block_[n] = node.role == Role::leaf ? node.id : ++highest;
      out_.blocks[n] = {IpPrefix{Ip4{block_address(n, 0)}, 24},
                        IpPrefix{ip6(0xfd00, 0, 0, static_cast<std::uint16_t>(block_[n]), 0), 64}};
    }
  }

  std::uint32_t block_address(std::uint32_t node, std::uint32_t offset) const {
    return ip4(10, 0, 0, 0) + (block_[node] << 8) + offset;
  }

  // The end whose id and port name a switch-to-switch link: the lower one.
  End lower_end(const Link& l) const {
    const auto key = [&](End e) {
      const Node& n = t_.nodes[e.node];
      return std::tuple(n.role, n.id, e.port);
    };
    return key(l.a) < key(l.b) ? l.a : l.b;
  }

  // Two bits of tier do not fit beside 8 of id and 7 of port, nor need they in most fabrics.
  Status number_links() {
    index_.assign(t_.links.size(), 0);
    std::vector<std::pair<std::uint64_t, std::uint32_t>> keys;
    bool fits = true;
    for (std::uint32_t i = 0; i < t_.links.size(); ++i) {
      const Link& l = t_.links[i];
      if (!t_.nodes[l.a.node].is_switch() || !t_.nodes[l.b.node].is_switch()) continue;
      const End e = lower_end(l);
      const Node& n = t_.nodes[e.node];
      fits = fits && tier(n.role) < 2 && n.id < 256;
      keys.emplace_back(std::uint64_t{tier(n.role)} << 40 | std::uint64_t{n.id} << 8 | e.port, i);
      index_[i] = tier(n.role) << 15 | (n.id & 255) << 7 | e.port;
    }
    if (fits) return {};
    if (keys.size() > 65'536) {
      return Error{Error::Code::resource_exhausted,
                   "more than 65536 links between switches: no addresses left in 10.254.0.0/15"};
    }
    std::sort(keys.begin(), keys.end());
    for (std::uint32_t k = 0; k < keys.size(); ++k) index_[keys[k].second] = k;
    return {};
  }

  void loopback(std::uint32_t node) {
    const Node& n = t_.nodes[node];
    if (!n.is_switch()) return;
    out_.loopbacks[node] = {
        IpPrefix{Ip4{ip4(10, 253, 0, 0) + (tier(n.role) << 14) + n.id}, 32},
        IpPrefix{ip6(0xfd00, 0xfffe, 0, static_cast<std::uint16_t>(tier(n.role)), n.id), 128}};
  }

  void interface(End e) {
    const Port& port = t_.port(e);
    Interface& out = out_.interfaces[e.node][e.port];
    out.mtu = port.mtu;
    out.mac = port.mac ? *port.mac : make_mac(e);
    if (!port.addresses.empty()) {
      out.addresses = port.addresses;
      return;
    }
    if (port.link == kNone) return;  // external: only what was asked for
    const Link& l = t_.links[port.link];
    const End other = *t_.peer(e);
    // An end whose peer has addresses of its own gets none of ours: they could not match.
    if (!t_.port(other).addresses.empty()) return;
    const bool host_link = !t_.nodes[e.node].is_switch() || !t_.nodes[other.node].is_switch();
    if (host_link) {
      const bool host = !t_.nodes[e.node].is_switch();
      const End sw = host ? other : e;
      if (!t_.nodes[sw.node].is_switch()) return;
      const std::uint32_t offset = 2U * sw.port + (host ? 1 : 0);
      out.addresses = {
          IpPrefix{Ip4{block_address(sw.node, offset)}, 31},
          IpPrefix{ip6(0xfd00, 0, 0, static_cast<std::uint16_t>(block_[sw.node]), offset), 127}};
      return;
    }
    const End low = lower_end(l);
    const Node& n = t_.nodes[low.node];
    const std::uint32_t odd = low == e ? 0 : 1;
    out.addresses = {IpPrefix{Ip4{ip4(10, 254, 0, 0) + 2 * index_[port.link] + odd}, 31},
                     IpPrefix{ip6(0xfd00, 0xffff, static_cast<std::uint16_t>(tier(n.role)),
                                  static_cast<std::uint16_t>(n.id), 2U * low.port + odd),
                              127}};
  }

  MacAddress make_mac(End e) {
    std::string text = t_.name;
    text += '\0';
    text += t_.nodes[e.node].name;
    text += '\0';
    text += t_.port(e).name;
    for (std::uint64_t salt = 0;; ++salt) {
      const std::uint64_t h = hash_name(text, salt);
      MacAddress mac{{2, static_cast<std::uint8_t>(h >> 32), static_cast<std::uint8_t>(h >> 24),
                      static_cast<std::uint8_t>(h >> 16), static_cast<std::uint8_t>(h >> 8),
                      static_cast<std::uint8_t>(h)}};
      if (macs_.insert(mac).second) return mac;
    }
  }

  const Topology& t_;
  Addressing out_;
  std::vector<std::uint32_t> block_;  // by node; 0: none
  std::vector<std::uint32_t> index_;  // by link
  std::set<MacAddress> macs_;
};

}  // namespace

std::optional<IpPrefix> Addressing::address(End e, bool v6) const {
  for (const IpPrefix& p : at(e).addresses) {
    if (p.address.v6 == v6) return p;
  }
  return std::nullopt;
}

Result<Addressing> assign_addresses(const Topology& topology) { return Planner(topology).run(); }

std::optional<IpAddress> gateway(const Topology& topology, const Addressing& addressing, End port,
                                 bool v6) {
  const auto peer = topology.peer(port);
  if (!peer) return std::nullopt;
  const auto prefix = addressing.address(*peer, v6);
  return prefix ? std::optional(prefix->address) : std::nullopt;
}

}  // namespace frond::topology
