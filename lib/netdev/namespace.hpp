// SPDX-License-Identifier: BSD-3-Clause
// Network namespaces: handles, named ones as `ip netns` makes them, and work inside one.
#pragma once

#include <sys/types.h>

#include <compare>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace frond::netdev {

// A handle to a network namespace, which lives at least as long. Move only.
class Namespace {
 public:
  static Namespace current();  // the calling thread's
  static Result<Namespace> open_path(const std::string& path);
  // What a user writes: a path (has a /), a process id, or a name in /run/netns; "": current().
  static Result<Namespace> open(const std::string& spec);

  Namespace(Namespace&& other) noexcept;
  Namespace& operator=(Namespace&& other) noexcept;
  ~Namespace();

  int fd() const { return fd_; }
  const std::string& name() const { return name_; }  // for messages

  // Which namespace it is; equal for two handles to the same one.
  struct Identity {
    dev_t device;
    ino_t inode;
    auto operator<=>(const Identity&) const = default;
  };
  Identity identity() const;

  // Runs f on a thread that has entered the namespace, and waits for it. What f opens (sockets, tap
  // devices) stays in the namespace and may be used from any thread.
  Status run(const std::function<Status()>& f) const;

  // /proc/sys below `net`, as a dotted name: set("net.ipv6.conf.all.accept_dad", "0").
  Status set_sysctl(const std::string& name, const std::string& value) const;
  Result<std::string> get_sysctl(const std::string& name) const;

  // Processes that are in it.
  std::vector<pid_t> processes() const;

 private:
  Namespace(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
  int fd_ = -1;
  std::string name_;
};

// Where named namespaces are kept: a file each, on which the namespace is mounted, so that
// `ip netns exec NAME` finds those of /run/netns.
class NamespaceDirectory {
 public:
  explicit NamespaceDirectory(std::string path = "/run/netns") : path_(std::move(path)) {}

  Result<Namespace> create(const std::string& name);
  Result<Namespace> open(const std::string& name) const;
  // Takes the name away; the namespace goes with its last process and handle. Removing what is not
  // there is no error.
  Status remove(const std::string& name);
  std::vector<std::string> list(const std::string& prefix = "") const;  // sorted
  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  Status prepare();
  std::string path_;
};

}  // namespace frond::netdev
