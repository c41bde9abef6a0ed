// SPDX-License-Identifier: BSD-3-Clause
// Command: one word of `frond`, in one file. It declares its options once, with CLI11; help, man
// pages and completion are made from that declaration.
//
// What an argument is, is its type name: NODE:PORT, HOST, NODE, FABRIC, FILE. Completion offers
// values by it.
#pragma once

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace frond::cli {

// What every command has: which fabric, and how to answer.
struct Global {
  std::string fabric;  // --name; "": the only one that runs
  bool json = false;
};

// Exit status: 0 done; 1 refused or failed; 2 cannot read or run; 3 warnings with --strict.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kCannot = 2;

class Command {
 public:
  virtual ~Command() = default;
  // The subcommand; adds itself and its options. Sections of the man page follow in man_text().
  virtual CLI::App* declare(CLI::App& app, Global& global) = 0;
  virtual int run(Global& global) = 0;
};

std::vector<std::unique_ptr<Command>> all_commands();

// The whole application: what main, completion and man pages start from.
class Application {
 public:
  Application();
  CLI::App& app() { return app_; }
  Global& global() { return global_; }
  int run(int argc, const char* const* argv);

 private:
  CLI::App app_;
  Global global_;
  std::vector<std::pair<CLI::App*, std::unique_ptr<Command>>> commands_;
};

// An option that every command with an answer to read has.
void add_json(CLI::App* app, Global& global);
void add_name(CLI::App* app, Global& global);

// Prints the error, in the form that was asked for, and returns kFailed.
int fail(const Global& global, const Error& error);

}  // namespace frond::cli
