// SPDX-License-Identifier: BSD-3-Clause
#define ALLOW_EXPERIMENTAL_API  // DPDK 22.11 calls its hotplug events so; later ones don't
#include "dpdk/removal.hpp"

#include <cerrno>
#include <thread>
#include <utility>

#include <rte_dev.h>

namespace frond::dpdk {
namespace {

void on_event(const char*, rte_dev_event_type type, void* told) {
  if (type == RTE_DEV_EVENT_REMOVE) (*static_cast<std::function<void()>*>(told))();
}

}  // namespace

// Where the kernel tells no events, VFIO's request still comes.
void RemovalWatch::begin() {
  (void)rte_dev_hotplug_handle_enable();
  (void)rte_dev_event_monitor_start();
}

void RemovalWatch::end() {
  (void)rte_dev_event_monitor_stop();
  (void)rte_dev_hotplug_handle_disable();
}

RemovalWatch::RemovalWatch(std::string device, std::function<void()> told)
    : device_(std::move(device)), told_(std::move(told)) {
  (void)rte_dev_event_callback_register(device_.c_str(), on_event, &told_);
}

RemovalWatch::~RemovalWatch() {
  while (rte_dev_event_callback_unregister(device_.c_str(), on_event, &told_) == -EAGAIN)
    std::this_thread::yield();
}

}  // namespace frond::dpdk
