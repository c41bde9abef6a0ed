// SPDX-License-Identifier: BSD-3-Clause
// frond list: the fabrics of this machine.
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/json.hpp"
#include "cli/picture.hpp"
#include "cli/session.hpp"
#include "cli/text.hpp"

namespace frond::cli {
namespace {

class List final : public Command {
 public:
  CLI::App* declare(CLI::App& app, Global& global) override {
    CLI::App* c = app.add_subcommand("list", "The fabrics of this machine");
    add_json(c, global);
    return c;
  }

  int run(Global& global) override {
    Json list = Json::array();
    Table table({{"NAME", Table::Align::left},
                 {"STATE", Table::Align::left},
                 {"PID", Table::Align::right},
                 {"UP FOR", Table::Align::right},
                 {"FILE", Table::Align::left}});
    for (const Found& f : all_fabrics()) {
      const std::string file = f.record ? f.record->config : "";
      const pid_t pid = f.record ? f.record->process.pid : 0;
      std::string age;
      if (f.running) {
        if (auto client = open_fabric(f.name)) {
          if (auto info = (*client)->info()) age = duration_text(info->now - info->started);
        }
      }
      list.push_back({{"name", f.name},
                      {"state", f.running ? "running" : "crashed"},
                      {"pid", pid},
                      {"config", file}});
      table.add({f.name, f.running ? "running" : "crashed", pid == 0 ? "" : std::to_string(pid),
                 age, file});
    }
    if (global.json) {
      print_json({{"schema", "frond.list/1"}, {"fabrics", std::move(list)}});
    } else if (table.empty()) {
      fmt::print("no fabric is running; frond up demo starts one\n");
    } else {
      fmt::print("{}", table.text());
    }
    return kDone;
  }
};

}  // namespace

std::unique_ptr<Command> make_list() { return std::make_unique<List>(); }

}  // namespace frond::cli
