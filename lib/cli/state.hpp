// SPDX-License-Identifier: BSD-3-Clause
// What runs on this machine: each fabric has a directory, RUN/NAME (0700), with
//   fabric.json   who it is: pid, when that process started, in which boot, from which file
//   mgmt.sock     its management socket
//   namespaces    those it made, one a line, each written before it is made
//   log           what fabricd says
// It is enough to clean up after any crash: nothing else is trusted or guessed.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace frond::cli {

// FROND_RUN_DIR, else /run/frond for root, else $XDG_RUNTIME_DIR/frond.
std::string run_root();
std::string state_dir(const std::string& name);
std::string socket_path(const std::string& name);

// Letters, digits and dashes, at most 32: it becomes part of paths and namespaces.
Status check_name(const std::string& name);

// A process, told apart from a later one with its number.
struct Process {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  // /proc/PID/stat, field 22
  std::string boot;
};
std::optional<Process> look_at(pid_t pid);
bool alive(const Process& process);
Time own_age();  // since this process was started, to a hundredth of a second

struct Record {
  std::string name;
  std::string config;  // absolute path of the file
  Process process;
};
Status write_record(const Record& record);
std::optional<Record> read_record(const std::string& name);
// Of a switchd, which nobody recorded: whoever listens at the socket, if it is ours.
std::optional<Record> ask_record(const std::string& name);

struct Found {
  std::string name;
  std::optional<Record> record;
  bool running = false;
};
std::vector<Found> all_fabrics();  // sorted by name
std::vector<std::string> recorded_namespaces(const std::string& name);

// Ends the fabric if it runs, its hosts' processes, and removes all that it left: namespaces and
// the state directory. What it did, line by line.
struct Teardown {
  bool was_running = false;
  bool killed = false;  // it did not end when it was asked to
  unsigned namespaces = 0;
  unsigned processes = 0;  // of hosts
};
Result<Teardown> tear_down(const std::string& name);

// Takes the machine's lock for changes to RUN; held until destroyed.
class Lock {
 public:
  static Result<Lock> take();
  ~Lock();
  Lock(Lock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  Lock& operator=(Lock&&) = delete;

 private:
  explicit Lock(int fd) : fd_(fd) {}
  int fd_;
};

// Waits for the process to end.
bool wait_end(pid_t pid, int milliseconds);

}  // namespace frond::cli
