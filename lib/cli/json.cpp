// SPDX-License-Identifier: BSD-3-Clause
#include "cli/json.hpp"

#include <cstdio>

namespace frond::cli {
using namespace management;

namespace {
std::int64_t ns(Time t) { return t.ns(); }
}  // namespace

Json info_json(const FabricInfo& i) {
  return {{"name", i.name},
          {"mode", i.mode},
          {"version", i.version},
          {"dpdk", i.dpdk},
          {"config", i.config_file},
          {"pid", i.pid},
          {"started_ns", ns(i.started)},
          {"now_ns", ns(i.now)},
          {"seed", i.seed},
          {"workers", i.workers},
          {"busy_ratio", i.busy},
          {"lost_ns", ns(i.lost)},
          {"fidelity", i.fidelity}};
}

Json interface_json(const Interface& i) {
  const InterfaceCounters& c = i.counters;
  Json addresses = Json::array();
  for (const IpPrefix& a : i.addresses) addresses.push_back(a.to_string());
  Json drops = Json::array();
  for (const Drop& d : i.drops) {
    drops.push_back({{"direction", d.egress ? "out" : "in"},
                     {"stage", d.stage},
                     {"reason", d.reason},
                     {"packets", d.packets}});
  }
  return {{"name", i.name},
          {"admin", i.admin_up ? "up" : "down"},
          {"oper", i.oper_up ? "up" : "down"},
          {"down_reason", i.down_reason},
          {"peer", i.peer},
          {"attachment", i.attachment},
          {"mac", i.mac.to_string()},
          {"addresses", std::move(addresses)},
          {"mtu", i.mtu},
          {"speed_bps", i.speed.bps()},
          {"last_change_ns", ns(i.last_change)},
          {"queue_bytes", i.queue_bytes},
          {"queue_limit_bytes", i.queue_limit},
          {"counters",
           {{"in_octets", c.in_octets},
            {"in_pkts", c.in_pkts},
            {"in_unicast_pkts", c.in_unicast_pkts},
            {"in_broadcast_pkts", c.in_broadcast_pkts},
            {"in_multicast_pkts", c.in_multicast_pkts},
            {"in_errors", c.in_errors},
            {"in_discards", c.in_discards},
            {"in_fcs_errors", c.in_fcs_errors},
            {"out_octets", c.out_octets},
            {"out_pkts", c.out_pkts},
            {"out_unicast_pkts", c.out_unicast_pkts},
            {"out_broadcast_pkts", c.out_broadcast_pkts},
            {"out_multicast_pkts", c.out_multicast_pkts},
            {"out_errors", c.out_errors},
            {"out_discards", c.out_discards},
            {"carrier_transitions", c.carrier_transitions}}},
          {"drops", std::move(drops)}};
}

Json impairment_json(const Impairment& i) {
  return {{"loss", i.loss},
          {"corrupt", i.corrupt},
          {"duplicate", i.duplicate},
          {"reorder", i.reorder},
          {"reorder_delay_ns", ns(i.reorder_delay)},
          {"delay_ns", ns(i.delay)},
          {"jitter_ns", ns(i.jitter)},
          {"silent", i.silent},
          {"seed", i.seed}};
}

Json status_json(const FabricInfo& info, const std::vector<Node>& nodes,
                 const std::vector<Link>& links) {
  Json node_list = Json::array();
  for (const Node& n : nodes) {
    Json interfaces = Json::array();
    for (const Interface& i : n.interfaces) interfaces.push_back(interface_json(i));
    node_list.push_back({{"name", n.name},
                         {"kind", n.kind == Node::Kind::host ? "host" : "switch"},
                         {"role", n.role},
                         {"netns", n.netns},
                         {"interfaces", std::move(interfaces)}});
  }
  Json link_list = Json::array();
  for (const Link& l : links) {
    auto end = [](const LinkEnd& e) {
      return Json{{"node", e.node}, {"port", e.port}, {"impairment", impairment_json(e.out)}};
    };
    link_list.push_back({{"a", end(l.a)},
                         {"b", end(l.b)},
                         {"up", l.up},
                         {"rate_bps", l.rate.bps()},
                         {"delay_ns", ns(l.delay)},
                         {"impairable", l.impairable}});
  }
  return {{"schema", "frond.status/1"},
          {"fabric", info_json(info)},
          {"nodes", std::move(node_list)},
          {"links", std::move(link_list)}};
}

Json trace_json(const TraceReport& r) {
  Json hops = Json::array();
  for (const TraceHop& h : r.hops) {
    Json lines = Json::array();
    for (const TraceLine& l : h.lines) lines.push_back({{"stage", l.stage}, {"text", l.text}});
    hops.push_back({{"node", h.node},
                    {"in", h.in_port},
                    {"out", h.out_port},
                    {"verdict", h.verdict},
                    {"stage", h.stage},
                    {"lines", std::move(lines)}});
  }
  return {{"schema", "frond.trace/1"},
          {"delivered", r.delivered},
          {"outcome", r.outcome},
          {"hops", std::move(hops)}};
}

Json apply_json(const ApplyReport& r) {
  Json diagnostics = Json::array();
  for (const Diagnostic& d : r.diagnostics) {
    diagnostics.push_back(
        {{"severity", d.severity == Diagnostic::Severity::error ? "error" : "warning"},
         {"file", d.file},
         {"line", d.line},
         {"column", d.column},
         {"message", d.message}});
  }
  return {{"schema", "frond.apply/1"},
          {"valid", r.valid},
          {"applied", r.applied},
          {"changes", r.changes},
          {"diagnostics", std::move(diagnostics)}};
}

Json event_json(const Event& e) {
  return {{"schema", "frond.event/1"},
          {"sequence", e.sequence},
          {"time_ns", ns(e.time)},
          {"kind", e.kind},
          {"node", e.node},
          {"port", e.port},
          {"mechanism", e.mechanism},
          {"detection_ns", ns(e.detection)},
          {"text", e.text}};
}

Json error_json(const Error& e) {
  using C = Error::Code;
  const char* code = "internal";
  switch (e.code) {
    case C::invalid_argument:
      code = "invalid_argument";
      break;
    case C::not_found:
      code = "not_found";
      break;
    case C::already_exists:
      code = "already_exists";
      break;
    case C::unavailable:
      code = "unavailable";
      break;
    case C::permission_denied:
      code = "permission_denied";
      break;
    case C::resource_exhausted:
      code = "resource_exhausted";
      break;
    case C::unimplemented:
      code = "unimplemented";
      break;
    case C::internal:
      break;
  }
  return {{"schema", "frond.error/1"}, {"code", code}, {"message", e.message}};
}

void print_json(const Json& json) {
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
}

}  // namespace frond::cli
