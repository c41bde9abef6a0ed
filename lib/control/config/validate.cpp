// SPDX-License-Identifier: BSD-3-Clause
#include "control/config/validate.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "control/config/build.hpp"
#include "control/config/nearest.hpp"
#include "control/config/validate_addresses.hpp"

namespace frond::config {
namespace {

using topology::End;
using topology::kNone;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A name with everything else replaced or cut, as a suggestion.
std::string cleaned(std::string_view name, bool dashes, std::size_t limit) {
  std::string out;
  for (char c : name) {
    const bool good = is_letter(c) || is_digit(c) || c == '_' || (dashes && (c == '-' || c == '.'));
    if (out.empty() && !is_letter(c)) continue;
    if (good)
      out += c;
    else if (c == ' ' || c == '-' || c == '.' || c == '/')
      out += dashes ? '-' : '_';
  }
  return out.substr(0, limit);
}

class Validator {
 public:
  Validator(const FabricConfig& config, const Locator& at, Diagnostics& out)
      : c_(config), at_(at), out_(out) {}

  void run() {
    version();
    names();
    if (!sizes()) return;
    plan_ = build(
        c_, [&](const Path& p, const char* rule, std::string message, std::string suggestion) {
          out_.error(at_(p), rule, std::move(message), std::move(suggestion));
        });
    nodes();
    links();
    ethdevs();
    validate_addresses(c_, plan_, at_, out_);
    cpus();
    traffic();
    events();
    if (t().nodes.empty() && out_.errors() == 0) {
      out_.error(at_({}), "empty", "the file has neither 'topology' nor 'nodes'");
    }
    // Of a topology with errors these would only tell what follows from those.
    if (out_.errors() > 0) return;
    connected();
    oversubscribed();
  }

 private:
  const topology::Topology& t() const { return plan_.topology; }

  void version() {
    if (c_.version == kVersion) return;
    out_.error(at_({"version"}), "version",
               "version " + std::to_string(c_.version) +
                   " is not known to this Frond, which reads " + std::to_string(kVersion),
               std::to_string(kVersion));
  }

  // The fabric FABRIC has namespaces frond-FABRIC and FABRIC-HOST: with dashes in a node's name two
  // fabrics could mean the same one.
  void names() {
    if (c_.name == "frond") {
      out_.error(
          at_({"name"}), "name",
          "a fabric cannot be called 'frond': its namespaces would clash with other fabrics'");
    } else {
      name(Path{"name"}, c_.name, "a fabric's name", true);
    }
    for (const auto& [node, config] : c_.nodes) {
      name({"nodes", node}, node, "a node's name", false);
    }
  }

  void name(const Path& path, const std::string& text, std::string_view what, bool dashes) {
    const bool shape =
        !text.empty() && is_letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
          return is_letter(c) || is_digit(c) || c == '_' || (dashes && (c == '-' || c == '.'));
        });
    const std::string fix = cleaned(text, dashes, kMaxName);
    if (!shape) {
      out_.error(dashes ? at_(path) : at_.key(path), "name",
                 "'" + printable(text) + "': " + std::string(what) +
                     " is a letter, then letters, digits and '_'" + (dashes ? ", '-' and '.'" : ""),
                 fix);
    } else if (text.size() > kMaxName) {
      out_.error(dashes ? at_(path) : at_.key(path), "name",
                 "'" + printable(text) + "' has " + std::to_string(text.size()) + " characters; " +
                     std::string(what) + " has at most " + std::to_string(kMaxName));
    }
  }

  bool sizes() {
    bool fits = true;
    const auto check = [&](std::string_view key, std::size_t n, std::size_t limit) {
      if (n <= limit) return;
      out_.error(at_.key({std::string(key)}), "size",
                 std::to_string(n) + " " + std::string(key) + "; at most " + std::to_string(limit));
      fits = false;
    };
    check("nodes", c_.nodes.size(), kMaxNodes);
    check("links", c_.links.size(), kMaxLinks);
    return fits;
  }

  void nodes() {
    std::map<std::tuple<Driver, std::string, std::string, std::uint32_t>, std::string> devices;
    std::set<std::string> names;
    for (const auto& node : t().nodes) names.insert(node.name);
    for (const auto& [node_name, node] : c_.nodes) {
      if (!names.contains(node_name)) continue;
      const std::uint32_t index = node.ports.empty() && node.routes.empty() && !node.ecmp_seed
                                      ? kNone
                                      : t().find(node_name);
      if (index == kNone) continue;
      const bool host = !t().nodes[index].is_switch();
      for (const auto& [port_name, port] : node.ports) {
        const Path path{"nodes", node_name, "ports", port_name};
        port_driver(path, node_name + ":" + port_name, port, host, devices);
        linked_port(path, index, port_name, port);
      }
      if (!host) continue;
      if (!node.routes.empty()) {
        out_.error(at_.key({"nodes", node_name, "routes"}), "host-option",
                   "'" + node_name + "' is a host: its routes are the kernel's");
      }
      if (node.ecmp_seed) {
        out_.error(at_.key({"nodes", node_name, "ecmp_seed"}), "host-option",
                   "'" + node_name + "' is a host and hashes nothing");
      }
    }
  }

  using Devices =
      std::map<std::tuple<Driver, std::string, std::string, std::uint32_t>, std::string>;

  void port_driver(const Path& path, const std::string& port_text, const PortConfig& port,
                   bool host, Devices& devices) {
    const auto option = [&](const char* key) {
      Path p = path;
      p.emplace_back(key);
      return p;
    };
    if (!port.driver) {
      for (const auto& [key, present] :
           {std::pair("device", !port.device.empty()), std::pair("netns", !port.netns.empty()),
            std::pair("role", port.role.has_value()), std::pair("output", !port.output.empty()),
            std::pair("id", port.id != 0)}) {
        if (present) {
          out_.error(at_.key(option(key)), "driver",
                     std::string(key) + " of " + port_text + " needs a 'driver'");
        }
      }
      return;
    }
    const Driver driver = *port.driver;
    if (host) {
      out_.error(at_(option("driver")), "host-option",
                 "'" + port_text + "' is a host's; see hosts: for how hosts are attached");
      return;
    }
    if (port.device.empty() && driver != Driver::null) {
      out_.error(at_(path), "driver",
                 "port " + port_text + " lacks 'device': driver " + to_text(driver) + " needs " +
                     std::string(device_kind(driver)));
    } else if (driver == Driver::null && !port.device.empty()) {
      out_.error(at_(option("device")), "driver", "driver null has no device");
    }
    const bool interface =
        driver == Driver::af_packet || driver == Driver::af_xdp || driver == Driver::tap;
    if (interface && port.device.size() > kMaxName) {
      out_.error(at_(option("device")), "driver",
                 "interface name '" + printable(port.device) + "' has more than " +
                     std::to_string(kMaxName) + " characters");
    }
    if (!interface && !port.netns.empty()) {
      out_.error(at_.key(option("netns")), "driver",
                 "netns is about an interface; driver " + to_text(driver) + " has none");
    }
    const bool socket = driver == Driver::vhost || driver == Driver::memif;
    if (!socket && port.role) {
      out_.error(at_.key(option("role")), "driver",
                 "role is for vhost and memif, not for " + to_text(driver));
    }
    if (driver != Driver::memif && port.id != 0) {
      out_.error(at_.key(option("id")), "driver", "id is for memif, not for " + to_text(driver));
    }
    if (driver != Driver::pcap && !port.output.empty()) {
      out_.error(at_.key(option("output")), "driver",
                 "output is for pcap, not for " + to_text(driver));
    }
    if (port.device.empty() || driver == Driver::pcap) return;
    // Both ends of one memif may be in one file: they differ in their role.
    const std::uint32_t number = port.id * 2 + (port.role == SocketRole::client ? 1 : 0);
    const auto [it, fresh] =
        devices.emplace(std::tuple(driver, port.device, port.netns, number), port_text);
    if (!fresh) {
      out_.error(at_(option("device")), "device-used",
                 "device '" + printable(port.device) + "' is already port " + it->second);
    }
  }

  static std::string_view device_kind(Driver d) {
    switch (d) {
      case Driver::vhost:
      case Driver::virtio_user:
      case Driver::memif:
        return "the path of a socket";
      case Driver::pcap:
        return "a capture file";
      case Driver::pci:
        return "a PCI address, such as 0000:01:00.0";
      default:
        return "the name of an interface";
    }
  }

  void linked_port(const Path& path, std::uint32_t node, const std::string& port_name,
                   const PortConfig& port) {
    const auto end = t().find_end(t().nodes[node].name + ":" + port_name);
    const auto option = [&](const char* key) {
      Path p = path;
      p.emplace_back(key);
      return p;
    };
    if (!end) {
      if (topology::port_index(t().nodes[node].role, port_name)) {
        out_.warning(
            at_.key(path), "unused-port",
            "port " + t().nodes[node].name + ":" + port_name + " has neither a link nor a driver");
      }
      return;
    }
    const std::uint32_t link = t().port(*end).link;
    if (link == kNone) {
      driver_mtu(at_(option("mtu")), port.mtu.value_or(1500), port.driver, t().end_name(*end));
      return;
    }
    const std::string name = t().link_name(t().links[link]);
    if (port.mtu) {
      out_.error(at_.key(option("mtu")), "port-option",
                 "mtu of " + t().end_name(*end) + " is that of link " + name + "; set it there");
    }
    if (port.rate) {
      out_.error(at_.key(option("rate")), "port-option",
                 "rate of " + t().end_name(*end) + " is that of link " + name + "; set it there");
    }
    if (port.driver && link_driver(c_, plan_, link) != LinkDriver::wire) {
      out_.error(at_(option("driver")), "driver",
                 "link " + name + " has driver " + to_text(link_driver(c_, plan_, link)) +
                     " and its port " + t().end_name(*end) + " has another");
    }
    driver_mtu(at_(option("driver")), t().links[link].mtu, port.driver, t().end_name(*end));
  }

  void driver_mtu(Mark mark, std::uint32_t mtu, std::optional<Driver> driver,
                  const std::string& port) {
    if (driver != Driver::af_xdp || mtu <= kAfXdpMtu) return;
    out_.error(mark, "driver-mtu",
               "port " + port + " has MTU " + std::to_string(mtu) + "; af_xdp carries at most " +
                   std::to_string(kAfXdpMtu));
  }

  void links() {
    for (std::uint32_t l = 0; l < t().links.size(); ++l) {
      const topology::Link& link = t().links[l];
      const bool hosted =
          !t().nodes[link.a.node].is_switch() || !t().nodes[link.b.node].is_switch();
      const std::uint32_t own = plan_.link_config[l];
      if (own != kNone) link_config(l, own, hosted);
      if (!hosted) one_side_external(l, own);
      if (hosted && c_.hosts.mtu > link.mtu && !mtu_said_) {
        mtu_said_ = true;
        out_.error(at_({"hosts", "mtu"}), "host-mtu",
                   "hosts have MTU " + std::to_string(c_.hosts.mtu) + ", their link " +
                       t().link_name(link) + " only " + std::to_string(link.mtu));
      }
    }
    if (c_.hosts.attach == Attach::veth && c_.hosts.driver == VethDriver::af_xdp &&
        c_.hosts.mtu > kAfXdpMtu) {
      out_.error(at_({"hosts", "mtu"}), "driver-mtu",
                 "hosts have MTU " + std::to_string(c_.hosts.mtu) + "; af_xdp carries at most " +
                     std::to_string(kAfXdpMtu));
    }
    if (c_.hosts.attach == Attach::tap && at_.has({"hosts", "driver"})) {
      out_.warning(at_.key({"hosts", "driver"}), "host-driver",
                   "hosts.driver is for attach: veth; a tap has none");
    }
  }

  void link_config(std::uint32_t l, std::uint32_t own, bool hosted) {
    const std::string i = std::to_string(own);
    const topology::Link& link = t().links[l];
    if (hosted && c_.links[own].driver && *c_.links[own].driver != LinkDriver::wire) {
      out_.error(at_({"links", i, "driver"}), "driver",
                 "link " + t().link_name(link) +
                     " leads to a host; see hosts: for how hosts are "
                     "attached");
    }
    for (const auto& [key, impair] :
         {std::pair<const char*, const link::Impairment*>("impair", &c_.links[own].impair),
          {"impair_a", c_.links[own].impair_a ? &*c_.links[own].impair_a : nullptr},
          {"impair_b", c_.links[own].impair_b ? &*c_.links[own].impair_b : nullptr}}) {
      if (impair == nullptr) continue;
      impairment({"links", i, key}, *impair);
      const bool outside = !hosted && link_driver(c_, plan_, l) != LinkDriver::wire;
      if (impair->any() && outside) {
        out_.error(at_.key({"links", i, key}), "impair",
                   "link " + t().link_name(link) + " is a " + to_text(link_driver(c_, plan_, l)) +
                       "; only wires are impaired");
      }
    }
  }

  void impairment(const Path& path, const link::Impairment& impair) {
    const auto option = [&](const char* key) {
      Path p = path;
      p.emplace_back(key);
      return p;
    };
    for (const auto& [key, time] :
         {std::pair("delay", impair.delay), std::pair("jitter", impair.jitter),
          std::pair("reorder_delay", impair.reorder_delay)}) {
      if (time > Time::s(10)) {
        out_.error(at_(option(key)), "out-of-range",
                   std::string(key) + " must be at most 10s, not " + format(time));
      }
    }
  }

  // A cable outside has two ends: a driver on one of them only would leave the other without.
  void one_side_external(std::uint32_t l, std::uint32_t own) {
    const topology::Link& link = t().links[l];
    const bool a = t().port(link.a).external;
    const bool b = t().port(link.b).external;
    if (a == b) return;
    const End with = a ? link.a : link.b;
    const End without = a ? link.b : link.a;
    const Path path = own == kNone
                          ? Path{"nodes", t().nodes[with.node].name, "ports", t().port(with).name}
                          : Path{"links", std::to_string(own)};
    out_.error(at_(path), "driver",
               "link " + t().link_name(link) + ": port " + t().end_name(with) +
                   " has a driver and " + t().end_name(without) + " has none");
  }

  // One process opens at most 32 (RTE_MAX_ETHPORTS).
  void ethdevs() {
    std::vector<unsigned> by_node(t().nodes.size(), 0);
    unsigned all = 0;
    const auto count = [&](std::uint32_t node) {
      ++by_node[node];
      ++all;
    };
    for (std::uint32_t n = 0; n < t().nodes.size(); ++n) {
      if (!t().nodes[n].is_switch()) continue;
      for (const topology::Port& p : t().nodes[n].ports) {
        if (p.external) {
          count(n);
        } else if (p.link != kNone) {
          const topology::Link& l = t().links[p.link];
          const bool hosted = !t().nodes[l.a.node].is_switch() || !t().nodes[l.b.node].is_switch();
          const bool ethdev = hosted ? c_.hosts.attach == Attach::veth
                                     : link_driver(c_, plan_, p.link) != LinkDriver::wire;
          if (ethdev) count(n);
        }
      }
    }
    for (std::uint32_t n = 0; n < by_node.size(); ++n) {
      if (by_node[n] <= kMaxEthdevs) continue;
      out_.error(at_({"nodes", t().nodes[n].name}), "ethdevs",
                 "'" + t().nodes[n].name + "' would open " + std::to_string(by_node[n]) +
                     " DPDK ports; one process has at most " + std::to_string(kMaxEthdevs));
    }
    if (all > kMaxEthdevs &&
        std::all_of(by_node.begin(), by_node.end(), [](unsigned n) { return n <= kMaxEthdevs; })) {
      const bool hosts = c_.hosts.attach == Attach::veth;
      out_.warning(hosts ? at_({"hosts", "attach"}) : at_({"links"}), "ethdevs",
                   "the fabric has " + std::to_string(all) +
                       " DPDK ports; one process opens at most " + std::to_string(kMaxEthdevs) +
                       ", so 'frond up' cannot run it" +
                       (hosts ? " (attach: tap needs none)" : "; use switchd --node"));
    }
  }

  void connected() {
    std::vector<std::uint32_t> group(t().nodes.size(), kNone);
    std::vector<std::uint32_t> first;  // switch of each group
    for (std::uint32_t start = 0; start < t().nodes.size(); ++start) {
      const topology::Node& node = t().nodes[start];
      const bool linked = std::any_of(node.ports.begin(), node.ports.end(),
                                      [](const topology::Port& p) { return p.used(); });
      if (!linked) {
        out_.warning(at_.key({"nodes", node.name}), "unconnected",
                     (node.is_switch() ? "switch '" : "host '") + node.name + "' has no link");
        continue;
      }
      if (!node.is_switch() || group[start] != kNone) continue;
      const auto number = static_cast<std::uint32_t>(first.size());
      first.push_back(start);
      std::vector<std::uint32_t> todo{start};
      group[start] = number;
      while (!todo.empty()) {
        const std::uint32_t n = todo.back();
        todo.pop_back();
        for (std::uint16_t p = 0; p < t().nodes[n].ports.size(); ++p) {
          const auto peer = t().peer({n, p});
          if (!peer || group[peer->node] != kNone) continue;
          group[peer->node] = number;
          if (t().nodes[peer->node].is_switch()) todo.push_back(peer->node);
        }
      }
    }
    if (first.size() > 1) {
      out_.warning(at_.key({"nodes", t().nodes[first[1]].name}), "unconnected",
                   "no path leads from '" + t().nodes[first[0]].name + "' to '" +
                       t().nodes[first[1]].name + "'");
    }
  }

  void cpus() {
    std::set<std::uint32_t> seen;
    for (std::size_t i = 0; i < c_.cpus.size(); ++i) {
      if (!seen.insert(c_.cpus[i]).second) {
        out_.error(at_({"cpus", std::to_string(i)}), "duplicate",
                   "CPU " + std::to_string(c_.cpus[i]) + " is named twice");
      }
    }
  }

  void host(const Path& path, const std::string& text) {
    if (host_nodes().contains(text)) return;
    if (t().find(text) != kNone) {
      out_.error(at_(path), "traffic", "'" + printable(text) + "' is a switch; traffic is hosts'");
      return;
    }
    out_.error(at_(path), "traffic", "no host is called '" + printable(text) + "'",
               out_.full() ? "" : nearest(text, {host_nodes().begin(), host_nodes().end()}));
  }

  const std::set<std::string>& host_nodes() {
    if (!hosts_known_) {
      for (const auto& n : t().nodes) {
        if (!n.is_switch()) hosts_.insert(n.name);
      }
      hosts_known_ = true;
    }
    return hosts_;
  }

  void traffic() {
    for (std::size_t i = 0; i < c_.traffic.size(); ++i) {
      const TrafficConfig& s = c_.traffic[i];
      const std::string where = "traffic[" + std::to_string(i) + "]";
      const auto option = [&](const char* key) { return Path{"traffic", std::to_string(i), key}; };
      std::set<std::string> named;
      for (std::size_t f = 0; f < s.from.size(); ++f) {
        Path p = option("from");
        p.push_back(std::to_string(f));
        host(p, s.from[f]);
        if (!s.to.empty() && s.from[f] == s.to) {
          out_.error(at_(p), "traffic", "'" + printable(s.to) + "' would send to itself");
        }
        if (!named.insert(s.from[f]).second) {
          out_.error(at_(p), "duplicate", "'" + printable(s.from[f]) + "' is named twice");
        }
      }
      if (s.pattern == Pattern::permutation) {
        if (!s.to.empty()) {
          out_.error(at_.key(option("to")), "traffic",
                     where + ": a permutation draws the receivers; 'to' is for pair and incast");
        }
      } else if (s.to.empty()) {
        out_.error(at_({"traffic", std::to_string(i)}), "traffic",
                   where + " lacks 'to': the host that receives");
      } else {
        host(option("to"), s.to);
      }
      if (s.pattern == Pattern::pair && s.from.empty()) {
        out_.error(at_({"traffic", std::to_string(i)}), "traffic",
                   where + " lacks 'from': the hosts that send");
      }
      const Time stop = s.stop.value_or(c_.duration);
      if (stop <= s.start) {
        out_.error(
            at_(option(s.stop ? "stop" : "start")), "traffic",
            where + " stops at " + format(stop) + ", not after its start at " + format(s.start));
      }
      // The host's MTU is what it would fragment to.
      if (s.size.count() > c_.hosts.mtu) {
        out_.error(at_(option("size")), "traffic",
                   where + ": packets of " + format(s.size) +
                       " do not fit into the hosts' MTU of " + std::to_string(c_.hosts.mtu));
      }
    }
  }

  void events() {
    for (std::size_t i = 0; i < c_.events.size(); ++i) {
      const EventConfig& e = c_.events[i];
      const std::string index = std::to_string(i);
      if (!e.link.empty()) link_end({"events", index, "link"}, e.link);
      if (!e.state && !e.impair) {
        out_.error(at_({"events", index}), "event",
                   "events[" + index + "] changes nothing; give 'state' or 'impair'");
      }
      if (e.impair) impairment({"events", index, "impair"}, *e.impair);
      if (e.at >= c_.duration) {
        out_.warning(at_({"events", index, "at"}), "event",
                     "at " + format(e.at) + " the simulation has ended (duration " +
                         format(c_.duration) + ")");
      }
    }
  }

  void link_end(const Path& path, const std::string& text) {
    if (const auto end = t().find_end(text)) {
      if (t().port(*end).link == kNone) {
        out_.error(at_(path), "event", "no link is at port " + text);
      }
      return;
    }
    const std::size_t colon = text.find(':');
    const std::string name = text.substr(0, colon);
    const std::uint32_t node = t().find(name);
    if (node == kNone) {
      std::vector<std::string> names;
      if (!out_.full()) {
        for (const auto& n : t().nodes) names.push_back(n.name);
      }
      const std::string guess = nearest(name, names);
      out_.error(at_(path), "event", "no node is called '" + printable(name) + "'",
                 guess.empty() || colon == std::string::npos ? guess : guess + text.substr(colon));
      return;
    }
    std::vector<std::string> ports;
    for (const auto& p : t().nodes[node].ports) {
      if (p.used()) ports.push_back(p.name);
    }
    if (ports.empty()) {
      out_.error(at_(path), "event", "'" + name + "' has no link");
      return;
    }
    if (colon == std::string::npos) {
      out_.error(at_(path), "event",
                 "'" + printable(text) + "' lacks a port, such as " + name + ":" + ports[0]);
      return;
    }
    const std::string guess = nearest(text.substr(colon + 1), ports);
    out_.error(at_(path), "event",
               "'" + name + "' has no port '" + printable(text.substr(colon + 1)) + "'; it has " +
                   ports.front() + (ports.size() > 1 ? " to " + ports.back() : ""),
               guess.empty() ? "" : name + ":" + guess);
  }

  void oversubscribed() {
    const double ratio = topology::oversubscription(t());
    if (ratio <= 1.0) return;
    const auto tenths = static_cast<unsigned>(ratio * 10 + 0.5);
    std::string text = std::to_string(tenths / 10);
    if (tenths % 10 != 0) text += "." + std::to_string(tenths % 10);
    out_.note(at_.key(c_.topology ? Path{"topology"} : Path{"links"}), "oversubscription",
              "leaves are oversubscribed " + text + ":1 (rate of hosts to rate of uplinks)");
  }

  const FabricConfig& c_;
  const Locator& at_;
  Diagnostics& out_;
  Plan plan_;
  std::set<std::string> hosts_;
  bool hosts_known_ = false;
  bool mtu_said_ = false;
};

}  // namespace

Mark Locator::locate(const Path& path, bool key) const {
  if (root_ == nullptr) return {};
  const yaml::Node* node = root_;
  Mark mark = root_->mark.line > 0 ? root_->mark : Mark{1, 1};
  for (const std::string& step : path) {
    if (node->kind == yaml::Node::Kind::list) {
      const std::size_t i = std::stoul(step);
      if (i >= node->items.size()) return mark;
      node = &node->items[i];
      mark = node->mark;
    } else {
      const yaml::Entry* entry = node->find(step);
      if (entry == nullptr) return mark;
      mark = key || entry->value.mark.line == 0 ? entry->mark : entry->value.mark;
      node = &entry->value;
    }
  }
  return mark;
}

bool Locator::has(const Path& path) const {
  const yaml::Node* node = root_;
  for (const std::string& step : path) {
    const yaml::Entry* entry = node == nullptr ? nullptr : node->find(step);
    if (entry == nullptr) return false;
    node = &entry->value;
  }
  return node != nullptr;
}

void validate(const FabricConfig& config, const yaml::Node* root, Diagnostics& out) {
  const Locator locator(root);
  Validator(config, locator, out).run();
}

}  // namespace frond::config
