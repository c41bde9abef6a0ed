// SPDX-License-Identifier: BSD-3-Clause
#include "cli/netns.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace frond::cli {
namespace {

Error failed(std::string_view what, const std::string& path) {
  const bool denied = errno == EPERM || errno == EACCES;
  return {denied ? Error::Code::permission_denied : Error::Code::unavailable,
          fmt::format("cannot {} {}: {}{}", what, path, std::strerror(errno),
                      denied ? "; run as root" : "")};
}

}  // namespace

std::string netns_path(const std::string& name) { return "/run/netns/" + name; }

Status enter_netns(const std::string& where, const std::string& hosts) {
  const std::string path = where.find('/') == where.npos ? netns_path(where) : where;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return failed("open the namespace", path);
  const int entered = setns(fd, CLONE_NEWNET);
  const int saved = errno;
  close(fd);
  errno = saved;
  if (entered != 0) return failed("enter the namespace", path);
  // Mounts of our own from here on; / is a slave, so that nothing of it gets out.
  if (unshare(CLONE_NEWNS) != 0) return failed("have mounts apart from", "the system's");
  if (mount("", "/", "none", MS_SLAVE | MS_REC, nullptr) != 0)
    return failed("detach the mounts of", "/");
  // sysfs shows the interfaces of the namespace in which it was mounted. A read-only one stays so.
  unsigned long flags = 0;
  if (struct statvfs fs{}; statvfs("/sys", &fs) == 0 && (fs.f_flag & ST_RDONLY) != 0)
    flags = MS_RDONLY;
  (void)umount2("/sys", MNT_DETACH);
  if (mount("sysfs", "/sys", "sysfs", flags, nullptr) != 0 && errno != EPERM && errno != EBUSY) {
    return failed("mount", "/sys");
  }
  if (!hosts.empty() && access(hosts.c_str(), R_OK) == 0 &&
      mount(hosts.c_str(), "/etc/hosts", "none", MS_BIND, nullptr) != 0) {
    return failed("bind", "/etc/hosts");
  }
  // ip-netns(8): /etc/netns/NAME/resolv.conf is what programs see as /etc/resolv.conf.
  const std::filesystem::path files =
      "/etc/netns/" + std::filesystem::path(path).filename().string();
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(files, ignored)) {
    const std::string to = "/etc/" + entry.path().filename().string();
    if (mount(entry.path().c_str(), to.c_str(), "none", MS_BIND, nullptr) != 0)
      return failed("bind", to);
  }
  return {};
}

}  // namespace frond::cli
