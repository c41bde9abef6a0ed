// SPDX-License-Identifier: BSD-3-Clause
// LinkMonitor: carrier of network interfaces, as the kernel announces it (rtnetlink, RTMGRP_LINK),
// in whatever namespace they are. One a process: a thread that sleeps until something changes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.hpp"
#include "netdev/namespace.hpp"

namespace frond::netdev {

// What is known of one interface, by its name. Written by the monitor's thread, read by any.
class LinkWatch {
 public:
  bool up() const { return up_.load(std::memory_order_acquire); }  // set up, with carrier
  bool present() const { return index_.load(std::memory_order_acquire) != 0; }
  int index() const { return index_.load(std::memory_order_acquire); }  // 0: not there
  std::uint32_t mtu() const { return mtu_.load(std::memory_order_relaxed); }
  std::uint64_t changes() const { return changes_.load(std::memory_order_relaxed); }

 private:
  friend class LinkMonitor;
  std::string name_;
  std::function<void()> on_change_;
  std::atomic<bool> up_ = false;
  std::atomic<int> index_ = 0;
  std::atomic<std::uint32_t> mtu_ = 0;
  std::atomic<std::uint64_t> changes_ = 0;
};

class LinkMonitor {
 public:
  LinkMonitor();
  ~LinkMonitor();
  LinkMonitor(const LinkMonitor&) = delete;
  LinkMonitor& operator=(const LinkMonitor&) = delete;

  // Its state is right when watch() returns. on_change runs on the monitor's thread and must be
  // short; it is not called any more once unwatch() has returned.
  Result<std::shared_ptr<const LinkWatch>> watch(const Namespace& ns, const std::string& name,
                                                 std::function<void()> on_change = {});
  void unwatch(const std::shared_ptr<const LinkWatch>& watch);

 private:
  struct Group;  // the interfaces of one namespace
  void run();
  void read(Group& group);
  static Status dump(Group& group);
  static void handle(Group& group, const void* message);

  std::mutex mutex_;
  std::map<Namespace::Identity, std::unique_ptr<Group>> groups_;
  int epoll_ = -1;
  int wake_ = -1;
  std::thread thread_;
};

}  // namespace frond::netdev
