// SPDX-License-Identifier: BSD-3-Clause
#include "engine/worker.hpp"

#include <pthread.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <future>

#include <rte_lcore.h>
#include <rte_pause.h>

#include "base/result.hpp"

namespace frond {

Worker::Worker(Config config, const Clock& clock, PacketPool& pool)
    : config_(std::move(config)), clock_(clock), pool_(pool) {}

Worker::~Worker() { stop(); }

void Worker::add(Device& device) { devices_.push_back(&device); }
void Worker::remove(Device& device) { std::erase(devices_, &device); }

void Worker::start() {
  std::promise<Status> started;
  thread_ = std::thread([this, &started] {
    pthread_setname_np(pthread_self(), config_.name.substr(0, 15).c_str());
    if (config_.cpu) {
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(*config_.cpu, &set);
      if (pthread_setaffinity_np(pthread_self(), sizeof set, &set) != 0) {
        started.set_value(Error{Error::Code::invalid_argument,
                                "cannot pin to CPU " + std::to_string(*config_.cpu)});
        return;
      }
    }
    // An lcore id of its own gives the thread a mempool cache.
    if (rte_thread_register() != 0) {
      started.set_value(Error{Error::Code::resource_exhausted, "no lcore id is left for a worker"});
      return;
    }
    started.set_value({});
    run();
    rte_thread_unregister();
  });
  const Status status = started.get_future().get();
  if (!status.ok()) {
    thread_.join();
    throw StartError(config_.name + ": " + status.error().message);
  }
}

void Worker::stop() {
  if (!thread_.joinable()) return;
  stop_.store(true, std::memory_order_release);
  thread_.join();
  stop_.store(false, std::memory_order_relaxed);
}

void Worker::call(std::function<void()> f) {
  if (!thread_.joinable()) return f();
  std::promise<void> done;
  inbox_.post([&] {
    f();
    done.set_value();
  });
  done.get_future().wait();
}

void Worker::run() {
  unsigned quiet = 0;
  while (!stop_.load(std::memory_order_acquire)) {
    inbox_.run();
    const Time start = clock_.now();
    Time next = Time::max();
    unsigned work = 0;
    for (Device* device : devices_) {
      device->poll_all();
      Context ctx{start, device->rng(), pool_};
      next = std::min(next, device->step(ctx));
      work += ctx.work;
    }
    ++rounds_;
    if (work > 0) {
      busy_ns_.add(static_cast<std::uint64_t>((clock_.now() - start).ns()));
      quiet = 0;
    } else if (config_.idle == IdlePolicy::adaptive) {
      idle(++quiet, next);
    }
  }
  inbox_.run();
}

void Worker::idle(unsigned quiet_rounds, Time next) {
  constexpr unsigned kSpinRounds = 100;
  constexpr std::int64_t kShortest = 5'000, kLongest = 200'000;  // ns
  if (quiet_rounds < kSpinRounds) {
    rte_pause();
    return;
  }
  std::int64_t ns = std::min<std::int64_t>(kShortest * (1 + quiet_rounds / kSpinRounds), kLongest);
  if (next != Time::max()) ns = std::min(ns, (next - clock_.now()).ns());
  if (ns <= 0) return;
  const timespec duration{0, ns};
  nanosleep(&duration, nullptr);
}

}  // namespace frond
