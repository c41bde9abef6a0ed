// SPDX-License-Identifier: BSD-3-Clause
#include "control/management/unix_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

namespace frond::management {
namespace {

Error failed(Error::Code code, std::string_view what, const std::string& path) {
  return {code, fmt::format("cannot {} {}: {}", what, path, std::strerror(errno))};
}

Result<sockaddr_un> address(const std::string& path) {
  sockaddr_un a{};
  a.sun_family = AF_UNIX;
  if (path.empty() || path[0] == 0 || path.size() >= sizeof(a.sun_path)) {
    return Error{
        Error::Code::invalid_argument,
        fmt::format("socket path '{}' must have 1 to {} characters; set FROND_RUN_DIR to a "
                    "shorter directory",
                    path, sizeof(a.sun_path) - 1)};
  }
  std::memcpy(a.sun_path, path.data(), path.size());
  return a;
}

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() {
    if (fd_ >= 0) close(fd_);
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

Status check_directory(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string dir = slash == path.npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  struct stat st {};
  if (stat(dir.c_str(), &st) != 0) return failed(Error::Code::not_found, "use directory", dir);
  if (st.st_uid != geteuid() && st.st_uid != 0) {
    return Error{
        Error::Code::permission_denied,
        fmt::format("directory {} belongs to uid {}: whoever owns it could replace the socket", dir,
                    st.st_uid)};
  }
  if ((st.st_mode & S_IWOTH) != 0 && (st.st_mode & S_ISVTX) == 0) {
    return Error{Error::Code::permission_denied,
                 fmt::format("directory {} is writable by everybody; chmod o-w it", dir)};
  }
  return {};
}

// What is at the path now?
Status check_free(const std::string& path) {
  struct stat st {};
  if (lstat(path.c_str(), &st) != 0) {
    if (errno == ENOENT) return {};
    return failed(Error::Code::unavailable, "look at", path);
  }
  if (!S_ISSOCK(st.st_mode)) {
    return Error{Error::Code::already_exists,
                 fmt::format("{} exists and is not a socket; remove it if it is not needed", path)};
  }
  if (st.st_uid != geteuid()) {
    return Error{Error::Code::permission_denied,
                 fmt::format("{} is a socket of uid {}, not ours", path, st.st_uid)};
  }
  auto fd = connect_unix(path);
  if (fd) {
    close(*fd);
    return Error{Error::Code::already_exists,
                 fmt::format("another process serves {}; end it first or use another name", path)};
  }
  return {};
}

}  // namespace

Result<int> listen_unix(const std::string& path, std::optional<gid_t> group) {
  if (auto a = address(path); !a) return a.error();
  if (auto s = check_directory(path); !s) return s.error();
  if (auto s = check_free(path); !s) return s.error();
  // Bound under another name and moved into place: nobody sees it with a wrong mode, and a stale
  // one is replaced in one step.
  const std::string temporary = fmt::format("{}.{}", path, getpid());
  auto a = address(temporary);
  if (!a) return a.error();
  Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) return failed(Error::Code::resource_exhausted, "make a socket for", path);
  unlink(temporary.c_str());
  // On Linux bind() makes the file with the mode of the descriptor (and the umask).
  fchmod(fd.get(), 0600);
  if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&*a), sizeof(*a)) != 0) {
    return failed(Error::Code::permission_denied, "bind", path);
  }
  const bool ready = chmod(temporary.c_str(), 0600) == 0 &&
                     (!group || (chown(temporary.c_str(), static_cast<uid_t>(-1), *group) == 0 &&
                                 chmod(temporary.c_str(), 0660) == 0)) &&
                     listen(fd.get(), 64) == 0 && rename(temporary.c_str(), path.c_str()) == 0;
  if (!ready) {
    Error error = failed(Error::Code::permission_denied, "listen at", path);
    unlink(temporary.c_str());
    return error;
  }
  return fd.release();
}

void remove_unix(const std::string& path, int fd) {
  // It is ours exactly when connecting to it reaches this process.
  auto probe = connect_unix(path);
  if (!probe) return;
  const Fd connected(*probe);
  const auto peer = peer_credentials(connected.get());
  if (peer && peer->pid == getpid() && fd >= 0) unlink(path.c_str());
}

std::optional<PeerCredentials> peer_credentials(int fd) {
  ucred cred{};
  socklen_t size = sizeof(cred);
  if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) != 0 || size != sizeof(cred)) return {};
  return PeerCredentials{cred.pid, cred.uid, cred.gid};
}

bool peer_in_group(int fd, const PeerCredentials& peer, gid_t group) {
  if (peer.gid == group) return true;
  std::vector<gid_t> groups(65536 / sizeof(gid_t));
  auto size = static_cast<socklen_t>(groups.size() * sizeof(gid_t));
  if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size) != 0) return false;
  groups.resize(size / sizeof(gid_t));
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

Result<int> connect_unix(const std::string& path) {
  auto a = address(path);
  if (!a) return a.error();
  Fd fd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (fd.get() < 0) return failed(Error::Code::resource_exhausted, "make a socket for", path);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&*a), sizeof(*a)) != 0) {
    switch (errno) {
      case ENOENT:
        return failed(Error::Code::not_found, "connect to", path);
      case EACCES:
      case EPERM:
        return failed(Error::Code::permission_denied, "connect to", path);
      default:
        return failed(Error::Code::unavailable, "connect to", path);
    }
  }
  return fd.release();
}

}  // namespace frond::management
