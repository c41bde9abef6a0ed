// SPDX-License-Identifier: BSD-3-Clause
#include "netdev/ready_set.hpp"

#include <sys/epoll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/result.hpp"

namespace frond::netdev {

ReadySet::ReadySet() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (epoll_ < 0)
    throw StartError(std::string("cannot make an epoll set: ") + std::strerror(errno));
}

ReadySet::~ReadySet() { close(epoll_); }

void ReadySet::add(int fd, bool* ready) {
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.ptr = ready}};
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) {
    throw StartError(std::string("cannot watch a descriptor: ") + std::strerror(errno));
  }
  *ready = true;
  ++members_;
}

void ReadySet::remove(int fd) {
  if (epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr) == 0) --members_;
}

void ReadySet::poll(Time now) {
  if (now == asked_) return;
  asked_ = now;
  epoll_event events[128];
  for (;;) {
    const int n = epoll_wait(epoll_, events, 128, 0);
    for (int i = 0; i < n; ++i) *static_cast<bool*>(events[i].data.ptr) = true;
    if (n < 128) return;
  }
}

}  // namespace frond::netdev
