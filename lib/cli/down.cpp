// SPDX-License-Identifier: BSD-3-Clause
// frond down [NAME|--all]: ends a fabric and removes all that it made, also after a crash.
#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/json.hpp"
#include "cli/session.hpp"
#include "cli/text.hpp"

namespace frond::cli {
namespace {

class Down final : public Command {
 public:
  CLI::App* declare(CLI::App& app, Global& global) override {
    CLI::App* c = app.add_subcommand("down", "End a fabric and remove all that it made");
    c->add_option("name", name_, "Which fabric, if more than one runs")->type_name("FABRIC");
    c->add_flag("--all", all_, "All fabrics of this machine");
    add_name(c, global);
    add_json(c, global);
    c->footer(
        "Programs that still run in its hosts are ended too. After a crash (or kill -9) it "
        "removes\n"
        "the namespaces and files that the fabric had recorded before it made them.");
    return c;
  }

  int run(Global& global) override {
    auto lock = Lock::take();
    if (!lock) return fail(global, lock.error());
    auto names = which(name_.empty() ? global.fabric : name_);
    if (!names) return fail(global, names.error());
    Json list = Json::array();
    int status = kDone;
    for (const std::string& name : *names) {
      auto done = tear_down(name);
      if (!done) {
        status = fail(global, done.error());
        continue;
      }
      list.push_back({{"name", name},
                      {"was_running", done->was_running},
                      {"killed", done->killed},
                      {"namespaces", done->namespaces},
                      {"processes", done->processes}});
      if (global.json) continue;
      std::string what = done->was_running ? "down" : "cleaned up: it had crashed";
      if (done->killed) what += "; it did not answer and was killed";
      if (done->processes != 0)
        what +=
            fmt::format("; ended {} in its hosts", plural(done->processes, "program", "programs"));
      fmt::print("{}: {}\n", name, what);
    }
    if (global.json) print_json({{"schema", "frond.down/1"}, {"fabrics", std::move(list)}});
    return status;
  }

 private:
  Result<std::vector<std::string>> which(const std::string& given) const {
    const auto fabrics = all_fabrics();
    std::vector<std::string> names;
    for (const Found& f : fabrics) names.push_back(f.name);
    if (all_) return names;
    if (!given.empty()) {
      if (auto s = check_name(given); !s) return s.error();
      return std::vector<std::string>{given};
    }
    if (names.size() == 1) return names;
    if (names.empty())
      return Error{Error::Code::not_found, "no fabric is running, and none has crashed"};
    return Error{Error::Code::invalid_argument,
                 fmt::format("there are {} fabrics: {}; say which, or --all", names.size(),
                             fmt::join(names, ", "))};
  }

  std::string name_;
  bool all_ = false;
};

}  // namespace

std::unique_ptr<Command> make_down() { return std::make_unique<Down>(); }

}  // namespace frond::cli
