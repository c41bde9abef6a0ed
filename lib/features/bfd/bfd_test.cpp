// SPDX-License-Identifier: BSD-3-Clause
// Two switches' sessions over a link with a delay, on a virtual clock.
#include "features/bfd/bfd.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <tuple>
#include <utility>

#include "features/slow_path_fixture.hpp"
#include "wire/arp.hpp"
#include "wire/bfd.hpp"
#include "wire/checksum.hpp"
#include "wire/transport.hpp"

namespace frond::bfd {
namespace {

constexpr Time kDelay = Time::us(5);
constexpr std::size_t kBfd4 = 42;  // where the control packet starts, over IPv4

// One end: port 1 of a router, 10.0.1.0 talking to 10.0.1.1, or the other way round.
struct End {
  End(std::uint64_t seed, const char* own, const char* other, bool v6)
      : rng(seed), router({.ports = 2, .seed = seed}), local(ip(own)), remote(ip(other)) {
    const IpPrefix link{local, static_cast<std::uint8_t>(v6 ? 127 : 31)};
    router.set_interface(1, {{{2, 0, 0, 0, 0, static_cast<std::uint8_t>(seed)}}, 1500, {link}});
    router.set_port_up(1, true);
  }
  Rng rng;
  l3::Router router;
  IpAddress local, remote;
  std::vector<Packet*> out;
  std::unique_ptr<neighbor::Neighbors> neighbors;
  std::unique_ptr<Bfd> bfd;
  std::vector<Event> events;
  std::vector<Packet*> arriving;  // with meta().time, in order
  bool hears = true;
  std::uint64_t heard = 0;
  Time stalled_until;
};

class BfdTest : public SlowPathTest {
 protected:
  ~BfdTest() override {
    for (End* end : {a.get(), b.get()}) {
      if (end == nullptr) continue;
      for (Packet* p : end->out) p->free();
      for (Packet* p : end->arriving) p->free();
    }
  }

  void make(Config ca = {}, Config cb = {}, bool v6 = false) {
    now = Time();
    a = std::make_unique<End>(1, v6 ? "fd00:ffff::" : "10.0.1.0", v6 ? "fd00:ffff::1" : "10.0.1.1",
                              v6);
    b = std::make_unique<End>(2, v6 ? "fd00:ffff::1" : "10.0.1.1", v6 ? "fd00:ffff::" : "10.0.1.0",
                              v6);
    start(*a, ca);
    start(*b, cb);
  }
  void start(End& end, const Config& config) {
    end.neighbors = std::make_unique<neighbor::Neighbors>(neighbor::Config{.announcements = 0}, 2,
                                                          1, end.router, nullptr);
    end.bfd = std::make_unique<Bfd>(config, 2, end.router, *end.neighbors,
                                    [&end](Context&, const Event& e) { end.events.push_back(e); });
    Context ctx = context_of(end);
    end.neighbors->port_changed(ctx, 1, true);
    end.bfd->add({1, end.local, end.remote, std::nullopt}, true);
  }
  Context context_of(End& end) {
    Context ctx{now, end.rng, pool};
    ctx.out = &end.out;
    return ctx;
  }

  // What a switch does in a step: first what has arrived, then the timers.
  Time step(End& end, End& other) {
    Context ctx = context_of(end);
    while (!end.arriving.empty() && end.arriving.front()->meta().time <= now) {
      Packet* p = end.arriving.front();
      end.arriving.erase(end.arriving.begin());
      Bytes8 bytes(p->data(), p->data() + p->length());
      p->free();
      Packet* in = packet(1, bytes);
      if (!end.hears) {
        in->free();
      } else if (in->meta().ether_type == wire::kTypeArp) {
        end.neighbors->receive_arp(ctx, in);
      } else if (in->meta().ip_proto == wire::kProtoIcmp6) {
        end.neighbors->receive_nd(ctx, in);
      } else {
        ++end.heard;
        last_heard[&end == a.get()] = now;
        end.bfd->receive(ctx, in);
      }
    }
    Time next = end.neighbors->timers(ctx);
    next = std::min(next, end.bfd->timers(ctx));
    for (Packet* p : std::exchange(end.out, {})) {
      EXPECT_EQ(p->meta().egress, 1);
      p->meta().time = now + kDelay;
      other.arriving.push_back(p);
    }
    return next;
  }

  void run_until(Time end) {
    for (;;) {
      Time next = Time::max();
      for (End* one : {a.get(), b.get()}) {
        End& other = one == a.get() ? *b : *a;
        if (one->stalled_until > now) {
          next = std::min(next, one->stalled_until);
          continue;
        }
        next = std::min(next, step(*one, other));
      }
      for (End* one : {a.get(), b.get()}) {
        if (one->arriving.empty()) continue;
        next = std::min(next, std::max(one->arriving.front()->meta().time, one->stalled_until));
      }
      if (next > end) break;
      now = std::max(now, next);
    }
    now = end;
  }
  State state(End& end) { return end.bfd->status(1)->state; }

  std::unique_ptr<End> a, b;
  Time last_heard[2];  // [1]: by a
};

TEST_F(BfdTest, ComesUpAndSpeedsUp) {
  make();
  run_until(Time::ms(300));
  for (End* end : {a.get(), b.get()}) {
    const auto status = *end->bfd->status(1);
    EXPECT_EQ(status.state, State::up);
    EXPECT_EQ(status.remote_state, State::up);
    EXPECT_EQ(status.tx_interval, Time::ms(10));
    EXPECT_EQ(status.detection_time, Time::ms(30));
    ASSERT_EQ(end->events.size(), 1U);
    EXPECT_TRUE(end->events[0].up);
    EXPECT_EQ(end->events[0].mechanism, "bfd");
  }
  // 75 to 100 % of the interval (RFC 5880 6.8.7).
  const std::uint64_t before = a->heard;
  run_until(Time::ms(10'300));
  EXPECT_GE(a->heard - before, 1000U);
  EXPECT_LE(a->heard - before, 1334U);
  EXPECT_NEAR(static_cast<double>(a->heard - before), 1143, 15);
}

TEST_F(BfdTest, OverIpv6) {
  make({}, {}, true);
  run_until(Time::ms(500));
  EXPECT_EQ(state(*a), State::up);
  EXPECT_EQ(state(*b), State::up);
}

TEST_F(BfdTest, DetectionTimeIsExact) {
  make();
  run_until(Time::ms(500));
  // Both directions die.
  a->hears = b->hears = false;
  run_until(Time::ms(600));
  for (End* end : {a.get(), b.get()}) {
    ASSERT_EQ(end->events.size(), 2U);
    const Event& down = end->events[1];
    EXPECT_FALSE(down.up);
    EXPECT_EQ(down.detection, Time::ms(30));
    EXPECT_EQ(down.diagnostic, Diagnostic::detection_time_expired);
  }
  a->hears = b->hears = true;
  run_until(Time::ms(900));
  EXPECT_TRUE(a->events.back().up);
  EXPECT_TRUE(b->events.back().up);
}

TEST_F(BfdTest, TheSlowerSideDecides) {
  make({.interval = Time::ms(10), .multiplier = 3}, {.interval = Time::ms(40), .multiplier = 5});
  run_until(Time::s(1));
  // a: the multiplier of b times max(what a can take, what b wants to send).
  EXPECT_EQ(a->bfd->status(1)->detection_time, Time::ms(200));
  EXPECT_EQ(b->bfd->status(1)->detection_time, Time::ms(120));
  EXPECT_EQ(a->bfd->status(1)->tx_interval, Time::ms(40)) << "b cannot take more";
  const Time last = last_heard[1];
  a->hears = false;
  run_until(Time::s(2));
  ASSERT_GE(a->events.size(), 2U);
  EXPECT_EQ(a->events[1].detection, Time::ms(200));
  EXPECT_EQ(a->events[1].at, last + Time::ms(200));
}

TEST_F(BfdTest, AOneWayFailureTakesBothDown) {
  make();
  run_until(Time::ms(500));
  const Time last = last_heard[1];
  a->hears = false;
  run_until(Time::ms(600));
  ASSERT_EQ(a->events.size(), 2U);
  EXPECT_EQ(a->events[1].at, last + Time::ms(30));
  ASSERT_EQ(b->events.size(), 2U);
  EXPECT_EQ(b->events[1].at, last + Time::ms(30) + kDelay) << "told at once";
  EXPECT_EQ(b->events[1].diagnostic, Diagnostic::neighbor_signaled_down);
  EXPECT_EQ(state(*a), State::down);
  EXPECT_EQ(state(*b), State::init) << "until a hears again";
}

TEST_F(BfdTest, AStalledSchedulerIsNoSilence) {
  make();
  run_until(Time::ms(500));
  // One side is not stepped: only the other may notice.
  a->stalled_until = now + Time::ms(25);
  run_until(Time::ms(600));
  EXPECT_EQ(a->events.size(), 1U);
  EXPECT_EQ(b->events.size(), 1U);
  // The whole process is not: nobody does, again and again.
  for (int i = 0; i < 20; ++i) {
    a->stalled_until = b->stalled_until = now + Time::ms(100 + 7 * i);
    run_until(now + Time::ms(300));
  }
  EXPECT_EQ(a->events.size(), 1U);
  EXPECT_EQ(b->events.size(), 1U);
  // And afterwards a real failure is still found, in time.
  const Time last = last_heard[1];
  a->hears = false;
  run_until(now + Time::ms(100));
  ASSERT_EQ(a->events.size(), 2U);
  EXPECT_EQ(a->events[1].at, last + Time::ms(30));
}

TEST_F(BfdTest, ANeighbourThatNeverSpeaksIsReportedOnce) {
  make({.establish_time = Time::ms(700)});
  b->hears = false;
  b->bfd->remove(1);
  run_until(Time::s(5));
  ASSERT_EQ(a->events.size(), 1U);
  EXPECT_FALSE(a->events[0].up);
  EXPECT_EQ(a->events[0].at, Time::ms(700));
  EXPECT_EQ(a->events[0].detection, Time::ms(700));
}

TEST_F(BfdTest, PortDownStopsAndUpStartsAnew) {
  make();
  run_until(Time::ms(300));
  Context ctx = context_of(*a);
  a->bfd->port_changed(ctx, 1, false);
  EXPECT_EQ(a->events.size(), 1U) << "carrier has said it already";
  const std::uint64_t sent_before = a->bfd->status(1)->sent;
  run_until(Time::ms(400));
  EXPECT_EQ(a->bfd->status(1)->sent, sent_before);
  EXPECT_FALSE(b->events.back().up);
  Context later = context_of(*a);
  a->bfd->port_changed(later, 1, true);
  run_until(Time::ms(800));
  EXPECT_EQ(state(*a), State::up);
  EXPECT_EQ(state(*b), State::up);
}

TEST_F(BfdTest, APortThatWentDownByOurOwnWordGoesOnTrying) {
  make();
  run_until(Time::ms(300));
  a->hears = b->hears = false;
  run_until(Time::ms(400));
  Context ctx = context_of(*a);
  a->router.set_port_up(1, false);
  a->neighbors->port_changed(ctx, 1, false);
  a->bfd->port_changed(ctx, 1, false);
  a->hears = b->hears = true;
  run_until(Time::ms(800));
  EXPECT_EQ(state(*a), State::up);
  EXPECT_TRUE(a->events.back().up);
}

TEST_F(BfdTest, AdminDownIsNoFailure) {
  make();
  run_until(Time::ms(300));
  Context ctx = context_of(*b);
  b->bfd->set_admin_down(ctx, 1, true);
  run_until(Time::s(3));
  EXPECT_EQ(a->events.size(), 1U) << "RFC 5882 3.2";
  EXPECT_EQ(state(*a), State::down);
  EXPECT_EQ(a->bfd->status(1)->remote_state, State::admin_down);
  Context later = context_of(*b);
  b->bfd->set_admin_down(later, 1, false);
  run_until(Time::s(4));
  EXPECT_EQ(state(*a), State::up);
  EXPECT_EQ(state(*b), State::up);
}

TEST_F(BfdTest, RandomLossDoesNotUpset) {
  make({.multiplier = 5}, {.multiplier = 5});
  run_until(Time::ms(300));
  Rng chance(3);
  for (int i = 0; i < 200; ++i) {
    a->hears = chance.below(4) != 0;
    run_until(now + Time::ms(7));
  }
  a->hears = true;
  run_until(now + Time::ms(500));
  EXPECT_EQ(state(*a), State::up);
  EXPECT_EQ(state(*b), State::up);
}

// --- Forged packets ---

class BfdPacketTest : public SlowPathTest {
 protected:
  BfdPacketTest() {
    neighbors = std::make_unique<neighbor::Neighbors>(neighbor::Config{.announcements = 0}, kPorts,
                                                      1, router, nullptr);
    bfd = std::make_unique<Bfd>(Config{}, kPorts, router, *neighbors,
                                [this](Context&, const Event& e) { events.push_back(e); });
    bfd->add({1, ip("10.0.1.0"), ip("10.0.1.1"), mac("02:00:00:00:00:99")}, true);
    tick();
    first = sent();
  }
  void tick() {
    Context ctx = context();
    bfd->timers(ctx);
  }
  // A good packet in state Down, from the peer.
  static Bytes8 frame(std::uint8_t state = 1, std::uint32_t yours = 0) {
    Bytes8 payload(24);
    header_at<wire::BfdControl>(payload, 0) = {.version_diagnostic = 1 << 5,
                                               .state_flags = static_cast<std::uint8_t>(state << 6),
                                               .multiplier = 3,
                                               .length = 24,
                                               .my_discriminator = wire::be32(77),
                                               .your_discriminator = wire::be32(yours),
                                               .desired_min_tx_us = wire::be32(10000),
                                               .required_min_rx_us = wire::be32(10000),
                                               .required_min_echo_rx_us = wire::be32()};
    return wire::build({.dst_mac = own_mac(1),
                        .src_mac = mac("02:00:00:00:00:99"),
                        .src = ip("10.0.1.1"),
                        .dst = ip("10.0.1.0"),
                        .src_port = 50000,
                        .dst_port = wire::kBfdPort,
                        .ttl = 255,
                        .payload = payload});
  }
  static void fill_checksum(Bytes8& f) {
    auto& udp = header_at<wire::Udp>(f, 34);
    const std::uint32_t length = udp.length.host();
    udp.checksum = wire::be16();
    udp.checksum = wire::udp_complement(
        wire::sum_bytes(f.data() + 34, length,
                        wire::pseudo_sum(header_at<wire::Ipv4>(f, 14), wire::kProtoUdp, length)));
  }
  void receive(const Bytes8& f, std::uint16_t port = 1) {
    Context ctx = context();
    bfd->receive(ctx, packet(port, f));
  }
  std::uint64_t drops(Bfd::Drop drop, std::uint16_t port = 1) {
    return bfd->drop_count(port, drop);
  }

  std::unique_ptr<neighbor::Neighbors> neighbors;
  std::unique_ptr<Bfd> bfd;
  std::vector<Event> events;
  std::vector<Sent> first;
};

TEST_F(BfdPacketTest, WhatItSends) {
  ASSERT_EQ(first.size(), 1U);
  const Sent& s = first[0];
  EXPECT_EQ(s.port, 1);
  EXPECT_EQ(s.bytes.size(), 66U);
  EXPECT_EQ(s.at<wire::Ethernet>(0).dst, mac("02:00:00:00:00:99"));
  EXPECT_EQ(s.at<wire::Ethernet>(0).src, own_mac(1));
  EXPECT_EQ(s.at<wire::Ipv4>(14).ttl, 255);
  EXPECT_TRUE(wire::header_valid(s.at<wire::Ipv4>(14)));
  EXPECT_EQ(s.at<wire::Udp>(34).dst_port.host(), 3784);
  EXPECT_GE(s.at<wire::Udp>(34).src_port.host(), 49152);
  EXPECT_EQ(wire::fold(wire::sum_bytes(s.bytes.data() + 34, 32,
                                       wire::pseudo_sum(s.at<wire::Ipv4>(14), 17, 32))),
            0xffff);
  const auto& c = s.at<wire::BfdControl>(kBfd4);
  EXPECT_EQ(c.version_diagnostic, 0x20);
  EXPECT_EQ(c.state_flags, 0x40) << "down";
  EXPECT_EQ(c.multiplier, 3);
  EXPECT_NE(c.my_discriminator.host(), 0U);
  EXPECT_EQ(c.your_discriminator.host(), 0U);
  EXPECT_EQ(c.desired_min_tx_us.host(), 50000U);
  EXPECT_EQ(c.required_min_rx_us.host(), 10000U);
}

TEST_F(BfdPacketTest, HandshakeAnswersAtOnceAndFinalAnswersAPoll) {
  const std::uint32_t ours = first[0].at<wire::BfdControl>(kBfd4).my_discriminator.host();
  receive(frame(1));
  auto frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].at<wire::BfdControl>(kBfd4).state_flags >> 6, 2) << "init";
  EXPECT_EQ(frames[0].at<wire::BfdControl>(kBfd4).your_discriminator.host(), 77U);
  Bytes8 poll = frame(3, ours);
  poll[kBfd4 + 1] |= wire::BfdControl::kPoll;
  fill_checksum(poll);
  receive(poll);
  frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].at<wire::BfdControl>(kBfd4).state_flags, 3 << 6 | wire::BfdControl::kFinal);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_TRUE(events[0].up);
  // Ours is polled too, until the final comes.
  now += Time::ms(10);
  tick();
  frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].at<wire::BfdControl>(kBfd4).state_flags, 3 << 6 | wire::BfdControl::kPoll);
  Bytes8 final = frame(3, ours);
  final[kBfd4 + 1] |= wire::BfdControl::kFinal;
  fill_checksum(final);
  receive(final);
  now += Time::ms(10);
  tick();
  frames = sent();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].at<wire::BfdControl>(kBfd4).state_flags, 3 << 6);
}

TEST_F(BfdPacketTest, ANeighbourThatCanTakeNothingGetsNothing) {
  receive(frame(1));
  sent();
  Bytes8 quiet = frame(1);
  header_at<wire::BfdControl>(quiet, kBfd4).required_min_rx_us = wire::be32(0);
  header_at<wire::BfdControl>(quiet, kBfd4).desired_min_tx_us = wire::be32(1'000'000);
  fill_checksum(quiet);
  receive(quiet);
  sent();
  now += Time::ms(140);  // within the detection time
  tick();
  EXPECT_TRUE(sent().empty()) << "RFC 5880 6.8.7";
}

TEST_F(BfdPacketTest, HostilePacketsAreNamed) {
  const auto with = [](std::size_t at, std::uint8_t value) {
    Bytes8 f = frame();
    f[at] = value;
    fill_checksum(f);
    return f;
  };
  std::uint64_t malformed = 0;
  for (const auto& [at, value, what] : std::vector<std::tuple<std::size_t, unsigned, const char*>>{
           {kBfd4, 0x00, "version 0"},
           {kBfd4, 0x40, "version 2"},
           {kBfd4 + 1, 0x41, "multipoint"},
           {kBfd4 + 1, 0x80, "init without your discriminator"},
           {kBfd4 + 1, 0xc0, "up without your discriminator"},
           {kBfd4 + 2, 0, "multiplier 0"},
           {kBfd4 + 3, 23, "length too short"},
           {kBfd4 + 3, 25, "length beyond the datagram"},
           {kBfd4 + 3, 255, "length beyond the datagram"},
           {kBfd4 + 7, 0, "my discriminator 0"}}) {
    receive(with(at, static_cast<std::uint8_t>(value)));
    EXPECT_EQ(drops(Bfd::bfd_malformed), ++malformed) << what;
  }
  for (std::uint8_t ttl : std::to_array<std::uint8_t>({1, 64, 254})) receive(with(22, ttl));
  EXPECT_EQ(drops(Bfd::bfd_ttl), 3U);
  Bytes8 f = frame();
  f[kBfd4 + 20] ^= 1;
  receive(f);
  EXPECT_EQ(drops(Bfd::bfd_checksum), 1U);
  f = frame();
  header_at<wire::BfdControl>(f, kBfd4).state_flags |= wire::BfdControl::kAuthentication;
  header_at<wire::BfdControl>(f, kBfd4).length = 24;
  fill_checksum(f);
  receive(f);
  EXPECT_EQ(drops(Bfd::bfd_malformed), ++malformed) << "A bit, but no room for it";
  // From elsewhere: another port, another source, another discriminator.
  receive(frame(), 2);
  EXPECT_EQ(drops(Bfd::bfd_no_session, 2), 1U);
  receive(with(29, 9));
  EXPECT_EQ(drops(Bfd::bfd_no_session), 1U);
  receive(frame(3, 12345));
  EXPECT_EQ(drops(Bfd::bfd_no_session), 2U);
  // Shorter than it says, at every length.
  for (std::size_t length = 34; length < 66; ++length) {
    f = frame();
    f.resize(length);
    receive(f);
    EXPECT_EQ(drops(Bfd::bfd_malformed), ++malformed) << length;
  }
  for (std::uint16_t length : std::to_array<std::uint16_t>({0, 7, 8, 31, 33, 65535})) {
    f = frame();
    header_at<wire::Udp>(f, 34).length = wire::be16(length);
    receive(f);
    EXPECT_EQ(drops(Bfd::bfd_malformed), ++malformed) << length;
  }
  EXPECT_TRUE(sent().empty());
  EXPECT_EQ(bfd->status(1)->state, State::down);
  EXPECT_TRUE(events.empty());
  EXPECT_EQ(bfd->status(1)->received, 0U);
}

TEST_F(BfdPacketTest, RandomPacketsNeverLeak) {
  Rng chance(5);
  const std::uint32_t ours = first[0].at<wire::BfdControl>(kBfd4).my_discriminator.host();
  for (int i = 0; i < 20000; ++i) {
    Bytes8 f = frame(static_cast<std::uint8_t>(chance.below(4)), chance.below(2) ? ours : 0);
    for (std::uint64_t flips = chance.below(4); flips > 0; --flips) {
      f[14 + chance.below(52)] = static_cast<std::uint8_t>(chance.next());
    }
    if (f[14] >> 4 != 4 || (f[14] & 15) < 5) continue;  // the parser's
    if (chance.below(4) != 0 && header_at<wire::Udp>(f, 34).length.host() <= 32) fill_checksum(f);
    if (chance.below(10) == 0) f.resize(34 + chance.below(32));
    receive(f, static_cast<std::uint16_t>(chance.below(kPorts)));
    now += Time::us(static_cast<std::int64_t>(chance.below(20000)));
    tick();
    sent();
  }
  EXPECT_GT(bfd->status(1)->received, 1000U);
}

}  // namespace
}  // namespace frond::bfd
