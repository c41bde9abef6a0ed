// SPDX-License-Identifier: BSD-3-Clause
// frond apply FILE: changes the running fabric by the difference to a file.
#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "cli/command.hpp"
#include "cli/json.hpp"
#include "cli/session.hpp"
#include "cli/text.hpp"

namespace frond::cli {
namespace {
using namespace management;

class Apply final : public Command {
 public:
  CLI::App* declare(CLI::App& app, Global& global) override {
    CLI::App* c =
        app.add_subcommand("apply", "Change the running fabric by the difference to a file");
    c->add_option("file", file_, "YAML file, as changed; - is standard input")
        ->required()
        ->type_name("FILE");
    c->add_flag("--dry-run", dry_run_, "Show the difference and change nothing");
    add_name(c, global);
    add_json(c, global);
    c->footer(
        "What the difference does not touch loses no packet. An invalid file changes nothing.");
    return c;
  }

  int run(Global& global) override {
    std::ostringstream text;
    if (file_ == "-") {
      char chunk[4096];
      for (std::size_t n; (n = std::fread(chunk, 1, sizeof(chunk), stdin)) > 0;)
        text.write(chunk, static_cast<std::streamsize>(n));
    } else {
      std::ifstream in(file_);
      if (!in || !(text << in.rdbuf())) {
        fail(global, {Error::Code::not_found,
                      fmt::format("cannot read {}: {}", file_, std::strerror(errno))});
        return kCannot;
      }
    }
    auto client = open_fabric(global.fabric);
    if (!client) return fail(global, client.error());
    auto report = (*client)->apply(text.str(), file_, dry_run_);
    if (!report) return fail(global, report.error());
    if (global.json) {
      print_json(apply_json(*report));
      return report->valid ? kDone : kFailed;
    }
    unsigned errors = 0;
    for (const Diagnostic& d : report->diagnostics) {
      const bool error = d.severity == Diagnostic::Severity::error;
      errors += error;
      fmt::print(stderr, "{}:{}:{}: {}: {}\n", d.file, d.line, d.column,
                 error ? "error" : "warning", printable(d.message));
    }
    if (!report->valid) {
      fmt::print(stderr, "{}; nothing was changed\n", plural(errors, "error", "errors"));
      return kFailed;
    }
    for (const std::string& change : report->changes) fmt::print("{}\n", printable(change));
    if (report->changes.empty()) {
      fmt::print("no difference; nothing to do\n");
    } else {
      fmt::print(
          "{} {}\n", plural(report->changes.size(), "change", "changes"),
          report->applied ? "applied" : "not applied; frond apply without --dry-run does it");
    }
    return kDone;
  }

 private:
  std::string file_;
  bool dry_run_ = false;
};

}  // namespace

std::unique_ptr<Command> make_apply() { return std::make_unique<Apply>(); }

}  // namespace frond::cli
