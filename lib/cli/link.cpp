// SPDX-License-Identifier: BSD-3-Clause
// frond link A:port up|down, frond impair A:port ...: what an operator does to a cable.
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/impairment.hpp"
#include "cli/json.hpp"
#include "cli/session.hpp"

namespace frond::cli {
namespace {
using namespace management;

class LinkCommand final : public Command {
 public:
  CLI::App* declare(CLI::App& app, Global& global) override {
    CLI::App* c = app.add_subcommand("link", "Take a link down, or bring it up");
    c->add_option("port", port_, "One end of the link")->required()->type_name("NODE:PORT");
    c->add_option("state", state_, "up or down")->required()->check(CLI::IsMember({"up", "down"}));
    add_name(c, global);
    add_json(c, global);
    c->footer(
        "Both ends lose their carrier at once, as when a cable is pulled. A link that fails "
        "without\n"
        "notice is `frond impair A:PORT silent`.");
    return c;
  }

  int run(Global& global) override {
    auto client = open_fabric((port_ = split_fabric(port_, global.fabric), global.fabric));
    if (!client) return fail(global, client.error());
    auto port = find_port(**client, port_);
    if (!port) return fail(global, port.error());
    if (auto s = (*client)->set_link_admin(port->node, port->port, state_ == "up"); !s)
      return fail(global, s.error());
    if (global.json) {
      print_json({{"schema", "frond.link/1"},
                  {"node", port->node},
                  {"port", port->port},
                  {"admin", state_}});
    } else {
      fmt::print("{}: {}\n", port->text(), state_);
    }
    return kDone;
  }

 private:
  std::string port_, state_;
};

class Impair final : public Command {
 public:
  CLI::App* declare(CLI::App& app, Global& global) override {
    CLI::App* c =
        app.add_subcommand("impair", "Make a link lose, corrupt, duplicate, reorder or delay");
    c->add_option("port", port_, "One end of the link")->required()->type_name("NODE:PORT");
    c->add_option("impairment", words_,
                  "loss= corrupt= duplicate= reorder= (shares: 0.1% or 0.001), delay= jitter= "
                  "reorder-delay= (1ms), silent, seed=")
        ->type_name("NAME=VALUE");
    c->add_flag("--clear", clear_, "None any more; then what is given");
    c->add_option("--direction", direction_, "Frames that leave at this end, that come in, or both")
        ->check(CLI::IsMember({"out", "in", "both"}))
        ->capture_default_str();
    add_name(c, global);
    add_json(c, global);
    c->footer(
        "What is not named stays as it is; without any, shows what there is.\n\n"
        "Examples:\n"
        "  frond impair leaf1:p3 loss=0.1% delay=1ms jitter=100us seed=7\n"
        "  frond impair leaf1:p3 silent            # carrier stays up, every frame is lost\n"
        "  frond impair leaf1:p3 --clear");
    return c;
  }

  int run(Global& global) override {
    port_ = split_fabric(port_, global.fabric);
    auto client = open_fabric(global.fabric);
    if (!client) return fail(global, client.error());
    auto port = find_port(**client, port_);
    if (!port) return fail(global, port.error());
    auto links = (*client)->links();
    if (!links) return fail(global, links.error());
    const Link* link = nullptr;
    for (const Link& l : *links) {
      for (const LinkEnd* e : {&l.a, &l.b}) {
        if (e->node == port->node && e->port == port->port) link = &l;
      }
    }
    if (link == nullptr) {
      return fail(global,
                  {Error::Code::invalid_argument, fmt::format("{} has no link", port->text())});
    }
    const bool at_a = link->a.node == port->node && link->a.port == port->port;
    std::vector<Client::ImpairmentChange> ends;
    const LinkEnd& here = at_a ? link->a : link->b;
    const LinkEnd& there = at_a ? link->b : link->a;
    if (direction_ != "in") ends.push_back({here.node, here.port, here.out});
    if (direction_ != "out") ends.push_back({there.node, there.port, there.out});
    if (clear_ || !words_.empty()) {
      for (auto& end : ends) {
        if (clear_) end.impairment = Impairment();
        if (auto s = parse_impairment(words_, end.impairment); !s) return fail(global, s.error());
      }
      if (auto s = (*client)->set_impairments(ends); !s) return fail(global, s.error());
    }
    Json list = Json::array();
    for (const auto& end : ends) {
      const bool out = &end == &ends[0] && direction_ != "in";
      const LinkEnd& to = out ? there : here;
      list.push_back({{"node", end.node},
                      {"port", end.port},
                      {"to", to.node + ":" + to.port},
                      {"impairment", impairment_json(end.impairment)}});
      if (!global.json) {
        fmt::print("{}:{} -> {}:{}  {}\n", end.node, end.port, to.node, to.port,
                   impairment_text(end.impairment));
      }
    }
    if (global.json) print_json({{"schema", "frond.impair/1"}, {"directions", std::move(list)}});
    return kDone;
  }

 private:
  std::string port_;
  std::vector<std::string> words_;
  std::string direction_ = "both";
  bool clear_ = false;
};

}  // namespace

std::unique_ptr<Command> make_link() { return std::make_unique<LinkCommand>(); }
std::unique_ptr<Command> make_impair() { return std::make_unique<Impair>(); }

}  // namespace frond::cli
