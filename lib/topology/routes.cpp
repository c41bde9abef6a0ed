// SPDX-License-Identifier: BSD-3-Clause
#include "topology/routes.hpp"

#include <algorithm>
#include <numeric>

namespace frond::topology {
namespace {

constexpr std::uint32_t kFar = ~std::uint32_t{0};
constexpr std::uint16_t kMaxWeight = 64;

// The switches and the links between them, as seen from each end.
struct Edge {
  std::uint32_t to = 0;
  std::uint32_t link = 0;
  std::uint16_t port = 0;
};

struct Graph {
  std::vector<std::vector<Edge>> edges;  // [node], by port
  std::vector<std::uint32_t> top_down;   // switches, highest tier first
  std::vector<std::uint8_t> tier;        // [node]
  bool tiered = true;

  explicit Graph(const Topology& t) : edges(t.nodes.size()), tier(t.nodes.size()) {
    for (std::uint32_t n = 0; n < t.nodes.size(); ++n) {
      tier[n] = static_cast<std::uint8_t>(t.nodes[n].role);
      if (t.nodes[n].is_switch()) top_down.push_back(n);
      for (std::uint16_t p = 0; p < t.nodes[n].ports.size(); ++p) {
        const auto peer = t.peer({n, p});
        if (!peer || !t.nodes[n].is_switch() || !t.nodes[peer->node].is_switch()) continue;
        edges[n].push_back({peer->node, t.nodes[n].ports[p].link, p});
        tiered = tiered && t.nodes[n].role != t.nodes[peer->node].role;
      }
    }
    std::stable_sort(top_down.begin(), top_down.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return tier[a] > tier[b]; });
  }
};

// Distances of all switches to one destination, and which edges lead nearer.
class Paths {
 public:
  Paths(const Graph& g, Routing routing) : g_(g), routing_(routing) {}

  void compute(std::uint32_t destination, const LinkStates& states) {
    states_ = &states;
    down_.assign(g_.edges.size(), kFar);
    up_.assign(g_.edges.size(), kFar);
    down_[destination] = 0;
    order_.assign(1, destination);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const std::uint32_t n = order_[i];
      for (const Edge& e : g_.edges[n]) {
        const bool usable = routing_ == Routing::shortest_path || g_.tier[e.to] > g_.tier[n];
        if (!usable || !alive(e) || down_[e.to] != kFar) continue;
        down_[e.to] = down_[n] + 1;
        order_.push_back(e.to);
      }
    }
    if (routing_ == Routing::shortest_path) return;
    // Who cannot go down goes up, to the nearest who can, directly or by going up further.
    for (std::uint32_t n : g_.top_down) {
      if (down_[n] != kFar) continue;
      for (const Edge& e : g_.edges[n]) {
        if (g_.tier[e.to] < g_.tier[n] || !alive(e)) continue;
        const std::uint32_t d = distance(e.to);
        if (d != kFar) up_[n] = std::min(up_[n], d + 1);
      }
      if (up_[n] != kFar) order_.push_back(n);
    }
  }

  // Reachable switches such that each comes after those it forwards to; the destination is first.
  const std::vector<std::uint32_t>& order() const { return order_; }

  bool reachable(std::uint32_t n) const { return distance(n) != kFar; }

  // Whether n forwards over e. Every step comes nearer, and one that goes down never turns up, so
  // there is no loop.
  bool next_hop(std::uint32_t n, const Edge& e) const {
    if (!alive(e)) return false;
    if (down_[n] != kFar) {
      const bool usable = routing_ == Routing::shortest_path || g_.tier[e.to] < g_.tier[n];
      return usable && down_[e.to] != kFar && down_[e.to] + 1 == down_[n];
    }
    return up_[n] != kFar && g_.tier[e.to] > g_.tier[n] && distance(e.to) != kFar &&
           distance(e.to) + 1 == up_[n];
  }

 private:
  bool alive(const Edge& e) const { return states_->empty() || (*states_)[e.link]; }
  std::uint32_t distance(std::uint32_t n) const { return down_[n] != kFar ? down_[n] : up_[n]; }

  const Graph& g_;
  Routing routing_;
  const LinkStates* states_ = nullptr;
  std::vector<std::uint32_t> down_, up_, order_;
};

Routing choose_routing(const Topology& t, const Graph& g) {
  if (!g.tiered) return Routing::shortest_path;
  std::vector<std::uint32_t> with_hosts;
  for (std::uint32_t n : g.top_down) {
    for (const Port& p : t.nodes[n].ports) {
      if (p.link == kNone) continue;
      const Link& l = t.links[p.link];
      if (t.nodes[l.a.node].is_switch() && t.nodes[l.b.node].is_switch()) continue;
      with_hosts.push_back(n);
      break;
    }
  }
  const LinkStates all_up;
  Paths up_down(g, Routing::up_down);
  Paths any(g, Routing::shortest_path);
  for (std::uint32_t d : with_hosts) {
    up_down.compute(d, all_up);
    any.compute(d, all_up);
    for (std::uint32_t n : with_hosts) {
      if (any.reachable(n) && !up_down.reachable(n)) return Routing::shortest_path;
    }
  }
  return Routing::up_down;
}

// Reduced to their ratio, at most kMaxWeight, at least 1.
void set_weights(std::vector<Member>& members, const std::vector<std::uint64_t>& capacity) {
  std::uint64_t divisor = 0;
  std::uint64_t largest = 0;
  for (std::uint64_t c : capacity) {
    divisor = std::gcd(divisor, c);
    largest = std::max(largest, c);
  }
  if (divisor == 0) return;
  largest /= divisor;
  for (std::size_t i = 0; i < members.size(); ++i) {
    std::uint64_t w = capacity[i] / divisor;
    if (largest > kMaxWeight) w = (w * kMaxWeight + largest / 2) / largest;
    members[i].weight = static_cast<std::uint16_t>(std::max<std::uint64_t>(w, 1));
  }
}

std::vector<IpPrefix> prefixes_of(const Topology& t, const Addressing& a, std::uint32_t node) {
  std::vector<IpPrefix> list = a.loopbacks[node];
  list.insert(list.end(), a.blocks[node].begin(), a.blocks[node].end());
  const std::size_t ours = list.size();
  for (std::uint16_t p = 0; p < t.nodes[node].ports.size(); ++p) {
    const Port& port = t.nodes[node].ports[p];
    const auto peer = t.peer({node, p});
    if (!port.used() || (peer && t.nodes[peer->node].is_switch())) continue;
    for (const IpPrefix& address : a.interfaces[node][p].addresses) {
      const IpPrefix network = address.network();
      const bool covered = std::any_of(
          list.begin(), list.begin() + static_cast<std::ptrdiff_t>(ours), [&](const IpPrefix& b) {
            return b.length <= network.length && b.contains(network.address);
          });
      if (!covered) list.push_back(network);
    }
  }
  return list;
}

class Computer {
 public:
  Computer(const Topology& t, const Addressing& a, const LinkStates& states)
      : t_(t),
        a_(a),
        g_(t),
        states_(std::find(states.begin(), states.end(), false) == states.end() ? all_up_ : states),
        routing_(choose_routing(t, g_)),
        base_(g_, routing_),
        now_(g_, routing_),
        out_(t.nodes.size()) {}

  Routes run() {
    for (std::uint32_t d : g_.top_down) destination(d);
    for (SwitchRoutes& s : out_) {
      std::sort(s.groups.begin(), s.groups.end(),
                [](const Group& x, const Group& y) { return x.id < y.id; });
      std::sort(s.routes.begin(), s.routes.end(),
                [](const Route& x, const Route& y) { return x.prefix < y.prefix; });
      // The same network on two switches (anycast): the first keeps it.
      const auto same = [](const Route& x, const Route& y) { return x.prefix == y.prefix; };
      s.routes.erase(std::unique(s.routes.begin(), s.routes.end(), same), s.routes.end());
    }
    return std::move(out_);
  }

 private:
  void destination(std::uint32_t d) {
    base_.compute(d, all_up_);
    const bool failures = !states_.empty();
    if (failures) now_.compute(d, states_);
    const Paths& now = failures ? now_ : base_;
    const auto prefixes = prefixes_of(t_, a_, d);
    capacity_.assign(t_.nodes.size(), 0);
    capacity_[d] = ~std::uint64_t{0};
    for (std::uint32_t n : base_.order()) {
      if (n == d) continue;
      Group group;
      group.id = group_id(t_.nodes[d]);
      group.destination = d;
      weights_.clear();
      for (const Edge& e : g_.edges[n]) {
        const bool configured = base_.next_hop(n, e);
        const bool alive = now.next_hop(n, e);
        if (!configured && !alive) continue;
        group.members.push_back({e.port, 1, alive});
        const std::uint64_t c = std::min(t_.links[e.link].rate.bps(), capacity_[e.to]);
        weights_.push_back(configured ? c : 0);
        if (configured) capacity_[n] += c;
      }
      set_weights(group.members, weights_);
      out_[n].groups.push_back(std::move(group));
      for (const IpPrefix& p : prefixes) out_[n].routes.push_back({p, group_id(t_.nodes[d])});
    }
  }

  const Topology& t_;
  const Addressing& a_;
  const LinkStates all_up_;
  const Graph g_;
  const LinkStates& states_;
  const Routing routing_;
  Paths base_, now_;
  Routes out_;
  std::vector<std::uint64_t> capacity_, weights_;
};

}  // namespace

const Group* SwitchRoutes::find(std::uint32_t id) const {
  const auto it = std::lower_bound(groups.begin(), groups.end(), id,
                                   [](const Group& g, std::uint32_t i) { return g.id < i; });
  return it != groups.end() && it->id == id ? &*it : nullptr;
}

Routing routing_of(const Topology& topology) {
  const Graph graph(topology);
  return choose_routing(topology, graph);
}

std::uint32_t group_id(const Node& destination) {
  return (static_cast<std::uint32_t>(destination.role) - 1) << 14 | destination.id;
}

Routes compute_routes(const Topology& topology, const Addressing& addressing,
                      const LinkStates& states) {
  return Computer(topology, addressing, states).run();
}

// Both sides are sorted: a merge.
RouteChanges diff(const SwitchRoutes& before, const SwitchRoutes& after) {
  RouteChanges changes;
  auto old_group = before.groups.begin();
  for (const Group& g : after.groups) {
    for (; old_group != before.groups.end() && old_group->id < g.id; ++old_group) {
      changes.removed_groups.push_back(old_group->id);
    }
    const bool known = old_group != before.groups.end() && old_group->id == g.id;
    if (!known || !(*old_group == g)) changes.set_groups.push_back(g);
    if (known) ++old_group;
  }
  for (; old_group != before.groups.end(); ++old_group) {
    changes.removed_groups.push_back(old_group->id);
  }
  auto old_route = before.routes.begin();
  for (const Route& r : after.routes) {
    for (; old_route != before.routes.end() && old_route->prefix < r.prefix; ++old_route) {
      changes.removed_routes.push_back(old_route->prefix);
    }
    const bool known = old_route != before.routes.end() && old_route->prefix == r.prefix;
    if (!known || !(*old_route == r)) changes.set_routes.push_back(r);
    if (known) ++old_route;
  }
  for (; old_route != before.routes.end(); ++old_route) {
    changes.removed_routes.push_back(old_route->prefix);
  }
  return changes;
}

}  // namespace frond::topology
