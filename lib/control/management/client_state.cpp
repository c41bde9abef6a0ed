// SPDX-License-Identifier: BSD-3-Clause
#include "control/management/client_state.hpp"

#include <array>
#include <map>

namespace frond::management {
namespace {

const Json& at(const Json& json, const char* name) {
  static const Json kNothing;
  const auto it = json.is_object() ? json.find(name) : json.end();
  return json.is_object() && it != json.end() ? *it : kNothing;
}

template <class T> T read(const Json& json, const char* name, T fallback = {}) {
  const Json& v = at(json, name);
  if constexpr (std::is_same_v<T, std::string>) {
    return v.is_string() ? v.get<std::string>() : fallback;
  } else if constexpr (std::is_same_v<T, bool>) {
    return v.is_boolean() ? v.get<bool>() : fallback;
  } else {
    return v.is_number() ? v.get<T>() : fallback;
  }
}

Time read_time(const Json& json, const char* name) {
  return Time::ns(read<std::int64_t>(json, name));
}

template <class F> void for_each(const Json& container, const char* list, F&& f) {
  const Json& entries = at(container, list);
  if (!entries.is_array()) return;
  for (const Json& entry : entries) f(entry);
}

using Field = std::uint64_t InterfaceCounters::*;
constexpr std::pair<const char*, Field> kCounters[] = {
    {"in-octets", &InterfaceCounters::in_octets},
    {"in-pkts", &InterfaceCounters::in_pkts},
    {"in-unicast-pkts", &InterfaceCounters::in_unicast_pkts},
    {"in-broadcast-pkts", &InterfaceCounters::in_broadcast_pkts},
    {"in-multicast-pkts", &InterfaceCounters::in_multicast_pkts},
    {"in-errors", &InterfaceCounters::in_errors},
    {"in-discards", &InterfaceCounters::in_discards},
    {"in-fcs-errors", &InterfaceCounters::in_fcs_errors},
    {"out-octets", &InterfaceCounters::out_octets},
    {"out-pkts", &InterfaceCounters::out_pkts},
    {"out-unicast-pkts", &InterfaceCounters::out_unicast_pkts},
    {"out-broadcast-pkts", &InterfaceCounters::out_broadcast_pkts},
    {"out-multicast-pkts", &InterfaceCounters::out_multicast_pkts},
    {"out-errors", &InterfaceCounters::out_errors},
    {"out-discards", &InterfaceCounters::out_discards},
    {"carrier-transitions", &InterfaceCounters::carrier_transitions},
};

Interface interface_from_json(const Json& json) {
  Interface i;
  const Json& state = at(json, "state");
  i.name = read<std::string>(json, "name");
  i.index = read<std::uint32_t>(state, "index");
  i.admin_up = read<std::string>(state, "admin-status") == "UP";
  i.oper_up = read<std::string>(state, "oper-status") == "UP";
  i.down_reason = read<std::string>(state, "down-reason");
  i.mtu = read<std::uint32_t>(state, "mtu");
  i.speed = Rate::bps(read<std::uint64_t>(state, "speed"));
  i.mac = MacAddress::parse(read<std::string>(state, "mac-address")).value_or(MacAddress());
  for_each(state, "address", [&](const Json& a) {
    if (!a.is_string()) return;
    if (auto prefix = IpPrefix::parse(a.get<std::string>())) i.addresses.push_back(*prefix);
  });
  i.last_change = read_time(state, "last-change");
  i.last_clear = read_time(state, "last-clear");
  i.peer = read<std::string>(state, "peer");
  i.attachment = read<std::string>(state, "attachment");
  i.queue_bytes = read<std::uint64_t>(state, "queue-bytes");
  i.queue_limit = read<std::uint64_t>(state, "queue-limit");
  for (const auto& [name, field] : kCounters) {
    i.counters.*field = read<std::uint64_t>(at(state, "counters"), name);
  }
  for_each(at(json, "drops"), "drop", [&](const Json& d) {
    i.drops.push_back({read<std::string>(d, "stage"), read<std::string>(d, "reason"),
                       read<std::string>(d, "direction") == "out",
                       read<std::uint64_t>(at(d, "state"), "packets")});
  });
  return i;
}

Impairment impairment_from_json(const Json& config) {
  Impairment r;
  r.loss = read<double>(config, "loss");
  r.corrupt = read<double>(config, "corrupt");
  r.duplicate = read<double>(config, "duplicate");
  r.reorder = read<double>(config, "reorder");
  if (at(config, "reorder-delay").is_number()) r.reorder_delay = read_time(config, "reorder-delay");
  r.delay = read_time(config, "delay");
  r.jitter = read_time(config, "jitter");
  r.silent = read<bool>(config, "silent");
  r.seed = read<std::uint64_t>(config, "seed");
  return r;
}

}  // namespace

FabricInfo info_from_json(const Json& fabric) {
  const Json& state = at(fabric, "state");
  FabricInfo i;
  i.name = read<std::string>(state, "name");
  i.mode = read<std::string>(state, "mode");
  i.version = read<std::string>(state, "version");
  i.dpdk = read<std::string>(state, "dpdk");
  i.config_file = read<std::string>(state, "config-file");
  i.fidelity = read<std::string>(state, "fidelity");
  i.pid = read<std::int32_t>(state, "pid");
  i.now = read_time(state, "now");
  i.started = read_time(state, "started");
  i.seed = read<std::uint64_t>(state, "seed");
  i.workers = read<unsigned>(state, "workers");
  i.busy = read<double>(state, "busy");
  i.lost = read_time(state, "lost-time");
  return i;
}

std::vector<Node> nodes_from_json(const Json& nodes) {
  std::vector<Node> result;
  for_each(nodes, "node", [&](const Json& json) {
    Node& node = result.emplace_back();
    const Json& state = at(json, "state");
    node.name = read<std::string>(json, "name");
    node.kind =
        read<std::string>(state, "kind") == "host" ? Node::Kind::host : Node::Kind::network_switch;
    node.role = read<std::string>(state, "role");
    node.netns = read<std::string>(state, "netns");
    for_each(at(json, "interfaces"), "interface",
             [&](const Json& i) { node.interfaces.push_back(interface_from_json(i)); });
  });
  return result;
}

std::vector<Link> links_from_json(const Json& links, const Json& nodes) {
  std::map<std::pair<std::string, std::string>, Impairment> impairments;
  for_each(nodes, "node", [&](const Json& node) {
    for_each(at(node, "interfaces"), "interface", [&](const Json& i) {
      impairments[{read<std::string>(node, "name"), read<std::string>(i, "name")}] =
          impairment_from_json(at(at(i, "impairment"), "config"));
    });
  });
  auto end = [&](const std::string& text) {
    LinkEnd e;
    if (auto parts = split_port(text)) {
      e.node = parts->first;
      e.port = parts->second;
      e.out = impairments[*parts];
    }
    return e;
  };
  std::vector<Link> result;
  for_each(links, "link", [&](const Json& json) {
    const Json& state = at(json, "state");
    result.push_back({end(read<std::string>(json, "a")), end(read<std::string>(json, "b")),
                      read<std::string>(state, "oper-status") == "UP",
                      Rate::bps(read<std::uint64_t>(state, "rate")), read_time(state, "delay"),
                      read<bool>(state, "impairable")});
  });
  return result;
}

std::vector<Neighbor> neighbors_from_json(const Json& nodes) {
  std::vector<Neighbor> result;
  for_each(nodes, "node", [&](const Json& node) {
    for_each(at(node, "neighbors"), "neighbor", [&](const Json& json) {
      const Json& state = at(json, "state");
      const auto address = IpAddress::parse(read<std::string>(json, "address"));
      if (!address) return;
      result.push_back(
          {read<std::string>(node, "name"), read<std::string>(json, "interface"), *address,
           MacAddress::parse(read<std::string>(state, "mac-address")).value_or(MacAddress()),
           read<std::string>(state, "state"), read_time(state, "age")});
    });
  });
  return result;
}

}  // namespace frond::management
