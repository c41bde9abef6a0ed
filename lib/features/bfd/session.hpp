// SPDX-License-Identifier: BSD-3-Clause
// Session: the state machine of one asynchronous BFD session (RFC 5880 6.8). It knows no packets
// and no timers: it is told what was heard and when, and says what to send and until when to wait.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/rng.hpp"
#include "base/time.hpp"

namespace frond::bfd {

// RFC 5880 4.1.
enum class State : std::uint8_t { admin_down = 0, down = 1, init = 2, up = 3 };
enum class Diagnostic : std::uint8_t {
  none = 0,
  detection_time_expired = 1,
  neighbor_signaled_down = 3,
  path_down = 5,
  administratively_down = 7,
};
std::string_view name(State state);
std::string_view name(Diagnostic diagnostic);

// The contents of a control packet, in host order.
struct Control {
  State state = State::down;
  Diagnostic diagnostic = Diagnostic::none;
  bool poll = false;
  bool final = false;
  bool demand = false;
  std::uint8_t multiplier = 0;
  std::uint32_t my_discriminator = 0;
  std::uint32_t your_discriminator = 0;
  std::uint32_t desired_min_tx_us = 0;
  std::uint32_t required_min_rx_us = 0;
};

class Session {
 public:
  struct Timing {
    Time interval = Time::ms(10);          // desired min tx and required min rx, once up
    Time initial_interval = Time::ms(50);  // desired min tx until then
    std::uint8_t multiplier = 3;
  };

  explicit Session(const Timing& timing) : timing_(timing) {}

  // From nothing: the port has come up. discriminator: not 0.
  void start(std::uint32_t discriminator, Time now);

  // RFC 5880 6.8.6, from where the session has been found. Returns whether the state changed.
  bool receive(const Control& heard, Time now);
  // The detection time has passed (6.8.4). Returns whether the state changed.
  bool expire();
  // 6.8.16, and a path that is known to be down (6.8.17): the session starts anew.
  void set_down(Diagnostic diagnostic);
  void set_admin(bool down);

  // What a packet sent now must say. A poll is repeated until its final comes.
  Control control(bool final) const;

  // Whether periodic packets are wanted at all (6.8.7). Also while administratively down, so that
  // the neighbour hears of it (6.8.16).
  bool transmits() const { return remote_min_rx_us_ != 0; }
  // The negotiated interval between packets, before jitter.
  Time tx_interval() const;
  // That interval with its jitter: 0 to 25 % less, 10 to 25 % with a multiplier of one (6.8.7).
  Time jittered(Rng& rng) const;
  // The silence after which the neighbour is given up; Time::max() when there is nothing to miss.
  Time detection_time() const;
  // The interval at which packets from the neighbour are expected.
  Time rx_interval() const;

  State state() const { return state_; }
  State remote_state() const { return remote_state_; }
  Diagnostic diagnostic() const { return diagnostic_; }
  std::uint32_t discriminator() const { return discriminator_; }
  std::uint32_t remote_discriminator() const { return remote_discriminator_; }
  // When the last packet was heard; before the first, when the session started.
  Time last_heard() const { return last_heard_; }

 private:
  bool next_state(State heard);
  void enter(State state, Diagnostic diagnostic);
  Time desired_min_tx() const {
    return state_ == State::up ? timing_.interval : timing_.initial_interval;
  }

  Timing timing_;
  std::uint32_t discriminator_ = 0;
  State state_ = State::down;
  State remote_state_ = State::down;
  Diagnostic diagnostic_ = Diagnostic::none;
  bool polling_ = false;
  std::uint8_t remote_multiplier_ = 0;
  std::uint32_t remote_discriminator_ = 0;
  std::uint32_t remote_min_rx_us_ = 1;  // 6.8.1: initially one
  std::uint32_t remote_desired_tx_us_ = 0;
  Time last_heard_;
};

}  // namespace frond::bfd
