// SPDX-License-Identifier: BSD-3-Clause
#include "netdev/link_monitor.hpp"

#include <linux/if.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace frond::netdev {

struct LinkMonitor::Group {
  ~Group() {
    if (fd >= 0) close(fd);
  }
  int fd = -1;
  std::vector<std::shared_ptr<LinkWatch>> watches;
};

LinkMonitor::LinkMonitor()
    : epoll_(epoll_create1(EPOLL_CLOEXEC)), wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
  if (epoll_ < 0 || wake_ < 0 || epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_, &event) != 0) {
    throw StartError(std::string("cannot watch links: ") + std::strerror(errno));
  }
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "link-monitor");
    run();
  });
}

LinkMonitor::~LinkMonitor() {
  const std::uint64_t one = 1;
  (void)!write(wake_, &one, sizeof one);
  thread_.join();
  groups_.clear();
  close(wake_);
  close(epoll_);
}

Result<std::shared_ptr<const LinkWatch>> LinkMonitor::watch(const Namespace& ns,
                                                            const std::string& name,
                                                            std::function<void()> on_change) {
  if (name.empty() || name.size() >= IFNAMSIZ) {
    return Error{Error::Code::invalid_argument,
                 "'" + name + "' is no interface name: 1 to 15 characters, without '/' or spaces"};
  }
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Group>& slot = groups_[ns.identity()];
  if (slot == nullptr) {
    auto group = std::make_unique<Group>();
    const Status opened = ns.run([&]() -> Status {
      group->fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
      sockaddr_nl local{};
      local.nl_family = AF_NETLINK;
      local.nl_groups = RTMGRP_LINK;
      if (group->fd < 0 ||
          bind(group->fd, reinterpret_cast<sockaddr*>(&local), sizeof local) != 0) {
        return Error{Error::Code::internal,
                     "cannot watch the links of " + ns.name() + ": " + std::strerror(errno)};
      }
      return {};
    });
    epoll_event event{.events = EPOLLIN, .data = {.ptr = group.get()}};
    if (!opened.ok() || epoll_ctl(epoll_, EPOLL_CTL_ADD, group->fd, &event) != 0) {
      groups_.erase(ns.identity());
      return opened.ok() ? Error{Error::Code::internal, std::strerror(errno)} : opened.error();
    }
    slot = std::move(group);
  }
  auto watch = std::make_shared<LinkWatch>();
  watch->name_ = name;
  slot->watches.push_back(watch);
  if (Status s = dump(*slot); !s.ok()) {
    slot->watches.pop_back();
    return s.error();
  }
  watch->on_change_ = std::move(on_change);
  return std::shared_ptr<const LinkWatch>(watch);
}

void LinkMonitor::unwatch(const std::shared_ptr<const LinkWatch>& watch) {
  const std::lock_guard lock(mutex_);
  for (auto it = groups_.begin(); it != groups_.end(); ++it) {
    Group& group = *it->second;
    if (std::erase_if(group.watches, [&](const auto& w) { return w == watch; }) == 0) continue;
    if (group.watches.empty()) {
      epoll_ctl(epoll_, EPOLL_CTL_DEL, group.fd, nullptr);
      groups_.erase(it);
    }
    return;
  }
}

void LinkMonitor::run() {
  epoll_event events[32];
  for (;;) {
    const int n = epoll_wait(epoll_, events, 32, -1);
    const std::lock_guard lock(mutex_);
    for (int i = 0; i < n; ++i) {
      if (events[i].data.ptr == nullptr) return;
      for (const auto& [id, group] : groups_) {  // it may have gone meanwhile
        if (group.get() == events[i].data.ptr) read(*group);
      }
    }
  }
}

// All that is there. A receive buffer that overflowed (ENOBUFS) has lost news: ask again.
void LinkMonitor::read(Group& group) {
  alignas(nlmsghdr) char buffer[32768];
  for (;;) {
    const ssize_t n = recv(group.fd, buffer, sizeof buffer, 0);
    if (n < 0 && errno == ENOBUFS) {
      (void)dump(group).ok();
      return;
    }
    if (n <= 0) return;
    auto left = static_cast<std::size_t>(n);
    for (auto* m = reinterpret_cast<const nlmsghdr*>(buffer); NLMSG_OK(m, left);
         m = NLMSG_NEXT(m, left)) {
      handle(group, m);
    }
  }
}

// Asks for all interfaces and reads until the end of the answer. Interfaces that are gone are known
// from their RTM_DELLINK, except after an overflow: so all that the answer doesn't name is gone.
Status LinkMonitor::dump(Group& group) {
  struct {
    nlmsghdr header;
    ifinfomsg info;
  } request{};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = RTM_GETLINK;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.header.nlmsg_seq = 1;
  if (send(group.fd, &request, sizeof request, 0) < 0) {
    return Error{Error::Code::internal,
                 std::string("cannot ask for the links: ") + std::strerror(errno)};
  }
  std::vector<int> seen;
  alignas(nlmsghdr) char buffer[65536];
  for (;;) {
    pollfd p{group.fd, POLLIN, 0};
    if (poll(&p, 1, 1000) <= 0)
      return Error{Error::Code::unavailable, "the kernel did not list its links"};
    const ssize_t n = recv(group.fd, buffer, sizeof buffer, 0);
    if (n < 0 && (errno == ENOBUFS || errno == EAGAIN)) continue;
    if (n <= 0)
      return Error{Error::Code::internal,
                   std::string("cannot list the links: ") + std::strerror(errno)};
    auto left = static_cast<std::size_t>(n);
    for (auto* m = reinterpret_cast<const nlmsghdr*>(buffer); NLMSG_OK(m, left);
         m = NLMSG_NEXT(m, left)) {
      if (m->nlmsg_seq == 1 && m->nlmsg_type == NLMSG_DONE) {
        for (const auto& w : group.watches) {
          if (!w->present() || std::find(seen.begin(), seen.end(), w->index()) != seen.end())
            continue;
          w->index_.store(0, std::memory_order_release);
          w->up_.store(false, std::memory_order_release);
          w->changes_.fetch_add(1, std::memory_order_relaxed);
          if (w->on_change_) w->on_change_();
        }
        return {};
      }
      if (m->nlmsg_type == RTM_NEWLINK) {
        seen.push_back(static_cast<const ifinfomsg*>(NLMSG_DATA(m))->ifi_index);
      }
      handle(group, m);
    }
  }
}

void LinkMonitor::handle(Group& group, const void* message) {
  const auto* m = static_cast<const nlmsghdr*>(message);
  if (m->nlmsg_type != RTM_NEWLINK && m->nlmsg_type != RTM_DELLINK) return;
  if (m->nlmsg_len < NLMSG_LENGTH(sizeof(ifinfomsg))) return;
  const auto* info = static_cast<const ifinfomsg*>(NLMSG_DATA(m));
  if (info->ifi_family != AF_UNSPEC) return;  // of a bridge port: not the link's own
  const char* name = "";
  std::uint32_t mtu = 0;
  auto left = static_cast<unsigned>(m->nlmsg_len - NLMSG_LENGTH(sizeof *info));
  for (const rtattr* a = IFLA_RTA(info); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
    if (a->rta_type == IFLA_IFNAME) name = static_cast<const char*>(RTA_DATA(a));
    if (a->rta_type == IFLA_MTU) std::memcpy(&mtu, RTA_DATA(a), sizeof mtu);
  }
  const bool gone = m->nlmsg_type == RTM_DELLINK;
  const bool up = !gone && (info->ifi_flags & IFF_UP) != 0 && (info->ifi_flags & IFF_LOWER_UP) != 0;
  for (const auto& w : group.watches) {
    const bool named = !gone && w->name_ == name;
    if (!named && w->index() != info->ifi_index) continue;
    // Renamed away or removed: not there any more under this name.
    const int index = named ? info->ifi_index : 0;
    const bool now = named && up;
    w->mtu_.store(mtu, std::memory_order_relaxed);
    if (index == w->index() && now == w->up()) continue;
    w->index_.store(index, std::memory_order_release);
    w->up_.store(now, std::memory_order_release);
    w->changes_.fetch_add(1, std::memory_order_relaxed);
    if (w->on_change_) w->on_change_();
  }
}

}  // namespace frond::netdev
