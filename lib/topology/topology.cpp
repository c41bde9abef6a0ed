// SPDX-License-Identifier: BSD-3-Clause
#include "topology/topology.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/rng.hpp"

namespace frond::topology {
namespace {

// A number without sign or leading zeros.
std::optional<unsigned> plain_number(std::string_view text) {
  unsigned n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (text.size() > 1 && text[0] == '0') return std::nullopt;
  return n;
}

std::uint32_t trailing_number(std::string_view name) {
  std::size_t first = name.size();
  while (first > 0 && name[first - 1] >= '0' && name[first - 1] <= '9') --first;
  const auto n = plain_number(name.substr(first));
  return n && *n <= kMaxNodeId ? *n : 0;
}

}  // namespace

std::optional<std::uint16_t> port_index(Role role, std::string_view name) {
  const bool host = role == Role::host;
  const std::string_view prefix = host ? "eth" : "p";
  if (!name.starts_with(prefix)) return std::nullopt;
  const auto n = plain_number(name.substr(prefix.size()));
  if (!n) return std::nullopt;
  if (host)
    return *n < kMaxHostPorts ? std::optional(static_cast<std::uint16_t>(*n)) : std::nullopt;
  if (*n < 1 || *n > kMaxPorts) return std::nullopt;
  return static_cast<std::uint16_t>(*n - 1);
}

std::string port_name(Role role, std::uint16_t index) {
  return role == Role::host ? "eth" + std::to_string(index) : "p" + std::to_string(index + 1);
}

std::uint64_t ecmp_seed(std::uint64_t fabric_seed, std::string_view switch_name) {
  return hash_name(switch_name, fabric_seed);
}

std::uint32_t Topology::find(std::string_view node) const {
  for (std::uint32_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].name == node) return i;
  }
  return kNone;
}

std::optional<End> Topology::find_end(std::string_view text) const {
  const auto colon = text.find(':');
  const std::uint32_t node = find(text.substr(0, colon));
  if (node == kNone) return std::nullopt;
  const Node& n = nodes[node];
  if (colon == std::string_view::npos && n.is_switch()) return std::nullopt;
  const auto index =
      port_index(n.role, colon == std::string_view::npos ? "eth0" : text.substr(colon + 1));
  if (!index || *index >= n.ports.size() || !n.ports[*index].used()) return std::nullopt;
  return End{node, *index};
}

std::string Topology::end_name(End e) const {
  return nodes[e.node].name + ":" + nodes[e.node].ports[e.port].name;
}

std::optional<End> Topology::peer(End e) const {
  const std::uint32_t l = port(e).link;
  if (l == kNone) return std::nullopt;
  return links[l].a == e ? links[l].b : links[l].a;
}

unsigned Topology::count(Role role) const {
  return static_cast<unsigned>(
      std::count_if(nodes.begin(), nodes.end(), [&](const Node& n) { return n.role == role; }));
}

std::uint32_t Topology::add_node(std::string node_name, Role role, std::uint32_t id) {
  Node node;
  node.name = std::move(node_name);
  node.role = role;
  node.id = id;
  nodes.push_back(std::move(node));
  return static_cast<std::uint32_t>(nodes.size() - 1);
}

std::optional<std::uint16_t> Topology::add_port(std::uint32_t node, std::string_view port_text) {
  Node& n = nodes[node];
  const auto index = port_index(n.role, port_text);
  if (!index) return std::nullopt;
  while (n.ports.size() <= *index) {
    Port port;
    port.name = port_name(n.role, static_cast<std::uint16_t>(n.ports.size()));
    n.ports.push_back(std::move(port));
  }
  return index;
}

std::uint32_t Topology::add_link(End a, End b, Rate rate, Time delay, std::uint32_t mtu) {
  const auto index = static_cast<std::uint32_t>(links.size());
  links.push_back({a, b, rate, delay, mtu});
  for (End e : {a, b}) {
    port(e).link = index;
    port(e).mtu = mtu;
  }
  return index;
}

void Topology::finish() {
  for (Role role : {Role::host, Role::leaf, Role::spine, Role::core}) {
    std::set<std::uint32_t> taken;
    for (const Node& n : nodes) {
      if (n.role == role && n.id != 0) taken.insert(n.id);
    }
    for (Node& n : nodes) {
      if (n.role != role || n.id != 0) continue;
      const std::uint32_t wish = trailing_number(n.name);
      if (wish != 0 && taken.insert(wish).second) n.id = wish;
    }
    std::uint32_t next = 1;
    for (Node& n : nodes) {
      if (n.role != role || n.id != 0) continue;
      while (!taken.insert(next).second) ++next;
      n.id = next;
    }
  }
}

double oversubscription(const Topology& topology) {
  double worst = 0;
  for (const Node& n : topology.nodes) {
    if (n.role != Role::leaf) continue;
    double down = 0;
    double up = 0;
    for (const Port& p : n.ports) {
      if (p.link == kNone) continue;
      const Link& l = topology.links[p.link];
      const bool host = topology.nodes[l.a.node].role == Role::host ||
                        topology.nodes[l.b.node].role == Role::host;
      (host ? down : up) += static_cast<double>(l.rate.bps());
    }
    if (up > 0) worst = std::max(worst, down / up);
  }
  return worst;
}

}  // namespace frond::topology
