// SPDX-License-Identifier: BSD-3-Clause
#include "control/config/build.hpp"

#include <algorithm>
#include <unordered_map>

#include "control/config/diagnostic.hpp"
#include "control/config/nearest.hpp"

namespace frond::config {
namespace {

using topology::End;
using topology::kNone;
using topology::Role;

topology::Topology generate(const std::string& name, const TopologyConfig& c) {
  if (c.type == Generator::fat_tree) {
    return topology::fat_tree(name, {c.k.value_or(4), c.host_rate, c.uplink_rate, c.delay, c.mtu});
  }
  return topology::leaf_spine(
      name, {c.leaves.value_or(2), c.spines.value_or(2), c.hosts_per_leaf.value_or(2), c.host_rate,
             c.uplink_rate, c.delay, c.mtu});
}

// p65 of a port that was called port65 or P65.
std::string port_guess(Role role, std::string_view text) {
  if (role == Role::host) return "eth0";
  const std::size_t first = text.find_first_of("0123456789");
  if (first == std::string_view::npos) return {};
  const std::string guess = "p" + std::string(text.substr(first, 6));
  return guess != text && topology::port_index(role, guess) ? guess : "";
}

constexpr unsigned kMaxGuesses = 24;

class Builder {
 public:
  Builder(const FabricConfig& config, const Complain& complain)
      : config_(config), complain_(complain) {}

  Plan run() {
    generated();
    nodes();
    t_.finish();
    ports();
    links();
    plan_.link_config.resize(t_.links.size(), kNone);
    return std::move(plan_);
  }

 private:
  void complain(Path at, const char* rule, std::string message, std::string suggestion = {}) {
    if (complain_) complain_(at, rule, std::move(message), std::move(suggestion));
  }

  void generated() {
    t_.name = config_.name;
    if (!config_.topology) return;
    const TopologyConfig& c = *config_.topology;
    const bool fat_tree = c.type == Generator::fat_tree;
    bool fits = true;
    const auto refuse = [&](std::string_view key, std::string message) {
      complain({"topology", std::string(key)}, "topology", std::move(message));
      fits = false;
    };
    const auto foreign = [&](std::string_view key, bool present, std::string_view other) {
      if (present) {
        refuse(key, "'" + std::string(key) + "' is an option of " + std::string(other) +
                        ", not of " + to_text(c.type));
      }
    };
    foreign("leaves", fat_tree && c.leaves, "leaf-spine");
    foreign("spines", fat_tree && c.spines, "leaf-spine");
    foreign("hosts_per_leaf", fat_tree && c.hosts_per_leaf, "leaf-spine");
    foreign("k", !fat_tree && c.k, "fat-tree");
    if (fat_tree && c.k.value_or(4) % 2 != 0) {
      refuse("k", "topology.k must be even, not " + std::to_string(*c.k));
    }
    const unsigned leaf_ports = c.hosts_per_leaf.value_or(2) + c.spines.value_or(2);
    if (!fat_tree && leaf_ports > topology::kMaxPorts) {
      refuse(c.hosts_per_leaf ? "hosts_per_leaf" : "spines",
             "a leaf would have " + std::to_string(leaf_ports) +
                 " ports (hosts_per_leaf + spines); "
                 "a switch has at most " +
                 std::to_string(topology::kMaxPorts));
    }
    if (!fits) return;
    t_ = generate(config_.name, c);
    for (std::uint32_t n = 0; n < t_.nodes.size(); ++n) index_.emplace(t_.nodes[n].name, n);
    generated_nodes_ = t_.nodes.size();
    generated_links_ = t_.links.size();
    plan_.link_config.resize(t_.links.size(), kNone);
  }

  void nodes() {
    std::unordered_map<std::string, std::string> ids;
    for (const auto& [name, node] : config_.nodes) {
      const auto known = index_.find(name);
      if (known != index_.end()) {
        if (known->second >= generated_nodes_)
          continue;  // a duplicate key; that is an error already
        const topology::Node& n = t_.nodes[known->second];
        if (node.type && *node.type != n.role) {
          complain({"nodes", name, "type"}, "node-type",
                   "node '" + printable(name) + "' of the generator is a " +
                       std::string(role_name(n.role)) + ", not a " + to_text(*node.type));
        }
        if (node.id) {
          complain({"nodes", name, "id"}, "node-id", "the generator gives the ids of its nodes");
        }
        continue;
      }
      if (!node.type) {
        std::string message = "node '" + printable(name) + "' lacks 'type'";
        std::string guess;
        if (generated_nodes_ > 0) {
          message = "node '" + printable(name) + "' is not one of the generator's and lacks 'type'";
          guess = near_node(name);
        }
        complain({"nodes", name}, "node-type", std::move(message), std::move(guess));
        continue;
      }
      if (node.id) {
        const std::string key = to_text(*node.type) + " " + std::to_string(*node.id);
        const auto [it, fresh] = ids.emplace(key, name);
        const bool taken = std::any_of(
            t_.nodes.begin(), t_.nodes.begin() + static_cast<std::ptrdiff_t>(generated_nodes_),
            [&node = node](const auto& n) { return n.role == *node.type && n.id == *node.id; });
        if (!fresh || taken) {
          complain({"nodes", name, "id"}, "node-id",
                   "id " + std::to_string(*node.id) + " is taken by another " +
                       to_text(*node.type) + (fresh ? "" : ", '" + it->second + "'"));
          index_.emplace(name, t_.add_node(name, *node.type));
          continue;
        }
      }
      index_.emplace(name, t_.add_node(name, *node.type, node.id.value_or(0)));
    }
  }

  void ports() {
    for (const auto& [name, node] : config_.nodes) {
      const auto it = index_.find(name);
      if (it == index_.end()) continue;
      for (const auto& [port_text, port] : node.ports) {
        const Role role = t_.nodes[it->second].role;
        const auto index = t_.add_port(it->second, port_text);
        if (!index) {
          bad_port({"nodes", name, "ports", port_text}, name, role, port_text);
          continue;
        }
        topology::Port& p = t_.nodes[it->second].ports[*index];
        p.addresses = port.addresses;
        p.mac = port.mac;
        p.mtu = port.mtu.value_or(1500);
        p.external = port.driver.has_value();
      }
    }
  }

  void bad_port(Path at, const std::string& node, Role role, std::string_view text) {
    const std::string names =
        role == Role::host
            ? "a host's ports are eth0 to eth" + std::to_string(topology::kMaxHostPorts - 1)
            : "a switch's ports are p1 to p" + std::to_string(topology::kMaxPorts);
    complain(std::move(at), "port",
             "'" + printable(node) + "' has no port '" + printable(text) + "'; " + names,
             port_guess(role, text));
  }

  std::vector<std::string> node_names() const {
    std::vector<std::string> names;
    for (const auto& n : t_.nodes) names.push_back(n.name);
    return names;
  }
  // Looking through all names is for people's slips, not for a hostile file's thousands.
  bool may_guess() { return ++guesses_ <= kMaxGuesses; }
  std::string near_node(std::string_view name) {
    return may_guess() ? nearest(name, node_names()) : "";
  }

  // `leaf1:p3`; a host's `h1` is `h1:eth0`. The node must exist, the port may be new.
  std::optional<End> end(const Path& at, const std::string& text) {
    const std::size_t colon = text.find(':');
    const std::string name = text.substr(0, colon);
    const auto it = index_.find(name);
    if (it == index_.end()) {
      const std::string guess = near_node(name);
      complain(at, "dangling-link", "no node is called '" + printable(name) + "'",
               guess.empty() || colon == std::string::npos ? guess : guess + text.substr(colon));
      return std::nullopt;
    }
    const topology::Node& node = t_.nodes[it->second];
    if (colon == std::string::npos && node.is_switch()) {
      complain(at, "port",
               "'" + printable(text) + "' lacks a port, such as " + printable(name) + ":p1");
      return std::nullopt;
    }
    const std::string port_text = colon == std::string::npos ? "eth0" : text.substr(colon + 1);
    const auto index = t_.add_port(it->second, port_text);
    if (!index) {
      const std::string guess = port_guess(node.role, port_text);
      const std::string names = node.is_switch() ? "p1 to p128" : "eth0 to eth7";
      complain(at, "port",
               "'" + printable(name) + "' has no port '" + printable(port_text) +
                   "'; it may have " + names,
               guess.empty() ? "" : name + ":" + guess);
      return std::nullopt;
    }
    return End{it->second, *index};
  }

  void links() {
    for (std::size_t i = 0; i < config_.links.size(); ++i) {
      const LinkConfig& c = config_.links[i];
      const Path at{"links", std::to_string(i)};
      const auto key = [&](const char* k) {
        Path p = at;
        p.emplace_back(k);
        return p;
      };
      if (c.a.empty()) continue;  // an error already
      const auto a = end(key("a"), c.a);
      const auto b = c.b.empty() ? std::nullopt : end(key("b"), c.b);
      if (!a || (!c.b.empty() && !b)) continue;
      if (is_generated(*a) || (b && is_generated(*b))) {
        override_link(i, *a, b, key);
      } else if (!b) {
        complain(at, "dangling-link", "link " + c.a + " lacks 'b', its other end" + range_of(*a));
      } else {
        new_link(i, *a, *b, key);
      }
    }
  }

  bool is_generated(End e) const {
    const std::uint32_t l = t_.port(e).link;
    return l != kNone && l < generated_links_;
  }

  std::string range_of(End e) const {
    if (e.node >= generated_nodes_) return "";
    return "; the generator does not use this port";
  }

  template <class Key>
  void override_link(std::size_t i, End a, std::optional<End> b, const Key& key) {
    const LinkConfig& c = config_.links[i];
    const std::uint32_t l = is_generated(a) ? t_.port(a).link : t_.port(*b).link;
    topology::Link& link = t_.links[l];
    const bool turned = link.b == a;
    const End other = turned ? link.a : link.b;
    if (b && (!is_generated(a) || other != *b)) {
      const End wrong = is_generated(a) ? a : *b;
      const End peer = *t_.peer(wrong);
      complain(
          key(is_generated(a) ? "b" : "a"), "port-used",
          "port " + t_.end_name(wrong) + " is joined to " + t_.end_name(peer) + " by the generator",
          t_.end_name(peer));
      return;
    }
    if (plan_.link_config[l] != kNone) {
      complain(key("a"), "port-used",
               "link " + t_.end_name(a) + " is already described by links[" +
                   std::to_string(plan_.link_config[l]) + "]");
      return;
    }
    plan_.link_config[l] = static_cast<std::uint32_t>(i);
    if (c.rate) link.rate = *c.rate;
    if (c.delay) link.delay = *c.delay;
    if (c.mtu) link.mtu = *c.mtu;
    for (End e : {link.a, link.b}) t_.port(e).mtu = link.mtu;
    // impair_a is about the end that the file calls a.
    if (turned) std::swap(link.a, link.b);
  }

  template <class Key> void new_link(std::size_t i, End a, End b, const Key& key) {
    const LinkConfig& c = config_.links[i];
    bool good = true;
    if (a.node == b.node) {
      complain(key("b"), "self-link", "a link from '" + t_.nodes[a.node].name + "' to itself");
      return;
    }
    for (const auto& [e, name] : {std::pair(a, "a"), std::pair(b, "b")}) {
      if (t_.port(e).link == kNone) continue;
      const std::uint32_t other =
          plan_.link_config.size() > t_.port(e).link ? plan_.link_config[t_.port(e).link] : kNone;
      complain(
          key(name), "port-used",
          "port " + t_.end_name(e) + " is already used by links[" + std::to_string(other) + "]",
          free_port(e));
      good = false;
    }
    if (!t_.nodes[a.node].is_switch() && !t_.nodes[b.node].is_switch()) {
      complain(key("b"), "host-link", "both ends are hosts; a host's link leads to a switch");
      good = false;
    }
    if (!good) return;
    t_.add_link(a, b, c.rate.value_or(Rate::gbps(1)), c.delay.value_or(Time::ns(500)),
                c.mtu.value_or(topology::kDefaultMtu));
    plan_.link_config.push_back(static_cast<std::uint32_t>(i));
  }

  std::string free_port(End e) {
    if (!may_guess()) return {};
    const topology::Node& n = t_.nodes[e.node];
    for (std::uint16_t p = 0; p < topology::kMaxPorts; ++p) {
      const std::string text = port_name(n.role, p);
      if (!topology::port_index(n.role, text)) break;
      // Not one that another link of the file names.
      const std::string whole = n.name + ":" + text;
      const bool named =
          std::any_of(config_.links.begin(), config_.links.end(),
                      [&](const LinkConfig& l) { return l.a == whole || l.b == whole; });
      if (!named && (p >= n.ports.size() || !n.ports[p].used())) return whole;
    }
    return {};
  }

  const FabricConfig& config_;
  const Complain& complain_;
  Plan plan_;
  topology::Topology& t_ = plan_.topology;
  std::unordered_map<std::string, std::uint32_t> index_;
  std::size_t generated_nodes_ = 0;
  std::size_t generated_links_ = 0;
  unsigned guesses_ = 0;
};

const LinkConfig* own_config(const FabricConfig& config, const Plan& plan, std::uint32_t link) {
  const std::uint32_t i = plan.link_config[link];
  return i == kNone ? nullptr : &config.links[i];
}

}  // namespace

Plan build(const FabricConfig& config, const Complain& complain) {
  return Builder(config, complain).run();
}

LinkDriver link_driver(const FabricConfig& config, const Plan& plan, std::uint32_t link) {
  const LinkConfig* c = own_config(config, plan, link);
  return c == nullptr ? LinkDriver::wire : c->driver.value_or(LinkDriver::wire);
}

const link::Impairment& link_impairment(const FabricConfig& config, const Plan& plan,
                                        std::uint32_t link, bool sent_by_a) {
  static const link::Impairment kClean{};
  const LinkConfig* c = own_config(config, plan, link);
  if (c == nullptr) return kClean;
  const auto& own = sent_by_a ? c->impair_a : c->impair_b;
  return own ? *own : c->impair;
}

LinkState link_state(const FabricConfig& config, const Plan& plan, std::uint32_t link) {
  const LinkConfig* c = own_config(config, plan, link);
  return c == nullptr ? LinkState::up : c->state;
}

const PortConfig* port_config(const FabricConfig& config, const topology::Topology& topology,
                              topology::End end) {
  const NodeConfig* node = config.nodes.find(topology.nodes[end.node].name);
  return node == nullptr ? nullptr : node->ports.find(topology.port(end).name);
}

std::uint64_t switch_ecmp_seed(const FabricConfig& config, const std::string& node) {
  const NodeConfig* c = config.nodes.find(node);
  if (c != nullptr && c->ecmp_seed) return *c->ecmp_seed;
  if (config.switches.ecmp_seed) return *config.switches.ecmp_seed;
  return topology::ecmp_seed(config.seed, node);
}

}  // namespace frond::config
