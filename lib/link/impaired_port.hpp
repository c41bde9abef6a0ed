// SPDX-License-Identifier: BSD-3-Clause
// ImpairedPort: a port whose cable can be impaired as a Wire can, in both directions: for what is
// no Wire, such as a host's tap. While nothing is impaired it costs one test a call.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/port.hpp"
#include "engine/serialiser.hpp"
#include "link/direction.hpp"

namespace frond::link {

class ImpairedPort final : public Port {
 public:
  // name and seed: of the two generators. Wall clock only: nobody is woken.
  ImpairedPort(const std::string& name, std::uint64_t seed, std::unique_ptr<Port> inner,
               PacketPool& pool);

  // --- The device's worker ---
  unsigned receive(Time now, Batch& batch) override;
  unsigned transmit(Time now, Batch& batch) override;

  // --- Any thread ---
  bool up() const override { return inner_->up(); }
  std::string why_closed() const override { return inner_->why_closed(); }
  // The inner port's, the wire's of both directions, then what the inner port refused afterwards.
  std::span<const DropInfo> drop_info() const override { return drop_info_; }
  std::uint64_t drops(unsigned index) const override;
  Port& inner() { return *inner_; }

  // --- Control ---
  void impair_out(const Impairment& impairment) { impair(out_, impairment); }
  void impair_in(const Impairment& impairment) { impair(in_, impairment); }
  // What comes in takes its time at this rate; zero: no line of ours.
  void set_in_rate(Rate rate) { in_rate_.store(rate.bps(), std::memory_order_relaxed); }
  const Impairment& out() const { return out_.configured; }
  const Impairment& in() const { return in_.configured; }

 private:
  struct Way {
    Way(Rng rng, PacketPool& pool);
    Direction direction;
    std::atomic<bool> wanted = false;  // control writes
    bool active = false;               // the worker's: through the direction, until it is empty
    Impairment configured;             // control only
    bool through() {
      if (!active && wanted.load(std::memory_order_acquire)) active = true;
      return active;
    }
    void relax() {
      if (!wanted.load(std::memory_order_relaxed) && direction.empty()) active = false;
    }
  };

  static void impair(Way& way, const Impairment& impairment);
  void send_due(Time now);
  void take_in(Time now, Batch& arrived);

  std::unique_ptr<Port> inner_;
  std::vector<DropInfo> drop_info_;
  Way out_, in_;
  Counter refused_;
  std::atomic<std::uint64_t> in_rate_ = 0;  // control writes; bits a second
  // The worker's:
  Serialiser in_line_;
  bool more_waits_ = false;  // the last read was a full batch
};

}  // namespace frond::link
