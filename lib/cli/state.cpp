// SPDX-License-Identifier: BSD-3-Clause
#include "cli/state.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "cli/netns.hpp"
#include "control/management/client.hpp"
#include "control/management/unix_socket.hpp"

namespace frond::cli {
namespace fs = std::filesystem;
namespace {

std::string slurp(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string boot_id() {
  std::string id = slurp("/proc/sys/kernel/random/boot_id");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

Error failed(std::string_view what, const std::string& path) {
  return {
      errno == EACCES || errno == EPERM ? Error::Code::permission_denied : Error::Code::unavailable,
      fmt::format("cannot {} {}: {}", what, path, std::strerror(errno))};
}

// The processes whose network namespace is one of these, but not our own ancestors: `frond down`
// typed in a host's shell should end after it has done its work.
std::vector<pid_t> processes_in(const std::set<std::pair<dev_t, ino_t>>& namespaces) {
  std::set<pid_t> ours;
  for (pid_t p = getpid(); p > 1;) {
    ours.insert(p);
    const std::string stat_text = slurp(fmt::format("/proc/{}/stat", p));
    const std::size_t close = stat_text.rfind(')');
    if (close == stat_text.npos) break;
    p = static_cast<pid_t>(
        std::strtol(stat_text.c_str() + std::min(close + 4, stat_text.size()), nullptr, 10));
  }
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != name.npos) continue;
    struct stat st {};
    if (stat((entry.path() / "ns/net").c_str(), &st) != 0) continue;
    const auto pid = static_cast<pid_t>(std::strtol(name.c_str(), nullptr, 10));
    if (namespaces.contains({st.st_dev, st.st_ino}) && !ours.contains(pid)) found.push_back(pid);
  }
  return found;
}

unsigned end_processes(const std::vector<std::string>& names) {
  std::set<std::pair<dev_t, ino_t>> ids;
  struct stat own {};
  (void)stat("/proc/self/ns/net", &own);
  for (const std::string& name : names) {
    struct stat st {};
    // A name on which nothing is mounted is a plain file; our own namespace is never a host's.
    if (stat(netns_path(name).c_str(), &st) != 0 || st.st_ino == own.st_ino) continue;
    ids.insert({st.st_dev, st.st_ino});
  }
  if (ids.empty()) return 0;
  const std::vector<pid_t> found = processes_in(ids);
  for (pid_t p : found) kill(p, SIGTERM);
  for (pid_t p : found) {
    if (!wait_end(p, 1000)) kill(p, SIGKILL);
  }
  return static_cast<unsigned>(found.size());
}

Status remove_namespace(const std::string& name) {
  const std::string path = netns_path(name);
  if (umount2(path.c_str(), MNT_DETACH) != 0 && errno != EINVAL && errno != ENOENT) {
    return failed("remove the namespace", path);
  }
  if (unlink(path.c_str()) != 0 && errno != ENOENT) return failed("remove the namespace", path);
  return {};
}

}  // namespace

std::string run_root() {
  if (const char* dir = std::getenv("FROND_RUN_DIR"); dir != nullptr && *dir != 0) return dir;
  if (geteuid() != 0) {
    if (const char* dir = std::getenv("XDG_RUNTIME_DIR"); dir != nullptr && *dir == '/') {
      return std::string(dir) + "/frond";
    }
  }
  return "/run/frond";
}
std::string state_dir(const std::string& name) { return run_root() + "/" + name; }
std::string socket_path(const std::string& name) { return state_dir(name) + "/mgmt.sock"; }

Status check_name(const std::string& name) {
  auto good = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  };
  if (name.empty() || name.size() > 32 || name[0] == '-' ||
      !std::all_of(name.begin(), name.end(), good)) {
    return Error{
        Error::Code::invalid_argument,
        fmt::format("'{}' is no name for a fabric: letters, digits and dashes, at most 32; "
                    "choose one with --name",
                    name)};
  }
  return {};
}

std::optional<Process> look_at(pid_t pid) {
  if (pid <= 0) return {};
  const std::string text = slurp(fmt::format("/proc/{}/stat", pid));
  std::size_t at = text.rfind(')');  // the name may hold anything, also ')'
  if (at == text.npos) return {};
  std::istringstream fields(text.substr(at + 1));
  std::string field;
  std::string state;
  for (int i = 3; i <= 22; ++i) {
    if (!(fields >> field)) return {};
    if (i == 3) state = field;
  }
  if (state == "Z" || state == "X") return {};
  return Process{pid, std::strtoull(field.c_str(), nullptr, 10), boot_id()};
}

bool alive(const Process& process) {
  const auto now = look_at(process.pid);
  return now && now->start_ticks == process.start_ticks && now->boot == process.boot;
}

Time own_age() {
  // Both count from the machine's start (proc(5)).
  const double up = std::strtod(slurp("/proc/uptime").c_str(), nullptr);
  const double per_second = static_cast<double>(sysconf(_SC_CLK_TCK));
  const auto self = look_at(getpid());
  const double age = self ? up - static_cast<double>(self->start_ticks) / per_second : 0;
  return Time::ms(static_cast<std::int64_t>(std::max(age, 0.0) * 1e3));
}

Status write_record(const Record& record) {
  const nlohmann::ordered_json json = {{"schema", "frond.state/1"},
                                       {"name", record.name},
                                       {"config", record.config},
                                       {"pid", record.process.pid},
                                       {"start_ticks", record.process.start_ticks},
                                       {"boot", record.process.boot}};
  const std::string path = state_dir(record.name) + "/fabric.json";
  const std::string temporary = path + ".new";
  const int fd =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return failed("write", path);
  const std::string text = json.dump(2) + "\n";
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(fd);
  if (!written || rename(temporary.c_str(), path.c_str()) != 0) return failed("write", path);
  return {};
}

std::optional<Record> read_record(const std::string& name) {
  const auto json = nlohmann::json::parse(slurp(state_dir(name) + "/fabric.json"), nullptr, false);
  if (!json.is_object() || !json.contains("pid") || !json["pid"].is_number_integer()) return {};
  Record r;
  r.name = name;
  r.config = json.value("config", "");
  r.process.pid = json["pid"].get<pid_t>();
  r.process.start_ticks = json.value("start_ticks", std::uint64_t{0});
  r.process.boot = json.value("boot", "");
  return r;
}

std::optional<Record> ask_record(const std::string& name) {
  const auto fd = management::connect_unix(socket_path(name));
  if (!fd) return {};
  const auto peer = management::peer_credentials(*fd);
  close(*fd);
  const auto process = peer && peer->uid == geteuid() ? look_at(peer->pid) : std::nullopt;
  if (!process) return {};
  return Record{name, "", *process};
}

std::vector<Found> all_fabrics() {
  std::vector<Found> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(run_root(), ignored)) {
    if (!entry.is_directory(ignored)) continue;
    Found f;
    f.name = entry.path().filename();
    f.record = read_record(f.name);
    if (!f.record) f.record = ask_record(f.name);
    f.running = f.record && alive(f.record->process);
    found.push_back(std::move(f));
  }
  std::sort(found.begin(), found.end(),
            [](const Found& a, const Found& b) { return a.name < b.name; });
  return found;
}

std::vector<std::string> recorded_namespaces(const std::string& name) {
  std::vector<std::string> names;
  std::istringstream lines(slurp(state_dir(name) + "/namespaces"));
  for (std::string line; std::getline(lines, line);) {
    // Only names that a fabric of this name gives: the file cannot make us remove anything else.
    const bool ours = line == "frond-" + name || line.rfind(name + "-", 0) == 0;
    if (ours && line.find('/') == line.npos &&
        std::find(names.begin(), names.end(), line) == names.end()) {
      names.push_back(line);
    }
  }
  return names;
}

bool wait_end(pid_t pid, int milliseconds) {
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (fd < 0) return errno == ESRCH;
  pollfd p{fd, POLLIN, 0};
  const int n = poll(&p, 1, milliseconds);
  close(fd);
  return n == 1;
}

Result<Teardown> tear_down(const std::string& name) {
  Teardown done;
  const std::string dir = state_dir(name);
  struct stat st {};
  if (lstat(dir.c_str(), &st) != 0 || !S_ISDIR(st.st_mode)) {
    return Error{Error::Code::not_found, fmt::format("there is no fabric '{}'", name)};
  }
  if (st.st_uid != geteuid()) {
    return Error{
        Error::Code::permission_denied,
        fmt::format("fabric '{}' belongs to uid {}; run frond down as that user", name, st.st_uid)};
  }
  auto record = read_record(name);
  if (!record) record = ask_record(name);
  if (record && alive(record->process)) {
    done.was_running = true;
    // Hosts first: their programs still have a network while they end.
    done.processes = end_processes(recorded_namespaces(name));
    auto client = management::Client::connect(socket_path(name));
    if (!client || !(*client)->shutdown()) kill(record->process.pid, SIGTERM);
    if (!wait_end(record->process.pid, 10'000) && alive(record->process)) {
      kill(record->process.pid, SIGKILL);
      done.killed = true;
      if (!wait_end(record->process.pid, 10'000)) {
        return Error{
            Error::Code::unavailable,
            fmt::format("process {} does not end, not even when killed", record->process.pid)};
      }
    }
  }
  const std::vector<std::string> namespaces = recorded_namespaces(name);
  done.processes += end_processes(namespaces);
  for (const std::string& ns : namespaces) {
    if (access(netns_path(ns).c_str(), F_OK) != 0) continue;
    if (auto s = remove_namespace(ns); !s) return s.error();
    ++done.namespaces;
  }
  std::error_code error;
  fs::remove_all(dir, error);
  if (error)
    return Error{Error::Code::unavailable,
                 fmt::format("cannot remove {}: {}", dir, error.message())};
  return done;
}

Result<Lock> Lock::take() {
  const std::string root = run_root();
  std::error_code error;
  fs::create_directories(root, error);
  if (error) {
    return Error{Error::Code::permission_denied,
                 fmt::format("cannot make {}: {}; run as root, or set FROND_RUN_DIR", root,
                             error.message())};
  }
  const std::string path = root + "/.lock";
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return failed("open", path);
  if (flock(fd, LOCK_EX) != 0) {
    close(fd);
    return failed("lock", path);
  }
  return Lock(fd);
}
Lock::~Lock() {
  if (fd_ >= 0) close(fd_);
}

}  // namespace frond::cli
