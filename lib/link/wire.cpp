// SPDX-License-Identifier: BSD-3-Clause
#include "link/wire.hpp"

#include <utility>

namespace frond::link {

Wire::Wire(std::string name, std::uint64_t seed, const WireConfig& config, Threads threads,
           PacketPool& pool)
    : name_(std::move(name)),
      config_(config),
      threads_(threads),
      ab_(direction_config(), Rng(seed, name_ + " a>b"), pool),
      ba_(direction_config(), Rng(seed, name_ + " b>a"), pool),
      a_(*this, ab_, ba_),
      b_(*this, ba_, ab_) {}

Direction::Config Wire::direction_config() const {
  return {config_.delay, config_.mtu, config_.ring, threads_ == Threads::one};
}

void Wire::set_carrier(Time now, bool up) {
  if (up == this->up()) return;
  if (!up) down_count_.fetch_add(1, std::memory_order_release);
  up_.store(up, std::memory_order_release);
  if (threads_ == Threads::two) return;
  if (!up) {
    ab_.cut(down_count_.load(std::memory_order_relaxed));
    ba_.cut(down_count_.load(std::memory_order_relaxed));
  }
  ab_.tell(now);
  ba_.tell(now);
}

unsigned Wire::End::receive(Time now, Batch& batch) {
  const bool up = wire_->up();
  return in_->receive(now, batch, up, wire_->down_count_.load(std::memory_order_acquire));
}

unsigned Wire::End::transmit(Time now, Batch& batch) {
  const unsigned n = batch.size();
  out_->send(batch, wire_->up());
  return n;
}

}  // namespace frond::link
