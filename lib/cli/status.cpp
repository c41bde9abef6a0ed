// SPDX-License-Identifier: BSD-3-Clause
// frond status: the fabric at a glance; with a node or port, that one in full.
#include <fmt/format.h>

#include <map>

#include "cli/command.hpp"
#include "cli/impairment.hpp"
#include "cli/json.hpp"
#include "cli/picture.hpp"
#include "cli/session.hpp"
#include "cli/text.hpp"

namespace frond::cli {
namespace {
using namespace management;

std::string state_of(const Interface& i) {
  if (i.oper_up) return "up";
  return i.down_reason.empty() ? "down" : fmt::format("down ({})", i.down_reason);
}

class StatusCommand final : public Command {
 public:
  CLI::App* declare(CLI::App& app, Global& global) override {
    CLI::App* c =
        app.add_subcommand("status", "What runs, which links are up, what was dropped and why");
    c->add_option("node", node_, "Only this node, or port")->type_name("NODE");
    add_name(c, global);
    add_json(c, global);
    return c;
  }

  int run(Global& global) override {
    const std::string wanted = split_fabric(node_, global.fabric);
    auto client = open_fabric(global.fabric);
    if (!client) return fail(global, client.error());
    auto info = (*client)->info();
    auto nodes = (*client)->nodes();
    auto links = (*client)->links();
    if (!info || !nodes || !links)
      return fail(global, !info ? info.error() : !nodes ? nodes.error() : links.error());
    if (!wanted.empty()) {
      if (auto s = keep(wanted, *nodes, *links); !s) return fail(global, s.error());
    }
    if (global.json) {
      print_json(status_json(*info, *nodes, *links));
      return kDone;
    }
    if (wanted.empty()) {
      fmt::print("{}", picture(*info, *nodes, *links));
      fmt::print("up for {}  pid {}  seed {}  {}\n\n", duration_text(info->now - info->started),
                 info->pid, info->seed, info->config_file);
    }
    fmt::print("{}", ports_table(*nodes));
    print_drops(*nodes);
    print_impairments(*links);
    return kDone;
  }

 private:
  static Status keep(const std::string& wanted, std::vector<Node>& nodes,
                     std::vector<Link>& links) {
    const std::string node = wanted.substr(0, wanted.find(':'));
    const std::string port = node == wanted ? "" : wanted.substr(node.size() + 1);
    std::vector<std::string> names;
    std::vector<Node> kept;
    for (Node& n : nodes) {
      names.push_back(n.name);
      if (n.name != node) continue;
      if (!port.empty())
        std::erase_if(n.interfaces, [&](const Interface& i) { return i.name != port; });
      kept.push_back(std::move(n));
    }
    if (kept.empty() || (!port.empty() && kept[0].interfaces.empty())) {
      const std::string near = nearest(node, names);
      return Error{
          Error::Code::not_found,
          fmt::format("there is no {} '{}'{}", port.empty() ? "node" : "port", wanted,
                      near.empty() || near == node ? "; frond status shows them all"
                                                   : fmt::format("; did you mean {}?", near))};
    }
    nodes = std::move(kept);
    std::erase_if(links, [&](const Link& l) {
      auto ours = [&](const LinkEnd& e) {
        return e.node == node && (port.empty() || e.port == port);
      };
      return !ours(l.a) && !ours(l.b);
    });
    return {};
  }

  static std::string ports_table(const std::vector<Node>& nodes) {
    Table table({{"PORT", Table::Align::left},
                 {"STATE", Table::Align::left},
                 {"PEER", Table::Align::left},
                 {"RATE", Table::Align::right},
                 {"IN PKTS", Table::Align::right},
                 {"OUT PKTS", Table::Align::right},
                 {"DROPS", Table::Align::right},
                 {"ADDRESS", Table::Align::left}});
    for (const Node& n : nodes) {
      for (const Interface& i : n.interfaces) {
        std::uint64_t drops = 0;
        for (const Drop& d : i.drops) drops += d.packets;
        std::string address = i.addresses.empty() ? "" : i.addresses[0].to_string();
        table.add({n.name + ":" + i.name, state_of(i), i.peer, rate_text(i.speed),
                   count(i.counters.in_pkts), count(i.counters.out_pkts), count(drops), address});
      }
    }
    return table.text();
  }

  static void print_drops(const std::vector<Node>& nodes) {
    std::map<std::pair<std::string, std::string>, std::uint64_t> by_reason;
    for (const Node& n : nodes) {
      for (const Interface& i : n.interfaces) {
        for (const Drop& d : i.drops) by_reason[{d.stage, d.reason}] += d.packets;
      }
    }
    Table table({{"DROPPED", Table::Align::right},
                 {"STAGE", Table::Align::left},
                 {"REASON", Table::Align::left}});
    for (const auto& [why, n] : by_reason) {
      if (n != 0) table.add({count(n), why.first, why.second});
    }
    if (!table.empty()) fmt::print("\n{}", table.text());
  }

  static void print_impairments(const std::vector<Link>& links) {
    Table table({{"IMPAIRED", Table::Align::left}, {"", Table::Align::left}});
    for (const Link& l : links) {
      for (const auto& [from, to] : {std::pair(&l.a, &l.b), std::pair(&l.b, &l.a)}) {
        if (from->out == Impairment()) continue;
        table.add({fmt::format("{}:{} -> {}:{}", from->node, from->port, to->node, to->port),
                   impairment_text(from->out)});
      }
    }
    if (!table.empty()) fmt::print("\n{}", table.text());
  }

  std::string node_;
};

}  // namespace

std::unique_ptr<Command> make_status() { return std::make_unique<StatusCommand>(); }

}  // namespace frond::cli
