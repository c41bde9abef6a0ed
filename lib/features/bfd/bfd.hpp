// SPDX-License-Identifier: BSD-3-Clause
// Bfd: the single-hop BFD sessions of one switch (RFC 5880, RFC 5881), one a port at most. It
// tells how long a neighbour has been silent before it was given up.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/fields.hpp"
#include "engine/context.hpp"
#include "engine/timer_wheel.hpp"
#include "features/bfd/session.hpp"
#include "features/l3/router.hpp"
#include "features/neighbor/neighbor.hpp"
#include "features/slow_path.hpp"

namespace frond::bfd {

struct Config {
  Time interval = Time::ms(10);
  std::uint32_t multiplier = 3;
  Time initial_interval = Time::ms(50);
  Time establish_time = Time::s(1);

  template <class F> static void fields(F& f) {
    f("interval", &Config::interval, "",
      "Between packets, as offered to the neighbour; the slower side decides",
      range(Time::us(100), Time::s(60)));
    f("multiplier", &Config::multiplier, "packets",
      "Missed packets in a row after which the neighbour is given up", range(1, 255));
    f("initial_interval", &Config::initial_interval, "",
      "Between packets until the session is up (RFC 5880 6.8.3 has a second, for routers with "
      "thousands of sessions)",
      range(Time::us(100), Time::s(60)));
    f("establish_time", &Config::establish_time, "",
      "How long a port is used without a session, after it has come up, before it counts as dead",
      range(Time::ms(1), Time::s(3600)));
  }
};

struct Event {
  std::uint16_t port;
  bool up;
  Time at;
  std::string_view mechanism;  // "bfd"
  Time detection;              // down: since the last packet that was heard; up: 0
  Diagnostic diagnostic;       // why it went down
};

struct Peer {
  std::uint16_t port = 0;
  IpAddress local;    // of our interface
  IpAddress address;  // the neighbour's, on the same link
  // Unset: resolved like any neighbour's until a packet has been heard from it.
  std::optional<MacAddress> mac;
};

class Bfd {
 public:
  static constexpr std::string_view kName = "bfd";
  enum Drop : std::uint8_t {
    bfd_malformed,
    bfd_checksum,
    bfd_ttl,
    bfd_authentication,
    bfd_no_session,
    bfd_no_buffer,
    kDropCount,
  };
  static const std::array<DropInfo, kDropCount> kDrops;

  // Told of every change, on the owner's thread; of the first state too.
  using Callback = std::function<void(Context&, const Event&)>;

  // The router and the neighbours must outlive this.
  Bfd(const Config& config, unsigned ports, const l3::Router& router,
      neighbor::Neighbors& neighbors, Callback callback);
  ~Bfd();
  Bfd(const Bfd&) = delete;
  Bfd& operator=(const Bfd&) = delete;

  // Replaces the session at that port. port_up: whether the port is up now; else the session
  // starts when port_changed says so.
  void add(const Peer& peer, bool port_up);
  void remove(std::uint16_t port);
  // RFC 5880 6.8.16: tells the neighbour that this silence is meant.
  void set_admin_down(Context& ctx, std::uint16_t port, bool down);

  // A UDP packet to kBfdPort at one of our addresses; parsed: l3 and l4 are set. Owned from here.
  void receive(Context& ctx, Packet* packet);
  void port_changed(Context& ctx, std::uint16_t port, bool up);
  // Does what is due; returns when it next wants to be called. After the packets of the same step.
  Time timers(Context& ctx);

  struct Status {
    IpAddress address;
    State state;
    State remote_state;
    Diagnostic diagnostic;
    Time tx_interval;
    Time detection_time;  // Time::max(): nothing heard yet
    std::uint64_t sent, received, downs;
  };
  std::optional<Status> status(std::uint16_t port) const;  // owner's thread

  // Any thread.
  std::uint64_t drop_count(std::uint16_t port, unsigned index) const {
    return drops_.value(port, index);
  }

 private:
  struct Slot;

  void start(Context& ctx, Slot& slot);
  void stop(Slot& slot);
  Slot* find(const Packet& packet, const Control& control);
  void heard(Context& ctx, Slot& slot, const Control& control);
  void report(Context& ctx, Slot& slot, bool up, Diagnostic diagnostic);
  void send(Context& ctx, Slot& slot, bool final);
  void schedule(Context& ctx, Slot& slot);
  void watch(Slot& slot);
  void forgive_gap(Time now);

  Config config_;
  const l3::Router& router_;
  neighbor::Neighbors& neighbors_;
  Callback callback_;
  TimerWheel wheel_;
  Time asked_ = Time::max();                  // when we wanted to be called
  std::vector<std::unique_ptr<Slot>> slots_;  // by port
  SlowDrops<kDropCount> drops_;
};

}  // namespace frond::bfd
