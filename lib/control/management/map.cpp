// SPDX-License-Identifier: BSD-3-Clause
// The map from paths to the fabric, a row a leaf. paths.golden lists it; a test compares.
//
// Units are the models': octets, packets, nanoseconds (OpenConfig timeticks64), and in origin
// "frond" bits a second, nanoseconds and probabilities 0..1.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "control/management/tree.hpp"

namespace frond::management {
namespace {

using Got = std::optional<Value>;

Got u64(std::uint64_t v) { return Value(v); }
Got text(std::string v) { return Value(std::move(v)); }
Got time_value(Time t) {
  return Value(static_cast<std::uint64_t>(std::max<std::int64_t>(t.ns(), 0)));
}
Got up_down(bool up) { return text(up ? "UP" : "DOWN"); }

Error wrong(std::string_view what) {
  return {Error::Code::invalid_argument, fmt::format("the value must be {}", what)};
}

Status set_bool(bool& field, bool fallback, const std::optional<Value>& value) {
  if (!value) {
    field = fallback;
  } else if (const bool* v = std::get_if<bool>(&*value)) {
    field = *v;
  } else {
    return wrong("true or false");
  }
  return {};
}

// The number in a value, also when it is written as a string (RFC 7951 6.1).
std::optional<double> number(const Value& value) {
  if (const auto* v = std::get_if<double>(&value)) return *v;
  if (const auto* v = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*v);
  if (const auto* v = std::get_if<std::uint32_t>(&value)) return *v;
  if (const auto* v = std::get_if<std::string>(&value)) {
    if (v->empty() || v->size() > 32 || v->find_first_not_of("0123456789.eE+-") != v->npos)
      return {};
    char* end = nullptr;
    const double d = std::strtod(v->c_str(), &end);
    if (*end == 0) return d;
  }
  return {};
}

std::optional<std::uint64_t> whole(const Value& value) {
  if (const auto* v = std::get_if<std::uint64_t>(&value)) return *v;
  if (const auto* v = std::get_if<std::uint32_t>(&value)) return *v;
  if (const auto* v = std::get_if<std::string>(&value)) {
    if (v->empty() || v->size() > 20 || v->find_first_not_of("0123456789") != v->npos) return {};
    std::uint64_t n = 0;
    for (char c : *v) {
      if (__builtin_mul_overflow(n, 10U, &n)) return {};
      if (__builtin_add_overflow(n, static_cast<unsigned>(c - '0'), &n)) return {};
    }
    return n;
  }
  return {};
}

template <auto Field>
Status set_probability(InterfaceConfig& config, const std::optional<Value>& value) {
  config.impairment.*Field = Impairment().*Field;
  if (!value) return {};
  const auto p = number(*value);
  if (!p || !std::isfinite(*p) || *p < 0 || *p > 1) return wrong("a probability, 0 to 1");
  config.impairment.*Field = *p;
  return {};
}

constexpr std::uint64_t kLongestDelay = 60'000'000'000;  // a frame is held in memory meanwhile

template <auto Field> Status set_time(InterfaceConfig& config, const std::optional<Value>& value) {
  config.impairment.*Field = Impairment().*Field;
  if (!value) return {};
  const auto n = whole(*value);
  if (!n || *n > kLongestDelay) return wrong("nanoseconds, at most 60000000000 (a minute)");
  config.impairment.*Field = Time::ns(static_cast<std::int64_t>(*n));
  return {};
}

Status set_enabled(InterfaceConfig& config, const std::optional<Value>& value) {
  return set_bool(config.enabled, true, value);
}
Status set_silent(InterfaceConfig& config, const std::optional<Value>& value) {
  return set_bool(config.impairment.silent, false, value);
}
Status set_seed(InterfaceConfig& config, const std::optional<Value>& value) {
  config.impairment.seed = 0;
  if (!value) return {};
  const auto n = whole(*value);
  if (!n) return wrong("a number, 0 to 18446744073709551615");
  config.impairment.seed = *n;
  return {};
}

template <auto Field> Got probability(const Instance& i) { return Value(i.end->out.*Field); }
template <auto Field> Got duration(const Instance& i) { return time_value(i.end->out.*Field); }
template <auto Field> Got counter(const Instance& i) { return u64(i.interface->counters.*Field); }

// openconfig-if-ethernet's identities.
std::string port_speed(Rate rate) {
  static constexpr std::pair<std::uint64_t, std::string_view> kSpeeds[] = {
      {10, "10MB"},       {100, "100MB"},     {1'000, "1GB"},     {2'500, "2500MB"},
      {5'000, "5GB"},     {10'000, "10GB"},   {25'000, "25GB"},   {40'000, "40GB"},
      {50'000, "50GB"},   {100'000, "100GB"}, {200'000, "200GB"}, {400'000, "400GB"},
      {600'000, "600GB"}, {800'000, "800GB"}};
  for (const auto& [mbps, name] : kSpeeds) {
    if (rate == Rate::mbps(mbps)) return fmt::format("SPEED_{}", name);
  }
  return "SPEED_UNKNOWN";
}

// openconfig-platform-pipeline-counters tells three kinds of drop apart.
enum class DropClass { congestion, no_route, processing };
DropClass drop_class(const Drop& drop) {
  if (drop.reason == "queue_tail_drop" || drop.reason == "port_tx_full")
    return DropClass::congestion;
  if (drop.reason.find("no_route") != std::string::npos) return DropClass::no_route;
  return DropClass::processing;
}
template <DropClass Class> Got drops_of(const Instance& i) {
  std::uint64_t sum = 0;
  for (const Interface& interface : i.node->interfaces) {
    for (const Drop& drop : interface.drops) {
      if (drop_class(drop) == Class) sum += drop.packets;
    }
  }
  return u64(sum);
}

#define OC_IF "/interfaces/interface[name]"
#define OC_DROP "/components/component[name]/integrated-circuit/pipeline-counters/drop/state"
#define F_IF "/nodes/node[name]/interfaces/interface[name]"
#define F_IMPAIR F_IF "/impairment/config"
#define COUNTER(name, field)                                                                  \
  {                                                                                           \
      "openconfig",                                                                           \
      OC_IF "/state/counters/" name,                                                          \
      "openconfig-interfaces",                                                                \
      Kind::interface,                                                                        \
      false,                                                                                  \
      "counter64",                                                                            \
      counter<&InterfaceCounters::field>},                                                    \
  {                                                                                           \
    "frond", F_IF "/state/counters/" name, "frond", Kind::node_interface, false, "counter64", \
        counter<&InterfaceCounters::field>                                                    \
  }

constexpr Row kRows[] = {
    {"openconfig", OC_IF "/config/name", "openconfig-interfaces", Kind::interface, true, "string",
     [](const Instance& i) { return text(i.node->name + ":" + i.interface->name); }},
    {"openconfig", OC_IF "/config/enabled", "openconfig-interfaces", Kind::interface, true,
     "boolean", [](const Instance& i) -> Got { return Value(i.interface->admin_up); }, set_enabled},
    {"openconfig", OC_IF "/state/name", "openconfig-interfaces", Kind::interface, true, "string",
     [](const Instance& i) { return text(i.node->name + ":" + i.interface->name); }},
    {"openconfig", OC_IF "/state/type", "openconfig-interfaces", Kind::interface, true,
     "identityref", [](const Instance&) { return text("iana-if-type:ethernetCsmacd"); }},
    {"openconfig", OC_IF "/state/enabled", "openconfig-interfaces", Kind::interface, true,
     "boolean", [](const Instance& i) -> Got { return Value(i.interface->admin_up); }},
    {"openconfig", OC_IF "/state/mtu", "openconfig-interfaces", Kind::interface, true, "uint16",
     // Of the physical interface: the IP MTU and the Ethernet header.
     [](const Instance& i) -> Got { return Value(i.interface->mtu + 14); }},
    {"openconfig", OC_IF "/state/ifindex", "openconfig-interfaces", Kind::interface, true, "uint32",
     [](const Instance& i) -> Got { return Value(i.interface->index); }},
    {"openconfig", OC_IF "/state/admin-status", "openconfig-interfaces", Kind::interface, true,
     "enumeration", [](const Instance& i) { return up_down(i.interface->admin_up); }},
    {"openconfig", OC_IF "/state/oper-status", "openconfig-interfaces", Kind::interface, true,
     "enumeration", [](const Instance& i) { return up_down(i.interface->oper_up); }},
    {"openconfig", OC_IF "/state/last-change", "openconfig-interfaces", Kind::interface, true,
     "timeticks64", [](const Instance& i) { return time_value(i.interface->last_change); }},
    {"openconfig", OC_IF "/state/counters/last-clear", "openconfig-interfaces", Kind::interface,
     false, "timeticks64", [](const Instance& i) { return time_value(i.interface->last_clear); }},
    COUNTER("in-octets", in_octets),
    COUNTER("in-pkts", in_pkts),
    COUNTER("in-unicast-pkts", in_unicast_pkts),
    COUNTER("in-broadcast-pkts", in_broadcast_pkts),
    COUNTER("in-multicast-pkts", in_multicast_pkts),
    COUNTER("in-errors", in_errors),
    COUNTER("in-discards", in_discards),
    COUNTER("in-fcs-errors", in_fcs_errors),
    COUNTER("out-octets", out_octets),
    COUNTER("out-pkts", out_pkts),
    COUNTER("out-unicast-pkts", out_unicast_pkts),
    COUNTER("out-broadcast-pkts", out_broadcast_pkts),
    COUNTER("out-multicast-pkts", out_multicast_pkts),
    COUNTER("out-errors", out_errors),
    COUNTER("out-discards", out_discards),
    COUNTER("carrier-transitions", carrier_transitions),
    {"openconfig", OC_IF "/ethernet/state/mac-address", "openconfig-if-ethernet", Kind::interface,
     true, "mac-address", [](const Instance& i) { return text(i.interface->mac.to_string()); }},
    {"openconfig", OC_IF "/ethernet/state/port-speed", "openconfig-if-ethernet", Kind::interface,
     true, "identityref",
     [](const Instance& i) {
       return text("openconfig-if-ethernet:" + port_speed(i.interface->speed));
     }},

    {"openconfig", OC_DROP "/congestion-aggregate", "openconfig-platform-pipeline-counters",
     Kind::component, false, "counter64", drops_of<DropClass::congestion>},
    {"openconfig", OC_DROP "/packet-processing-aggregate", "openconfig-platform-pipeline-counters",
     Kind::component, false, "counter64", drops_of<DropClass::processing>},
    {"openconfig", OC_DROP "/no-route", "openconfig-platform-pipeline-counters", Kind::component,
     false, "counter64", drops_of<DropClass::no_route>},

    {"frond", "/fabric/state/name", "frond", Kind::fabric, true, "string",
     [](const Instance& i) { return text(i.snapshot->info.name); }},
    {"frond", "/fabric/state/mode", "frond", Kind::fabric, true, "string",
     [](const Instance& i) { return text(i.snapshot->info.mode); }},
    {"frond", "/fabric/state/version", "frond", Kind::fabric, true, "string",
     [](const Instance& i) { return text(i.snapshot->info.version); }},
    {"frond", "/fabric/state/dpdk", "frond", Kind::fabric, true, "string",
     [](const Instance& i) { return text(i.snapshot->info.dpdk); }},
    {"frond", "/fabric/state/config-file", "frond", Kind::fabric, true, "string",
     [](const Instance& i) { return text(i.snapshot->info.config_file); }},
    {"frond", "/fabric/state/fidelity", "frond", Kind::fabric, false, "string",
     [](const Instance& i) { return text(i.snapshot->info.fidelity); }},
    {"frond", "/fabric/state/pid", "frond", Kind::fabric, true, "uint32",
     [](const Instance& i) -> Got {
       return Value(static_cast<std::uint32_t>(i.snapshot->info.pid));
     }},
    {"frond", "/fabric/state/now", "frond", Kind::fabric, false, "timeticks64",
     [](const Instance& i) { return time_value(i.snapshot->info.now); }},
    {"frond", "/fabric/state/started", "frond", Kind::fabric, true, "timeticks64",
     [](const Instance& i) { return time_value(i.snapshot->info.started); }},
    {"frond", "/fabric/state/seed", "frond", Kind::fabric, true, "uint64",
     [](const Instance& i) { return u64(i.snapshot->info.seed); }},
    {"frond", "/fabric/state/workers", "frond", Kind::fabric, true, "uint32",
     [](const Instance& i) -> Got {
       return Value(static_cast<std::uint32_t>(i.snapshot->info.workers));
     }},
    {"frond", "/fabric/state/busy", "frond", Kind::fabric, false, "decimal",
     [](const Instance& i) -> Got { return Value(i.snapshot->info.busy); }},
    {"frond", "/fabric/state/lost-time", "frond", Kind::fabric, false, "nanoseconds",
     [](const Instance& i) { return time_value(i.snapshot->info.lost); }},

    {"frond", "/nodes/node[name]/state/kind", "frond", Kind::node, true, "enumeration",
     [](const Instance& i) { return text(i.node->kind == Node::Kind::host ? "host" : "switch"); }},
    {"frond", "/nodes/node[name]/state/role", "frond", Kind::node, true, "string",
     [](const Instance& i) { return text(i.node->role); }},
    {"frond", "/nodes/node[name]/state/netns", "frond", Kind::node, true, "string",
     [](const Instance& i) { return i.node->netns.empty() ? Got() : text(i.node->netns); }},

    {"frond", F_IF "/config/enabled", "frond", Kind::node_interface, true, "boolean",
     [](const Instance& i) -> Got { return Value(i.interface->admin_up); }, set_enabled},
    {"frond", F_IF "/state/admin-status", "frond", Kind::node_interface, true, "enumeration",
     [](const Instance& i) { return up_down(i.interface->admin_up); }},
    {"frond", F_IF "/state/oper-status", "frond", Kind::node_interface, true, "enumeration",
     [](const Instance& i) { return up_down(i.interface->oper_up); }},
    {"frond", F_IF "/state/down-reason", "frond", Kind::node_interface, true, "string",
     [](const Instance& i) { return text(i.interface->down_reason); }},
    {"frond", F_IF "/state/last-change", "frond", Kind::node_interface, true, "timeticks64",
     [](const Instance& i) { return time_value(i.interface->last_change); }},
    {"frond", F_IF "/state/last-clear", "frond", Kind::node_interface, true, "timeticks64",
     [](const Instance& i) { return time_value(i.interface->last_clear); }},
    {"frond", F_IF "/state/index", "frond", Kind::node_interface, true, "uint32",
     [](const Instance& i) -> Got { return Value(i.interface->index); }},
    {"frond", F_IF "/state/mtu", "frond", Kind::node_interface, true, "uint32",
     [](const Instance& i) -> Got { return Value(i.interface->mtu); }},
    {"frond", F_IF "/state/speed", "frond", Kind::node_interface, true, "bits-per-second",
     [](const Instance& i) { return u64(i.interface->speed.bps()); }},
    {"frond", F_IF "/state/mac-address", "frond", Kind::node_interface, true, "mac-address",
     [](const Instance& i) { return text(i.interface->mac.to_string()); }},
    {"frond", F_IF "/state/address", "frond", Kind::node_interface, true, "leaf-list of ip-prefix",
     [](const Instance& i) -> Got {
       std::vector<std::string> all;
       for (const IpPrefix& a : i.interface->addresses) all.push_back(a.to_string());
       return Value(std::move(all));
     }},
    {"frond", F_IF "/state/peer", "frond", Kind::node_interface, true, "string",
     [](const Instance& i) { return text(i.interface->peer); }},
    {"frond", F_IF "/state/attachment", "frond", Kind::node_interface, true, "string",
     [](const Instance& i) { return text(i.interface->attachment); }},
    {"frond", F_IF "/state/queue-bytes", "frond", Kind::node_interface, false, "uint64",
     [](const Instance& i) { return u64(i.interface->queue_bytes); }},
    {"frond", F_IF "/state/queue-limit", "frond", Kind::node_interface, true, "uint64",
     [](const Instance& i) { return u64(i.interface->queue_limit); }},

    {"frond", F_IF "/drops/drop[direction][stage][reason]/state/packets", "frond", Kind::drop,
     false, "counter64", [](const Instance& i) { return u64(i.drop->packets); }},

    {"frond", F_IMPAIR "/loss", "frond", Kind::impairment, true, "probability",
     probability<&Impairment::loss>, set_probability<&Impairment::loss>},
    {"frond", F_IMPAIR "/corrupt", "frond", Kind::impairment, true, "probability",
     probability<&Impairment::corrupt>, set_probability<&Impairment::corrupt>},
    {"frond", F_IMPAIR "/duplicate", "frond", Kind::impairment, true, "probability",
     probability<&Impairment::duplicate>, set_probability<&Impairment::duplicate>},
    {"frond", F_IMPAIR "/reorder", "frond", Kind::impairment, true, "probability",
     probability<&Impairment::reorder>, set_probability<&Impairment::reorder>},
    {"frond", F_IMPAIR "/reorder-delay", "frond", Kind::impairment, true, "nanoseconds",
     duration<&Impairment::reorder_delay>, set_time<&Impairment::reorder_delay>},
    {"frond", F_IMPAIR "/delay", "frond", Kind::impairment, true, "nanoseconds",
     duration<&Impairment::delay>, set_time<&Impairment::delay>},
    {"frond", F_IMPAIR "/jitter", "frond", Kind::impairment, true, "nanoseconds",
     duration<&Impairment::jitter>, set_time<&Impairment::jitter>},
    {"frond", F_IMPAIR "/silent", "frond", Kind::impairment, true, "boolean",
     [](const Instance& i) -> Got { return Value(i.end->out.silent); }, set_silent},
    {"frond", F_IMPAIR "/seed", "frond", Kind::impairment, true, "uint64",
     [](const Instance& i) { return u64(i.end->out.seed); }, set_seed},

    {"frond", "/nodes/node[name]/neighbors/neighbor[interface][address]/state/mac-address", "frond",
     Kind::neighbor, false, "mac-address",
     [](const Instance& i) { return text(i.neighbor->mac.to_string()); }},
    {"frond", "/nodes/node[name]/neighbors/neighbor[interface][address]/state/state", "frond",
     Kind::neighbor, false, "string", [](const Instance& i) { return text(i.neighbor->state); }},
    {"frond", "/nodes/node[name]/neighbors/neighbor[interface][address]/state/age", "frond",
     Kind::neighbor, false, "nanoseconds",
     [](const Instance& i) { return time_value(i.neighbor->age); }},

    {"frond", "/links/link[a][b]/state/oper-status", "frond", Kind::link, true, "enumeration",
     [](const Instance& i) { return up_down(i.link->up); }},
    {"frond", "/links/link[a][b]/state/rate", "frond", Kind::link, true, "bits-per-second",
     [](const Instance& i) { return u64(i.link->rate.bps()); }},
    {"frond", "/links/link[a][b]/state/delay", "frond", Kind::link, true, "nanoseconds",
     [](const Instance& i) { return time_value(i.link->delay); }},
    {"frond", "/links/link[a][b]/state/impairable", "frond", Kind::link, true, "boolean",
     [](const Instance& i) -> Got { return Value(i.link->impairable); }},
};

#undef COUNTER
#undef OC_IF
#undef OC_DROP
#undef F_IF
#undef F_IMPAIR

}  // namespace

std::span<const Row> rows() { return kRows; }

}  // namespace frond::management
