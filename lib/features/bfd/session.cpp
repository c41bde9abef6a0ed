// SPDX-License-Identifier: BSD-3-Clause
#include "features/bfd/session.hpp"

#include <algorithm>

namespace frond::bfd {

std::string_view name(State state) {
  switch (state) {
    case State::admin_down:
      return "admin_down";
    case State::down:
      return "down";
    case State::init:
      return "init";
    case State::up:
      return "up";
  }
  return "?";
}

std::string_view name(Diagnostic diagnostic) {
  switch (diagnostic) {
    case Diagnostic::none:
      return "none";
    case Diagnostic::detection_time_expired:
      return "detection_time_expired";
    case Diagnostic::neighbor_signaled_down:
      return "neighbor_signaled_down";
    case Diagnostic::path_down:
      return "path_down";
    case Diagnostic::administratively_down:
      return "administratively_down";
  }
  return "other";  // a peer may send any of 32
}

void Session::start(std::uint32_t discriminator, Time now) {
  const bool admin_down = state_ == State::admin_down;
  *this = Session(timing_);
  discriminator_ = discriminator;
  last_heard_ = now;
  if (admin_down) set_admin(true);
}

bool Session::receive(const Control& heard, Time now) {
  // 6.8.6: a session that is administratively down discards what it hears.
  if (state_ == State::admin_down) return false;
  remote_discriminator_ = heard.my_discriminator;
  remote_state_ = heard.state;
  remote_min_rx_us_ = heard.required_min_rx_us;
  remote_desired_tx_us_ = heard.desired_min_tx_us;
  remote_multiplier_ = heard.multiplier;
  last_heard_ = now;
  if (heard.final) polling_ = false;
  return next_state(heard.state);
}

// The table of 6.2, as 6.8.6 spells it.
bool Session::next_state(State heard) {
  const State before = state_;
  if (heard == State::admin_down) {
    if (state_ != State::down) enter(State::down, Diagnostic::neighbor_signaled_down);
  } else if (state_ == State::down) {
    if (heard == State::down) enter(State::init, diagnostic_);
    if (heard == State::init) enter(State::up, Diagnostic::none);
  } else if (state_ == State::init) {
    if (heard != State::down) enter(State::up, Diagnostic::none);
  } else if (heard == State::down) {
    enter(State::down, Diagnostic::neighbor_signaled_down);
  }
  return state_ != before;
}

void Session::enter(State state, Diagnostic diagnostic) {
  // 6.8.3: the transmit interval changes with the state, and a changed interval is polled.
  polling_ = state == State::up;
  state_ = state;
  diagnostic_ = diagnostic;
}

bool Session::expire() {
  // 6.8.1: the discriminator is forgotten after a detection time without a packet, so that a
  // neighbour that has started anew is heard again.
  remote_discriminator_ = 0;
  remote_state_ = State::down;
  remote_min_rx_us_ = 1;
  if (state_ != State::init && state_ != State::up) return false;
  enter(State::down, Diagnostic::detection_time_expired);
  return true;
}

void Session::set_down(Diagnostic diagnostic) {
  expire();
  if (state_ == State::admin_down) return;
  enter(State::down, diagnostic);
}

void Session::set_admin(bool down) {
  if (down == (state_ == State::admin_down)) return;
  expire();
  enter(down ? State::admin_down : State::down,
        down ? Diagnostic::administratively_down : Diagnostic::none);
}

Control Session::control(bool final) const {
  return {.state = state_,
          .diagnostic = diagnostic_,
          // 6.5: never both in one packet.
          .poll = polling_ && !final,
          .final = final,
          .multiplier = timing_.multiplier,
          .my_discriminator = discriminator_,
          .your_discriminator = remote_discriminator_,
          .desired_min_tx_us = static_cast<std::uint32_t>(desired_min_tx() / Time::us(1)),
          .required_min_rx_us = static_cast<std::uint32_t>(timing_.interval / Time::us(1))};
}

Time Session::tx_interval() const {
  return std::max(desired_min_tx(), Time::us(remote_min_rx_us_));
}

Time Session::jittered(Rng& rng) const {
  // In 1/10000 of the interval.
  const std::uint64_t least = timing_.multiplier == 1 ? 1000 : 0;
  const auto less = static_cast<std::int64_t>(least + rng.below(2501 - least));
  const Time interval = tx_interval();
  return interval - Time::ns(interval.ns() / 10000 * less);
}

Time Session::rx_interval() const {
  return std::max(timing_.interval, Time::us(remote_desired_tx_us_));
}

Time Session::detection_time() const {
  if (remote_discriminator_ == 0) return Time::max();
  return rx_interval() * remote_multiplier_;
}

}  // namespace frond::bfd
