// SPDX-License-Identifier: BSD-3-Clause
// frond exec HOST -- CMD: runs a program in a host; its exit status is ours.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/command.hpp"
#include "cli/netns.hpp"
#include "cli/session.hpp"
#include "cli/state.hpp"

namespace frond::cli {
namespace {

class Exec final : public Command {
 public:
  CLI::App* declare(CLI::App& app, Global& global) override {
    CLI::App* c = app.add_subcommand("exec", "Run a program in a host");
    c->add_option("host", host_, "Where")->required()->type_name("HOST");
    c->add_option("command", command_, "What, after --; a shell if nothing is given")
        ->type_name("COMMAND");
    c->positionals_at_end();
    c->prefix_command(false);
    add_name(c, global);
    c->footer(
        "The program sees the host's network, a /sys of its own, and the files of\n"
        "/etc/netns/NAME-HOST over those of /etc, as with ip netns exec. Ends with its status;\n"
        "126: it cannot be run; 127: there is no such program.");
    return c;
  }

  int run(Global& global) override {
    const std::string host = split_fabric(host_, global.fabric);
    auto where = find(host, global.fabric);
    if (!where) return fail(global, where.error());
    // The fabric's hosts by name, as fabricd wrote them.
    const std::string hosts = state_dir(*choose_fabric(global.fabric)) + "/hosts";
    if (auto s = enter_netns(*where, hosts); !s) return fail(global, s.error());
    // Positionals at the end take what follows as it stands, the separator too.
    if (!command_.empty() && command_[0] == "--") command_.erase(command_.begin());
    if (command_.empty()) {
      const char* shell = std::getenv("SHELL");
      command_.emplace_back(shell != nullptr && *shell != 0 ? shell : "/bin/sh");
    }
    std::vector<char*> argv;
    for (std::string& word : command_) argv.push_back(word.data());
    argv.push_back(nullptr);
    execvp(argv[0], argv.data());
    const int status = errno == ENOENT ? 127 : 126;
    fmt::print(stderr, "frond: cannot run {}: {}\n", command_[0], std::strerror(errno));
    return status;
  }

 private:
  // The namespace of a host has its name from the fabric's; one that was there before is known to
  // the fabric only.
  static Result<std::string> find(const std::string& host, const std::string& given) {
    auto fabric = choose_fabric(given);
    if (!fabric) return fabric.error();
    const std::string own = *fabric + "-" + host;
    if (host.find('/') == host.npos && access(netns_path(own).c_str(), F_OK) == 0) return own;
    auto client = open_fabric(*fabric);
    if (!client) return client.error();
    auto nodes = (*client)->nodes();
    if (!nodes) return nodes.error();
    std::vector<std::string> hosts;
    for (const auto& n : *nodes) {
      if (n.kind != management::Node::Kind::host) {
        if (n.name == host) {
          return Error{
              Error::Code::invalid_argument,
              fmt::format("{} is a switch: programs run in hosts; frond status {} shows it", host,
                          host)};
        }
        continue;
      }
      hosts.push_back(n.name);
      if (n.name != host) continue;
      if (n.netns.empty()) {
        return Error{Error::Code::invalid_argument,
                     fmt::format("{} has no namespace to run programs in", host)};
      }
      const bool is_pid = n.netns.find_first_not_of("0123456789") == n.netns.npos;
      return is_pid ? fmt::format("/proc/{}/ns/net", n.netns) : n.netns;
    }
    const std::string near = nearest(host, hosts);
    return Error{Error::Code::not_found,
                 near.empty()
                     ? fmt::format("there is no host '{}' in {}; hosts: {}", host, *fabric,
                                   hosts.size() > 8 ? hosts.front() + " .. " + hosts.back()
                                                    : fmt::format("{}", fmt::join(hosts, " ")))
                     : fmt::format("there is no host '{}'; did you mean {}?", host, near)};
  }

  std::string host_;
  std::vector<std::string> command_;
};

}  // namespace

std::unique_ptr<Command> make_exec() { return std::make_unique<Exec>(); }

}  // namespace frond::cli
