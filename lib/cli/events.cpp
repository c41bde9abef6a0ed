// SPDX-License-Identifier: BSD-3-Clause
// frond events: what happened: links, changes, impairments.
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/json.hpp"
#include "cli/picture.hpp"
#include "cli/session.hpp"
#include "cli/text.hpp"

namespace frond::cli {
namespace {

class Events final : public Command {
 public:
  CLI::App* declare(CLI::App& app, Global& global) override {
    CLI::App* c = app.add_subcommand("events", "What happened: links, changes, impairments");
    c->add_flag("-f,--follow", follow_, "And what happens from now on, until interrupted");
    add_name(c, global);
    c->add_flag("--json", global.json, "A JSON object a line");
    return c;
  }

  int run(Global& global) override {
    auto client = open_fabric(global.fabric);
    if (!client) return fail(global, client.error());
    auto info = (*client)->info();
    if (!info) return fail(global, info.error());
    const auto status = (*client)->events(0, follow_, [&](const management::Event& e) {
      if (global.json) {
        fmt::print("{}\n", event_json(e).dump(-1, ' ', false, Json::error_handler_t::replace));
      } else {
        const std::string where = e.node.empty()   ? ""
                                  : e.port.empty() ? e.node
                                                   : e.node + ":" + e.port;
        std::string why = e.mechanism;
        if (e.detection > Time()) why += fmt::format(" after {}", duration_text(e.detection));
        fmt::print("{}\n",
                   cut(fmt::format("{:>10.3f} s  {:<10} {:<14} {}{}{}",
                                   (e.time - info->started).seconds(), e.kind, where, why,
                                   why.empty() || e.text.empty() ? "" : "  ", printable(e.text)),
                       kWidth));
      }
      fflush(stdout);
      return true;
    });
    return status ? kDone : fail(global, status.error());
  }

 private:
  bool follow_ = false;
};

}  // namespace

std::unique_ptr<Command> make_events() { return std::make_unique<Events>(); }

}  // namespace frond::cli
