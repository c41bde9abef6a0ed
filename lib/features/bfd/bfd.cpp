// SPDX-License-Identifier: BSD-3-Clause
#include "features/bfd/bfd.hpp"

#include <algorithm>
#include <utility>

#include "features/own_packet.hpp"
#include "wire/bfd.hpp"
#include "wire/transport.hpp"

namespace frond::bfd {

const std::array<DropInfo, Bfd::kDropCount> Bfd::kDrops{{
    {"bfd_malformed",
     "a control packet that RFC 5880 6.8.6 discards: version, length, zero fields"},
    {"bfd_checksum", "a control packet with a wrong UDP checksum"},
    {"bfd_ttl", "a control packet that is not from this link: TTL below 255 (RFC 5881 5)"},
    {"bfd_authentication", "a control packet with authentication, which is not in use"},
    {"bfd_no_session", "a control packet that belongs to no session of this port"},
    {"bfd_no_buffer", "no packet left in the pool for a control packet of our own"},
}};

struct Bfd::Slot {
  Slot(const Peer& p, const Config& config)
      : peer(p),
        mac(p.mac),
        session({.interval = config.interval,
                 .initial_interval = std::max(config.initial_interval, config.interval),
                 .multiplier = static_cast<std::uint8_t>(config.multiplier)}),
        tx(std::uint32_t{p.port} * kTimers + kTx),
        detect(std::uint32_t{p.port} * kTimers + kDetect),
        establish(std::uint32_t{p.port} * kTimers + kEstablish) {}

  enum Key : std::uint8_t { kTx, kDetect, kEstablish, kTimers };

  Peer peer;
  std::optional<MacAddress> mac;  // configured, or heard
  Session session;
  bool running = false;
  bool starting = false;     // start at the next timers(), when there is a context
  std::optional<bool> told;  // what the callback was last told
  Time sent_at;
  Time interval;  // that the tx timer was drawn from
  TimerWheel::Timer tx, detect, establish;
  std::uint64_t sent = 0, received = 0, downs = 0;
};

Bfd::Bfd(const Config& config, unsigned ports, const l3::Router& router,
         neighbor::Neighbors& neighbors, Callback callback)
    : config_(config),
      router_(router),
      neighbors_(neighbors),
      callback_(std::move(callback)),
      slots_(ports),
      drops_(ports, kDrops) {}

Bfd::~Bfd() = default;

// --- Sessions ---

void Bfd::add(const Peer& peer, bool port_up) {
  remove(peer.port);
  slots_[peer.port] = std::make_unique<Slot>(peer, config_);
  Slot& slot = *slots_[peer.port];
  slot.starting = port_up;
  if (port_up) wheel_.arm(slot.establish, Time());
}

void Bfd::remove(std::uint16_t port) {
  if (slots_[port] == nullptr) return;
  stop(*slots_[port]);
  slots_[port].reset();
}

void Bfd::start(Context& ctx, Slot& slot) {
  slot.running = true;
  slot.starting = false;
  // RFC 5880 6.8.1: unique on this system (the port), and hard to guess (the rest).
  const auto random = static_cast<std::uint32_t>(ctx.rng.below(0xffff) + 1);
  slot.session.start(random << 16 | slot.peer.port, ctx.now);
  slot.told.reset();
  wheel_.arm(slot.establish, ctx.now + config_.establish_time);
  send(ctx, slot, false);
}

void Bfd::stop(Slot& slot) {
  slot.running = false;
  slot.starting = false;
  for (TimerWheel::Timer* timer : {&slot.tx, &slot.detect, &slot.establish}) {
    wheel_.cancel(*timer);
  }
}

void Bfd::port_changed(Context& ctx, std::uint16_t port, bool up) {
  if (slots_[port] == nullptr) return;
  Slot& slot = *slots_[port];
  // That the port went down may be what we have said ourselves: then the session goes on.
  if (!up && slot.told != false) {
    slot.session.set_down(Diagnostic::path_down);
    stop(slot);
  } else if (up && !slot.running) {
    start(ctx, slot);
  }
}

void Bfd::set_admin_down(Context& ctx, std::uint16_t port, bool down) {
  if (slots_[port] == nullptr) return;
  Slot& slot = *slots_[port];
  slot.session.set_admin(down);
  if (!slot.running) return;
  // 6.8.16: the periodic packets go on and repeat it.
  wheel_.cancel(slot.detect);
  if (down) {
    wheel_.cancel(slot.establish);
  } else {
    wheel_.arm(slot.establish, ctx.now + config_.establish_time);
  }
  send(ctx, slot, false);
}

std::optional<Bfd::Status> Bfd::status(std::uint16_t port) const {
  if (slots_[port] == nullptr) return std::nullopt;
  const Slot& slot = *slots_[port];
  const Session& s = slot.session;
  return Status{slot.peer.address,  s.state(), s.remote_state(), s.diagnostic(), s.tx_interval(),
                s.detection_time(), slot.sent, slot.received,    slot.downs};
}

void Bfd::report(Context& ctx, Slot& slot, bool up, Diagnostic diagnostic) {
  if (slot.told == up) return;
  slot.told = up;
  slot.downs += up ? 0 : 1;
  callback_(ctx, {.port = slot.peer.port,
                  .up = up,
                  .at = ctx.now,
                  .mechanism = kName,
                  .detection = up ? Time() : ctx.now - slot.session.last_heard(),
                  .diagnostic = diagnostic});
}

// --- What is heard ---

namespace {

struct Parsed {
  Control control;
  bool authenticated;
};

// RFC 5880 6.8.6, the checks that need no session. `bytes`: the UDP payload.
std::optional<Parsed> parse(const wire::BfdControl& wire, std::uint32_t bytes) {
  const std::uint8_t flags = wire.state_flags;
  const bool authenticated = (flags & wire::BfdControl::kAuthentication) != 0;
  const unsigned least = authenticated ? 26 : 24;
  if (wire.version_diagnostic >> 5 != wire::BfdControl::kVersion || wire.length < least ||
      wire.length > bytes || wire.multiplier == 0 || (flags & wire::BfdControl::kMultipoint) != 0 ||
      wire.my_discriminator.host() == 0) {
    return std::nullopt;
  }
  const auto state = static_cast<State>(flags >> 6);
  const std::uint32_t yours = wire.your_discriminator.host();
  if (yours == 0 && state != State::down && state != State::admin_down) return std::nullopt;
  return Parsed{{.state = state,
                 .diagnostic = static_cast<Diagnostic>(wire.version_diagnostic & 0x1f),
                 .poll = (flags & wire::BfdControl::kPoll) != 0,
                 .final = (flags & wire::BfdControl::kFinal) != 0,
                 .demand = (flags & wire::BfdControl::kDemand) != 0,
                 .multiplier = wire.multiplier,
                 .my_discriminator = wire.my_discriminator.host(),
                 .your_discriminator = yours,
                 .desired_min_tx_us = wire.desired_min_tx_us.host(),
                 .required_min_rx_us = wire.required_min_rx_us.host()},
                authenticated};
}

std::uint8_t hops(const Packet& packet) {
  const PacketMeta& meta = packet.meta();
  if (meta.ether_type == wire::kTypeIpv6) return packet.at<wire::Ipv6>(meta.l3).hop_limit;
  return packet.at<wire::Ipv4>(meta.l3).ttl;
}

}  // namespace

void Bfd::receive(Context& ctx, Packet* packet) {
  const PacketMeta& meta = packet->meta();
  const std::uint32_t length = transport_bytes(*packet);
  constexpr std::uint32_t kLeast = sizeof(wire::Udp) + sizeof(wire::BfdControl);
  if (length < kLeast || (meta.flags & PacketMeta::kFragment) != 0 ||
      packet->head_length() < meta.l4 + kLeast) {
    return drops_.drop(ctx, packet, bfd_malformed);
  }
  if (hops(*packet) != wire::kBfdTtl) return drops_.drop(ctx, packet, bfd_ttl);
  const auto& udp = packet->at<wire::Udp>(meta.l4);
  const std::uint32_t udp_length = udp.length.host();
  if (udp_length < kLeast || udp_length > length) return drops_.drop(ctx, packet, bfd_malformed);
  if (udp.checksum.raw() != 0 || meta.ether_type == wire::kTypeIpv6) {
    const wire::Sum sum = pseudo_sum_of(*packet, wire::kProtoUdp, udp_length);
    if (udp.checksum.raw() == 0 ||
        wire::fold(sum_packet(*packet, meta.l4, udp_length, sum)) != 0xffff) {
      return drops_.drop(ctx, packet, bfd_checksum);
    }
  }
  const auto parsed = parse(packet->at<wire::BfdControl>(meta.l4 + sizeof(wire::Udp)),
                            udp_length - static_cast<std::uint32_t>(sizeof(wire::Udp)));
  if (!parsed) return drops_.drop(ctx, packet, bfd_malformed);
  if (parsed->authenticated) return drops_.drop(ctx, packet, bfd_authentication);
  Slot* slot = find(*packet, parsed->control);
  if (slot == nullptr) return drops_.drop(ctx, packet, bfd_no_session);
  // From this link, as its TTL proves: so its frame tells where the neighbour is.
  const MacAddress& from = packet->at<wire::Ethernet>(0).src;
  if (!slot->peer.mac && !from.is_group()) slot->mac = from;
  packet->free();
  heard(ctx, *slot, parsed->control);
}

// RFC 5881 3 and RFC 5880 6.3: by port, and both addresses and the discriminator must fit.
Bfd::Slot* Bfd::find(const Packet& packet, const Control& control) {
  const std::uint16_t port = packet.meta().ingress;
  if (port >= slots_.size() || slots_[port] == nullptr) return nullptr;
  Slot& slot = *slots_[port];
  const bool fits = slot.running && ip_source(packet) == slot.peer.address &&
                    ip_destination(packet) == slot.peer.local &&
                    (control.your_discriminator == 0 ||
                     control.your_discriminator == slot.session.discriminator());
  return fits ? &slot : nullptr;
}

void Bfd::heard(Context& ctx, Slot& slot, const Control& control) {
  forgive_gap(ctx.now);
  ++slot.received;
  const State before = slot.session.state();
  const bool changed = slot.session.receive(control, ctx.now);
  if (before == State::admin_down) return;
  // 6.8.7: a poll is answered at once; a change is told at once.
  if (control.poll) {
    send(ctx, slot, true);
  } else if (changed) {
    send(ctx, slot, false);
  }
  if (slot.session.tx_interval() != slot.interval || slot.session.transmits() != slot.tx.armed()) {
    schedule(ctx, slot);
  }
  watch(slot);
  if (!changed) return;
  if (slot.session.state() == State::up) {
    wheel_.cancel(slot.establish);
    report(ctx, slot, true, Diagnostic::none);
  } else if (before == State::up) {
    // RFC 5882 3.2: that BFD was switched off over there does not mean that the path is dead.
    if (control.state != State::admin_down) {
      report(ctx, slot, false, slot.session.diagnostic());
    }
  }
}

void Bfd::watch(Slot& slot) {
  const Time detection = slot.session.detection_time();
  wheel_.arm(slot.detect,
             detection == Time::max() ? Time::max() : slot.session.last_heard() + detection);
}

// --- What is sent ---

void Bfd::schedule(Context& ctx, Slot& slot) {
  if (!slot.session.transmits()) return wheel_.cancel(slot.tx);
  slot.interval = slot.session.tx_interval();
  const Time due = slot.sent_at + slot.session.jittered(ctx.rng);
  wheel_.arm(slot.tx, std::max(due, ctx.now));
}

void Bfd::send(Context& ctx, Slot& slot, bool final) {
  const IpAddress& to = slot.peer.address;
  Packet* packet = make_own(
      ctx.pool, {.src = slot.peer.local, .dst = to, .proto = wire::kProtoUdp, .ttl = wire::kBfdTtl},
      sizeof(wire::Udp) + sizeof(wire::BfdControl));
  if (packet == nullptr) return drops_.count(slot.peer.port, bfd_no_buffer);
  const Control c = slot.session.control(final);
  const std::uint16_t l4 = packet->meta().l4;
  constexpr std::uint16_t kLength = sizeof(wire::Udp) + sizeof(wire::BfdControl);
  packet->at<wire::BfdControl>(l4 + sizeof(wire::Udp)) = {
      .version_diagnostic = static_cast<std::uint8_t>(wire::BfdControl::kVersion << 5 |
                                                      static_cast<unsigned>(c.diagnostic)),
      .state_flags = static_cast<std::uint8_t>(static_cast<unsigned>(c.state) << 6 |
                                               (c.poll ? +wire::BfdControl::kPoll : 0) |
                                               (c.final ? +wire::BfdControl::kFinal : 0)),
      .multiplier = c.multiplier,
      .length = sizeof(wire::BfdControl),
      .my_discriminator = wire::be32(c.my_discriminator),
      .your_discriminator = wire::be32(c.your_discriminator),
      .desired_min_tx_us = wire::be32(c.desired_min_tx_us),
      .required_min_rx_us = wire::be32(c.required_min_rx_us),
      .required_min_echo_rx_us = wire::be32()};  // no echo function
  // RFC 5881 4: a port of its own for each session.
  auto& udp = packet->at<wire::Udp>(l4);
  udp.src_port = wire::be16(static_cast<std::uint16_t>(
      wire::kBfdSourcePorts + slot.peer.port % (65536 - wire::kBfdSourcePorts)));
  udp.dst_port = wire::be16(wire::kBfdPort);
  udp.length = wire::be16(kLength);
  const wire::Sum sum = pseudo_sum_of(*packet, wire::kProtoUdp, kLength);
  udp.checksum = wire::udp_complement(sum_packet(*packet, l4, kLength, sum));
  ++slot.sent;
  if (slot.mac) {
    packet->at<wire::Ethernet>(0) = {*slot.mac, router_.interface(slot.peer.port).mac,
                                     wire::be16(packet->meta().ether_type)};
    ctx.send(packet, slot.peer.port);
  } else {
    neighbors_.send(ctx, packet, slot.peer.port, to);
  }
  // 6.8.7: a final does not move the periodic packets.
  if (final) return;
  slot.sent_at = ctx.now;
  schedule(ctx, slot);
}

// --- Time ---

Time Bfd::timers(Context& ctx) {
  forgive_gap(ctx.now);
  while (TimerWheel::Timer* timer = wheel_.expire(ctx.now)) {
    Slot& slot = *slots_[timer->key / Slot::kTimers];
    switch (timer->key % Slot::kTimers) {
      case Slot::kTx:
        send(ctx, slot, false);
        break;
      case Slot::kDetect: {
        const bool was_up = slot.session.state() == State::up;
        if (slot.session.expire()) send(ctx, slot, false);
        if (was_up) report(ctx, slot, false, Diagnostic::detection_time_expired);
        break;
      }
      default:
        if (slot.starting) {
          start(ctx, slot);
        } else if (slot.session.remote_state() != State::admin_down) {
          report(ctx, slot, false, Diagnostic::detection_time_expired);
        }
    }
  }
  asked_ = std::max(wheel_.next_due(), ctx.now);
  return wheel_.next_due();
}

// A device that was not stepped when it asked to be could not hear: that time does not count as
// silence. Small delays are left alone, or they would add up.
void Bfd::forgive_gap(Time now) {
  if (now <= asked_) return;
  const Time gap = now - asked_;
  asked_ = now;
  for (auto& slot : slots_) {
    if (slot == nullptr) continue;
    const bool long_gap = gap > slot->session.rx_interval() / 2;
    if (long_gap && slot->detect.armed()) wheel_.arm(slot->detect, slot->detect.due() + gap);
    if (long_gap && slot->establish.armed() && slot->running) {
      wheel_.arm(slot->establish, slot->establish.due() + gap);
    }
  }
}

}  // namespace frond::bfd
