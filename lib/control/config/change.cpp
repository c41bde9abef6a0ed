// SPDX-License-Identifier: BSD-3-Clause
#include "control/config/change.hpp"

#include <algorithm>
#include <map>

#include "topology/addressing.hpp"

namespace frond::config {
namespace {

using Attributes = std::vector<std::pair<std::string, std::string>>;

// All that a configuration makes, by subject and name, each with its attributes as text: two of
// these compare by merge.
struct Inventory {
  std::map<std::pair<Subject, std::string>, Attributes> things;
};

template <class T> void append(Attributes& out, const T& value, const std::string& prefix) {
  for_each_field(value, [&](const FieldInfo& info, const auto& member) {
    using M = std::remove_cvref_t<decltype(member)>;
    const std::string path = prefix + std::string(info.name);
    if constexpr (Described<M>)
      append(out, member, path + ".");
    else
      out.emplace_back(path, flow_text(member));
  });
}

std::string texts(const std::vector<IpPrefix>& list) { return flow_text(list); }

void interface(Attributes& out, const topology::Interface& i, const std::string& prefix) {
  out.emplace_back(prefix + "mac", i.mac.to_string());
  out.emplace_back(prefix + "addresses", texts(i.addresses));
}

Inventory take(const FabricConfig& c) {
  Inventory inventory;
  auto& things = inventory.things;
  const Plan plan = build(c);
  const topology::Topology& t = plan.topology;
  const auto addressing = topology::assign_addresses(t);
  const topology::Addressing a = addressing ? *addressing : topology::Addressing{};

  things[{Subject::fabric, ""}] = {{"name", c.name},
                                   {"seed", std::to_string(c.seed)},
                                   {"cpus", flow_text(c.cpus)},
                                   {"idle", to_text(c.idle)}};
  append(things[{Subject::switches, ""}], c.switches, "");
  Attributes& sim = things[{Subject::simulation, ""}];
  sim = {{"traffic", flow_text(c.traffic)},
         {"events", flow_text(c.events)},
         {"duration", flow_text(c.duration)}};

  for (std::uint32_t n = 0; n < t.nodes.size(); ++n) {
    const topology::Node& node = t.nodes[n];
    Attributes& out = things[{Subject::node, node.name}];
    out = {{"type", to_text(node.role)}};
    if (!node.is_switch()) {
      append(out, c.hosts, "");
      continue;
    }
    out.emplace_back("ecmp_seed", std::to_string(switch_ecmp_seed(c, node.name)));
    if (addressing) out.emplace_back("loopback", texts(a.loopbacks[n]));
    const NodeConfig* own = c.nodes.find(node.name);
    if (own != nullptr)
      out.emplace_back("routes", flow_text(own->routes));
    else
      out.emplace_back("routes", "[]");
  }

  for (std::uint32_t n = 0; n < t.nodes.size(); ++n) {
    for (std::uint16_t p = 0; p < t.nodes[n].ports.size(); ++p) {
      const topology::End end{n, p};
      if (!t.port(end).external) continue;
      Attributes& out = things[{Subject::port, t.end_name(end)}];
      const PortConfig* own = port_config(c, t, end);
      for (const auto& [name, value] : [&] {
             Attributes list;
             if (own != nullptr) append(list, *own, "");
             return list;
           }()) {
        if (name != "addresses" && name != "mac") out.emplace_back(name, value);
      }
      if (addressing) interface(out, a.at(end), "");
    }
  }

  for (std::uint32_t l = 0; l < t.links.size(); ++l) {
    topology::Link link = t.links[l];
    // Named from the lower end, however the file turns it.
    const auto key = [&](topology::End e) {
      return std::pair(t.nodes[e.node].role, t.end_name(e));
    };
    const bool turned = key(link.b) < key(link.a) && t.nodes[link.b.node].is_switch();
    const bool host_first = !t.nodes[link.a.node].is_switch();
    const bool swap = turned || host_first;
    if (swap) std::swap(link.a, link.b);
    Attributes& out = things[{Subject::link, t.link_name(link)}];
    out = {{"rate", format(link.rate)},
           {"delay", format(link.delay)},
           {"mtu", std::to_string(link.mtu)},
           {"driver", to_text(link_driver(c, plan, l))},
           {"state", to_text(link_state(c, plan, l))}};
    append(out, link_impairment(c, plan, l, !swap), "impair_a.");
    append(out, link_impairment(c, plan, l, swap), "impair_b.");
    if (addressing) {
      interface(out, a.at(link.a), "a.");
      interface(out, a.at(link.b), "b.");
    }
  }
  return inventory;
}

// A node's attributes that only a new node can have.
bool defining(Subject subject, const std::string& attribute) {
  return subject == Subject::node && attribute == "type";
}

std::string_view subject_word(Subject s) {
  switch (s) {
    case Subject::fabric:
      return "fabric";
    case Subject::switches:
      return "switches";
    case Subject::node:
      return "node";
    case Subject::port:
      return "port";
    case Subject::link:
      return "link";
    case Subject::simulation:
      return "simulation";
  }
  return "";
}

// What a line about something new says.
bool telling(Subject subject, const std::string& attribute) {
  if (subject == Subject::node) return attribute == "type";
  return attribute == "rate" || attribute == "delay" || attribute == "driver" ||
         attribute == "device";
}

std::vector<AttributeChange> all_attributes(const Attributes& attributes, bool added) {
  std::vector<AttributeChange> list;
  for (const auto& [name, value] : attributes) {
    list.push_back({name, added ? "" : value, added ? value : ""});
  }
  return list;
}

std::vector<AttributeChange> compare(const Attributes& before, const Attributes& after) {
  std::vector<AttributeChange> list;
  for (const auto& [name, value] : after) {
    const auto old = std::find_if(before.begin(), before.end(),
                                  [&name = name](const auto& x) { return x.first == name; });
    const std::string was = old == before.end() ? "" : old->second;
    if (was != value) list.push_back({name, was, value});
  }
  return list;
}

}  // namespace

std::vector<Change> diff(const FabricConfig* before, const FabricConfig* after) {
  const Inventory old = before == nullptr ? Inventory{} : take(*before);
  const Inventory now = after == nullptr ? Inventory{} : take(*after);
  std::vector<Change> removed, modified, added;
  for (const auto& [key, attributes] : old.things) {
    const auto it = now.things.find(key);
    if (it == now.things.end()) {
      removed.push_back(
          {ChangeKind::remove, key.first, key.second, all_attributes(attributes, false)});
      continue;
    }
    auto list = compare(attributes, it->second);
    if (list.empty()) continue;
    const bool other =
        std::any_of(list.begin(), list.end(),
                    [&key = key](const AttributeChange& a) { return defining(key.first, a.name); });
    if (other) {  // the same name, another thing
      removed.push_back(
          {ChangeKind::remove, key.first, key.second, all_attributes(attributes, false)});
      added.push_back({ChangeKind::add, key.first, key.second, all_attributes(it->second, true)});
    } else {
      modified.push_back({ChangeKind::modify, key.first, key.second, std::move(list)});
    }
  }
  for (const auto& [key, attributes] : now.things) {
    if (!old.things.contains(key)) {
      added.push_back({ChangeKind::add, key.first, key.second, all_attributes(attributes, true)});
    }
  }
  std::stable_sort(removed.begin(), removed.end(),
                   [](const Change& a, const Change& b) { return a.subject > b.subject; });
  std::stable_sort(added.begin(), added.end(),
                   [](const Change& a, const Change& b) { return a.subject < b.subject; });
  std::vector<Change> all = std::move(removed);
  std::move(modified.begin(), modified.end(), std::back_inserter(all));
  std::move(added.begin(), added.end(), std::back_inserter(all));
  return all;
}

std::string change_text(const std::vector<Change>& changes) {
  if (changes.empty()) return "no change\n";
  std::string out;
  for (const Change& c : changes) {
    const char sign = c.kind == ChangeKind::add ? '+' : c.kind == ChangeKind::remove ? '-' : '~';
    const std::string head = std::string(1, sign) + " " + std::string(subject_word(c.subject)) +
                             (c.name.empty() ? "" : " " + c.name);
    if (c.kind == ChangeKind::modify) {
      for (const AttributeChange& a : c.attributes) {
        out += head + "  " + a.name + " " + (a.before.empty() ? "(none)" : a.before) + " -> " +
               (a.after.empty() ? "(none)" : a.after) + "\n";
      }
      continue;
    }
    std::string details;
    for (const AttributeChange& a : c.attributes) {
      if (c.kind == ChangeKind::add && telling(c.subject, a.name)) {
        details += (details.empty() ? "  " : ", ") + a.name + " " + a.after;
      }
    }
    out += head + details + "\n";
  }
  return out;
}

bool needs_restart(const std::vector<Change>& changes) {
  return std::any_of(changes.begin(), changes.end(), [](const Change& c) {
    return c.subject == Subject::fabric && c.kind == ChangeKind::modify;
  });
}

}  // namespace frond::config
