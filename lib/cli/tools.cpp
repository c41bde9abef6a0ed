// SPDX-License-Identifier: BSD-3-Clause
// frond sim, validate, graph: what fabricd does with a file, or with itself.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cli/command.hpp"
#include "cli/programs.hpp"
#include "cli/session.hpp"

namespace frond::cli {
namespace {

class Sim final : public Command {
 public:
  CLI::App* declare(CLI::App& app, Global& global) override {
    CLI::App* c =
        app.add_subcommand("sim", "The same file in virtual time: exact, and the same every time");
    c->add_option("file", file_, "YAML file, or the name of a shipped configuration")
        ->required()
        ->type_name("FILE");
    c->add_option("--seed", seed_, "Where chance starts; the file's own without it")
        ->type_name("N");
    c->add_option("--duration", duration_, "Of virtual time: 10ms")->type_name("TIME");
    c->allow_extras();
    add_json(c, global);
    c->footer(
        "Further options are fabricd's: fabricd sim --help.\n\n"
        "Example:\n  frond sim leaf-spine-2x2 --seed 7 --json | jq .trace_hash");
    app_ = c;
    return c;
  }

  int run(Global& global) override {
    auto file = find_config(file_);
    if (!file) {
      fail(global, file.error());
      return kCannot;
    }
    std::vector<std::string> args = {"sim", *file};
    if (!seed_.empty()) args.insert(args.end(), {"--seed", seed_});
    if (!duration_.empty()) args.insert(args.end(), {"--duration", duration_});
    if (global.json) args.emplace_back("--json");
    for (const std::string& extra : app_->remaining()) args.push_back(extra);
    fail(global, become_fabricd(args));
    return kCannot;
  }

 private:
  CLI::App* app_ = nullptr;
  std::string file_, seed_, duration_;
};

class Validate final : public Command {
 public:
  CLI::App* declare(CLI::App& app, Global& global) override {
    CLI::App* c =
        app.add_subcommand("validate", "Check files: every error, where it is and what was meant");
    c->add_option("files", files_, "YAML files")->required()->type_name("FILE");
    c->add_flag("--strict", strict_, "Warnings count: exit status 3");
    c->add_flag("--json", global.json, "SARIF 2.1.0");
    c->footer("Exit status: 0 valid; 1 invalid; 2 cannot be read; 3 warnings, with --strict.");
    return c;
  }

  int run(Global& global) override {
    std::vector<std::string> args = {"validate"};
    for (const std::string& f : files_) {
      // As it was typed, for the messages; a shipped one by its path.
      std::error_code ignored;
      auto found = std::filesystem::exists(f, ignored) ? Result<std::string>(f) : find_config(f);
      if (!found) {
        fail(global, found.error());
        return kCannot;
      }
      args.push_back(*found);
    }
    if (strict_) args.emplace_back("--strict");
    if (global.json) args.emplace_back("--json");
    fail(global, become_fabricd(args));
    return kCannot;
  }

 private:
  std::vector<std::string> files_;
  bool strict_ = false;
};

class Graph final : public Command {
 public:
  CLI::App* declare(CLI::App& app, Global& global) override {
    CLI::App* c = app.add_subcommand(
        "graph", "A picture of a file, or of the running fabric with its links' state");
    c->add_option("file", file_, "YAML file; without it, the running fabric")->type_name("FILE");
    c->add_option("-f,--format", format_, "How")
        ->check(CLI::IsMember({"text", "dot", "svg", "html", "mermaid"}))
        ->capture_default_str();
    c->add_option("-o,--output", output_, "Where to; standard output without it")
        ->type_name("FILE");
    add_name(c, global);
    return c;
  }

  int run(Global& global) override {
    if (!output_.empty() && freopen(output_.c_str(), "w", stdout) == nullptr) {
      fail(global, {Error::Code::unavailable,
                    fmt::format("cannot write {}: {}", output_, std::strerror(errno))});
      return kCannot;
    }
    if (!file_.empty() && file_ != "running") {
      auto file = find_config(file_);
      if (!file) {
        fail(global, file.error());
        return kCannot;
      }
      fail(global, become_fabricd({"graph", *file, "--format", format_}));
      return kCannot;
    }
    auto client = open_fabric(global.fabric);
    if (!client) return fail(global, client.error());
    auto text = (*client)->graph(format_);
    if (!text) return fail(global, text.error());
    fmt::print("{}{}", *text, text->ends_with('\n') ? "" : "\n");
    return kDone;
  }

 private:
  std::string file_, output_;
  std::string format_ = "text";
};

}  // namespace

std::unique_ptr<Command> make_sim() { return std::make_unique<Sim>(); }
std::unique_ptr<Command> make_validate() { return std::make_unique<Validate>(); }
std::unique_ptr<Command> make_graph() { return std::make_unique<Graph>(); }

}  // namespace frond::cli
