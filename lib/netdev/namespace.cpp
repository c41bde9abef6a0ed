// SPDX-License-Identifier: BSD-3-Clause
#include "netdev/namespace.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>

namespace frond::netdev {
namespace {

Error::Code code_of(int error) {
  switch (error) {
    case ENOENT:
      return Error::Code::not_found;
    case EEXIST:
      return Error::Code::already_exists;
    case EPERM:
    case EACCES:
      return Error::Code::permission_denied;
    case EINVAL:
      return Error::Code::invalid_argument;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOSPC:
      return Error::Code::resource_exhausted;
    default:
      return Error::Code::internal;
  }
}

Error system_error(const std::string& what, int error) {
  std::string text = what + ": " + std::strerror(error);
  if (error == EPERM || error == EACCES)
    text += "; run it as root, or in a user namespace of your own";
  return {code_of(error), std::move(text)};
}

}  // namespace

Namespace Namespace::current() {
  const int fd = ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    throw StartError(std::string("cannot open this thread's network namespace: ") +
                     std::strerror(errno));
  return {fd, "this namespace"};
}

Result<Namespace> Namespace::open_path(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    if (errno == ENOENT) {
      return Error{Error::Code::not_found,
                   "there is no network namespace '" + path + "'; `ip netns` lists them"};
    }
    return system_error("network namespace '" + path + "'", errno);
  }
  return Namespace(fd, path);
}

Result<Namespace> Namespace::open(const std::string& spec) {
  if (spec.empty()) return current();
  if (spec.find('/') != std::string::npos) return open_path(spec);
  const bool number =
      std::all_of(spec.begin(), spec.end(), [](unsigned char c) { return std::isdigit(c); });
  if (number && !std::filesystem::exists("/run/netns/" + spec))
    return open_path("/proc/" + spec + "/ns/net");
  return open_path("/run/netns/" + spec);
}

Namespace::Namespace(Namespace&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), name_(std::move(other.name_)) {}

Namespace& Namespace::operator=(Namespace&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(name_, other.name_);
  return *this;
}

Namespace::~Namespace() {
  if (fd_ >= 0) close(fd_);
}

Namespace::Identity Namespace::identity() const {
  struct stat s {};
  fstat(fd_, &s);
  return {s.st_dev, s.st_ino};
}

Status Namespace::run(const std::function<Status()>& f) const {
  Status status;
  std::exception_ptr thrown;
  std::thread thread([&] {
    if (setns(fd_, CLONE_NEWNET) != 0) {
      status = system_error("cannot enter network namespace '" + name_ + "'", errno);
      return;
    }
    try {
      status = f();
    } catch (...) {
      thrown = std::current_exception();
    }
  });
  thread.join();
  if (thrown) std::rethrow_exception(thrown);
  return status;
}

namespace {
std::string sysctl_path(std::string name) {
  std::replace(name.begin(), name.end(), '.', '/');
  return "/proc/sys/" + name;
}
}  // namespace

Status Namespace::set_sysctl(const std::string& name, const std::string& value) const {
  return run([&]() -> Status {
    const int fd = ::open(sysctl_path(name).c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return system_error("sysctl " + name, errno);
    const ssize_t n = write(fd, value.data(), value.size());
    const int error = errno;
    close(fd);
    if (n != static_cast<ssize_t>(value.size()))
      return system_error("sysctl " + name + " = " + value, error);
    return {};
  });
}

Result<std::string> Namespace::get_sysctl(const std::string& name) const {
  std::string value;
  const Status status = run([&]() -> Status {
    std::ifstream in(sysctl_path(name));
    if (!std::getline(in, value))
      return Error{Error::Code::not_found, "there is no sysctl " + name};
    return {};
  });
  if (!status.ok()) return status.error();
  return value;
}

std::vector<pid_t> Namespace::processes() const {
  std::vector<pid_t> found;
  const Identity me = identity();
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string pid = entry.path().filename();
    if (!std::all_of(pid.begin(), pid.end(), [](unsigned char c) { return std::isdigit(c); }))
      continue;
    struct stat s {};
    if (stat((entry.path() / "ns/net").c_str(), &s) != 0) continue;  // gone, or not ours to see
    if (Identity{s.st_dev, s.st_ino} == me) found.push_back(static_cast<pid_t>(std::stol(pid)));
  }
  std::sort(found.begin(), found.end());
  return found;
}

// As `ip netns add` does it: the directory is a mount of its own and shared, so that a name that is
// removed here also goes in the mount namespaces of others.
Status NamespaceDirectory::prepare() {
  std::error_code failed;
  std::filesystem::create_directories(path_, failed);
  if (failed) return system_error("cannot make " + path_, failed.value());
  if (mount("", path_.c_str(), "none", MS_SHARED | MS_REC, nullptr) == 0) return {};
  if (errno != EINVAL) return system_error("cannot share the mounts of " + path_, errno);
  if (mount(path_.c_str(), path_.c_str(), "none", MS_BIND | MS_REC, nullptr) != 0) {
    return system_error("cannot mount " + path_, errno);
  }
  if (mount("", path_.c_str(), "none", MS_SHARED | MS_REC, nullptr) != 0) {
    return system_error("cannot share the mounts of " + path_, errno);
  }
  return {};
}

Result<Namespace> NamespaceDirectory::create(const std::string& name) {
  if (name.empty() || name.size() > 200 || name[0] == '.' || name.find('/') != std::string::npos) {
    return Error{Error::Code::invalid_argument,
                 "'" + name + "' is no name for a network namespace"};
  }
  if (Status s = prepare(); !s.ok()) return s.error();
  const std::string file = path(name);
  const int fd = ::open(file.c_str(), O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
  if (fd < 0) {
    if (errno == EEXIST) {
      return Error{Error::Code::already_exists, "network namespace '" + name +
                                                    "' exists already; `ip netns del " + name +
                                                    "` removes it"};
    }
    return system_error("cannot make " + file, errno);
  }
  close(fd);
  Status status;
  std::thread([&] {
    if (unshare(CLONE_NEWNET) != 0) {
      status = system_error("cannot make a network namespace", errno);
    } else if (mount("/proc/thread-self/ns/net", file.c_str(), "none", MS_BIND, nullptr) != 0) {
      status = system_error("cannot mount network namespace '" + name + "'", errno);
    }
  }).join();
  if (!status.ok()) {
    unlink(file.c_str());
    return status.error();
  }
  return open(name);
}

Result<Namespace> NamespaceDirectory::open(const std::string& name) const {
  return Namespace::open_path(path(name));
}

Status NamespaceDirectory::remove(const std::string& name) {
  const std::string file = path(name);
  // A name that is mounted twice (a crash between two steps) must go altogether.
  while (umount2(file.c_str(), MNT_DETACH) == 0) {
  }
  if (errno == EPERM) return system_error("cannot remove network namespace '" + name + "'", EPERM);
  if (unlink(file.c_str()) != 0 && errno != ENOENT) {
    return system_error("cannot remove network namespace '" + name + "'", errno);
  }
  return {};
}

std::vector<std::string> NamespaceDirectory::list(const std::string& prefix) const {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(path_, none)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(prefix)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace frond::netdev
