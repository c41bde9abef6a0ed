// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/json.hpp"
#include "cli/session.hpp"
#include "cli/text.hpp"

namespace frond::cli {

// Each is defined in the file of its name.
std::unique_ptr<Command> make_up();
std::unique_ptr<Command> make_down();
std::unique_ptr<Command> make_apply();
std::unique_ptr<Command> make_exec();
std::unique_ptr<Command> make_status();
std::unique_ptr<Command> make_top();
std::unique_ptr<Command> make_link();
std::unique_ptr<Command> make_impair();
std::unique_ptr<Command> make_capture();
std::unique_ptr<Command> make_trace();
std::unique_ptr<Command> make_events();
std::unique_ptr<Command> make_sim();
std::unique_ptr<Command> make_validate();
std::unique_ptr<Command> make_graph();
std::unique_ptr<Command> make_list();
std::unique_ptr<Command> make_doctor();
std::unique_ptr<Command> make_completion();
std::unique_ptr<Command> make_complete();
std::unique_ptr<Command> make_man();

namespace {

class Version final : public Command {
 public:
  CLI::App* declare(CLI::App& app, Global& global) override {
    CLI::App* c = app.add_subcommand("version", "Of this program");
    add_json(c, global);
    return c;
  }
  int run(Global& global) override {
    if (global.json)
      print_json({{"schema", "frond.version/1"}, {"version", FROND_VERSION}});
    else
      fmt::print("frond {}\n", FROND_VERSION);
    return kDone;
  }
};

}  // namespace

std::vector<std::unique_ptr<Command>> all_commands() {
  std::vector<std::unique_ptr<Command>> all;
  for (auto make : {make_up, make_down, make_status, make_exec, make_top, make_trace, make_link,
                    make_impair, make_capture, make_events, make_apply, make_graph, make_validate,
                    make_sim, make_list, make_doctor, make_completion}) {
    all.push_back(make());
  }
  all.push_back(std::make_unique<Version>());
  all.push_back(make_complete());
  all.push_back(make_man());
  return all;
}

void add_json(CLI::App* app, Global& global) {
  app->add_flag("--json", global.json, "Answer in JSON, errors too");
}
void add_name(CLI::App* app, Global& global) {
  app->add_option("--name", global.fabric, "Which fabric, if more than one runs")
      ->type_name("FABRIC");
}

int fail(const Global& global, const Error& error) {
  if (global.json) {
    print_json(error_json(error));
  } else {
    fmt::print(stderr, "frond: {}\n", error.message);
  }
  return kFailed;
}

Application::Application()
    : app_("An AI-network fabric in software: switches, links and hosts on one machine", "frond") {
  app_.require_subcommand(1);
  app_.get_formatter()->column_width(28);
  app_.set_version_flag("--version", "frond " FROND_VERSION);
  app_.footer(
      "First: frond up demo; then frond status, frond exec h1 -- ping h2, frond down.\n"
      "With several fabrics: --name NAME, or NAME/ before a node.");
  for (auto& command : all_commands()) {
    CLI::App* sub = command->declare(app_, global_);
    commands_.emplace_back(sub, std::move(command));
  }
}

int Application::run(int argc, const char* const* argv) {
  try {
    app_.parse(argc, argv);
  } catch (const CLI::Success& e) {  // --help, --version
    return app_.exit(e);
  } catch (const CLI::ParseError& e) {
    const auto parsed = app_.get_subcommands();
    std::string command = parsed.empty() ? "" : " " + parsed[0]->get_name();
    std::string message = e.what();
    if (parsed.empty() && argc > 1 && argv[1][0] != '-') {
      std::vector<std::string> names;
      for (const auto& [sub, unused] : commands_) names.push_back(sub->get_name());
      const std::string near = nearest(argv[1], names);
      message = fmt::format("there is no command '{}'{}", printable(argv[1]),
                            near.empty() ? "" : fmt::format("; did you mean frond {}?", near));
    }
    // Not parsed to its end: --json may not have been seen yet.
    for (int i = 1; i < argc; ++i)
      global_.json = global_.json || std::string_view(argv[i]) == "--json";
    fail(global_,
         {Error::Code::invalid_argument, fmt::format("{}; see frond{} --help", message, command)});
    return kCannot;
  }
  for (auto& [sub, command] : commands_) {
    if (sub->parsed()) return command->run(global_);
  }
  return kCannot;
}

}  // namespace frond::cli
