// SPDX-License-Identifier: BSD-3-Clause
// frond up FILE: starts fabricd, waits until it is ready, and shows what has come up. When anything
// fails nothing is left.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "cli/command.hpp"
#include "cli/json.hpp"
#include "cli/picture.hpp"
#include "cli/programs.hpp"
#include "cli/session.hpp"
#include "cli/text.hpp"

namespace frond::cli {
namespace {

// Set by a signal handler, which may touch nothing else.
volatile sig_atomic_t interrupted = 0;  // lint: process state, the signal's
void on_interrupt(int) { interrupted = 1; }

Error cannot(std::string message) { return {Error::Code::unavailable, std::move(message)}; }

std::string last_lines(const std::string& path, unsigned n) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back("  " + cut(printable(line), kWidth - 2));
    if (lines.size() > n) lines.erase(lines.begin());
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

// What the file calls its fabric: a key `name` at the left edge.
std::string name_in(const std::string& file) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("name:", 0) != 0) continue;
    std::string name = line.substr(5, line.find('#') == line.npos ? line.npos : line.find('#') - 5);
    std::erase_if(
        name, [](char c) { return c == ' ' || c == '"' || c == '\'' || c == '\r' || c == '\t'; });
    return name;
  }
  return std::filesystem::path(file).stem();
}

class Up final : public Command {
 public:
  CLI::App* declare(CLI::App& app, Global& global) override {
    CLI::App* c = app.add_subcommand("up", "Start the fabric that a file describes");
    c->add_option("file", file_, "YAML file, or the name of a shipped configuration (demo)")
        ->required()
        ->type_name("FILE");
    c->add_option("--name", global.fabric, "Name of the fabric, if not the file's own")
        ->type_name("NAME");
    add_json(c, global);
    c->footer(
        "Every host is a network namespace NAME-HOST. What `up` makes, `down` removes; when it\n"
        "cannot start all of it, it leaves nothing behind.\n\n"
        "Example:\n  frond up demo && frond exec h1 -- ping -c 3 h2");
    return c;
  }

  int run(Global& global) override {
    auto file = find_config(file_);
    if (!file) {
      fail(global, file.error());
      return kCannot;
    }
    const std::string name = global.fabric.empty() ? name_in(*file) : global.fabric;
    if (auto s = check_name(name); !s) return fail(global, s.error());
    if (auto s = start(*file, name, global.json); !s) return fail(global, s.error());
    return show(global, name);
  }

 private:
  Status start(const std::string& file, const std::string& name, bool json) {
    auto fabricd = find_fabricd();
    if (!fabricd) return fabricd.error();
    auto lock = Lock::take();
    if (!lock) return lock.error();
    if (auto s = take_directory(name, json); !s) return s;

    struct sigaction act {};
    act.sa_handler = on_interrupt;
    sigaction(SIGINT, &act, nullptr);
    sigaction(SIGTERM, &act, nullptr);
    Status s = spawn_and_wait(*fabricd, file, name);
    if (!s) (void)tear_down(name);
    return s;
  }

  // The state directory, empty: a crashed fabric's is cleaned up first.
  Status take_directory(const std::string& name, bool json) {
    const std::string dir = state_dir(name);
    if (std::filesystem::exists(dir)) {
      const auto record = read_record(name);
      if (record && alive(record->process)) {
        return Error{
            Error::Code::already_exists,
            fmt::format(
                "fabric '{0}' is already up; frond apply changes it, frond down {0} ends it, "
                "--name starts another beside it",
                name)};
      }
      auto done = tear_down(name);
      if (!done) return done.error();
      if (!json) fmt::print(stderr, "cleaned up after '{}', which had crashed\n", name);
    }
    if (mkdir(dir.c_str(), 0700) != 0) {
      return Error{Error::Code::permission_denied,
                   fmt::format("cannot make {}: {}; run as root", dir, std::strerror(errno))};
    }
    return {};
  }

  Status spawn_and_wait(const std::string& fabricd, const std::string& file,
                        const std::string& name) {
    const std::string dir = state_dir(name);
    const std::string log = dir + "/log";
    // The child does not start before its number is recorded: whenever we are killed, either it is
    // known to `frond down` or it sees `go` close and ends.
    int ready[2];
    int go[2];
    if (pipe2(ready, O_CLOEXEC) != 0 || pipe2(go, O_CLOEXEC) != 0) {
      return cannot("no pipe is left");
    }
    const int log_fd =
        open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (log_fd < 0) return cannot(fmt::format("cannot write {}: {}", log, std::strerror(errno)));
    const pid_t pid = fork();
    if (pid == 0) {
      setsid();  // it outlives this terminal
      const int null = open("/dev/null", O_RDONLY);
      dup2(null, 0);
      dup2(log_fd, 1);
      dup2(log_fd, 2);
      const int told = fcntl(go[0], F_DUPFD, 10);  // out of the way of 3
      dup2(ready[1], 3);
      dup2(told, 4);
      closefrom(5);
      char byte = 0;
      if (read(4, &byte, 1) != 1) _exit(1);
      close(4);
      signal(SIGINT, SIG_DFL);
      signal(SIGTERM, SIG_DFL);
      execl(fabricd.c_str(), "fabricd", "up", file.c_str(), "--name", name.c_str(), "--state-dir",
            dir.c_str(), "--ready-fd", "3", static_cast<char*>(nullptr));
      _exit(127);
    }
    close(ready[1]);
    close(go[0]);
    close(log_fd);
    if (pid < 0) {
      close(ready[0]);
      close(go[1]);
      return cannot(fmt::format("cannot start {}: {}", fabricd, std::strerror(errno)));
    }
    Record record{name, file, look_at(pid).value_or(Process{pid, 0, ""})};
    Status s = write_record(record);
    if (s && write(go[1], "g", 1) != 1) s = cannot("fabricd did not start");
    close(go[1]);
    if (s) s = wait_ready(ready[0], name);
    close(ready[0]);
    if (s) return s;
    kill(pid, SIGTERM);  // still ours: not waited for yet, so its number is nobody else's
    if (!wait_end(pid, 10'000)) kill(pid, SIGKILL);
    if (!s.error().message.empty()) return s;
    return cannot(fmt::format("fabricd ended before it was ready; the last it said:\n{}",
                              last_lines(log, 8)));
  }

  // Lines of fabricd: `progress TEXT`, then `ready` or `error TEXT`. An error without a message:
  // it ended, or went silent.
  static Status wait_ready(int fd, const std::string& name) {
    const bool terminal = isatty(2) != 0;
    std::string buffer;
    auto clear = [&] {
      if (terminal) fmt::print(stderr, "\r\033[K");
    };
    std::string failure;
    for (;;) {
      pollfd p{fd, POLLIN, 0};
      const int n = poll(&p, 1, 120'000);
      if (interrupted != 0) {
        clear();
        return Error{Error::Code::unavailable, "interrupted; nothing is left behind"};
      }
      if (n < 0 && errno == EINTR) continue;
      if (n == 0)
        return Error{Error::Code::unavailable,
                     "fabricd was silent for two minutes; nothing is left behind"};
      char chunk[1024];
      const ssize_t got = read(fd, chunk, sizeof(chunk));
      if (got <= 0) {
        clear();
        return Error{Error::Code::unavailable, failure};
      }
      buffer.append(chunk, static_cast<std::size_t>(got));
      for (std::size_t end; (end = buffer.find('\n')) != buffer.npos; buffer.erase(0, end + 1)) {
        const std::string line = printable(buffer.substr(0, end));
        if (line.rfind("progress ", 0) == 0 && terminal) {
          fmt::print(stderr, "\r\033[K{}", cut(name + ": " + line.substr(9), kWidth - 1));
          fflush(stderr);
        }
        if (line == "ready") {
          clear();
          return {};
        }
        if (line.rfind("error ", 0) == 0) failure += (failure.empty() ? "" : "\n") + line.substr(6);
      }
    }
  }

  static int show(const Global& global, const std::string& name) {
    auto client = open_fabric(name);
    if (!client) return fail(global, client.error());
    const auto info = (*client)->info();
    const auto nodes = (*client)->nodes();
    const auto links = (*client)->links();
    if (!info || !nodes || !links)
      return fail(global, !info ? info.error() : !nodes ? nodes.error() : links.error());
    if (global.json) {
      print_json(status_json(*info, *nodes, *links));
      return kDone;
    }
    fmt::print("{}", picture(*info, *nodes, *links));
    std::string host;
    std::string last;
    for (const auto& n : *nodes) {
      if (n.kind != management::Node::Kind::host) continue;
      if (host.empty()) host = n.name;
      last = n.name;
    }
    std::string tries;
    if (last != host)
      tries = fmt::format("frond exec {} -- ping -c 3 {}     frond trace {} {}     ", host, last,
                          host, last);
    fmt::print("up in {}.  try:  {}frond top\n", duration_text(own_age()), tries);
    return kDone;
  }

  std::string file_;
};

}  // namespace

std::unique_ptr<Command> make_up() { return std::make_unique<Up>(); }

}  // namespace frond::cli
