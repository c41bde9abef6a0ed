// SPDX-License-Identifier: BSD-3-Clause
#include "switch/switch_base.hpp"

#include <algorithm>
#include <cstring>

#include "packet/poison.hpp"

namespace frond {

SwitchBase::SwitchBase(std::string name, std::uint32_t id, std::uint64_t seed,
                       const std::vector<PortConfig>& ports)
    : Device(std::move(name), id, seed),
      ports_(std::make_unique<PortSlot[]>(ports.size())),
      port_count_(static_cast<std::uint16_t>(ports.size())),
      backlog_(static_cast<unsigned>(ports.size())) {
  for (unsigned i = 0; i < port_count_; ++i) {
    ports_[i].name = ports[i].name;
    ports_[i].line.set_rate(ports[i].rate);
    ports_[i].queue.set_limit(ports[i].queue);
    ports_[i].admin.set(ports[i].admin_up);
    ports_[i].alive.set(true);
  }
  ready().resize(port_count());
  attached_.resize(port_count());
}

SwitchBase::~SwitchBase() {
  for (Packet* packet : arrivals_) packet->free();
  for (Packet* packet : out_) packet->free();
}

void SwitchBase::attach(std::uint16_t port, Port* io) {
  ports_[port].io = io;
  ready().set(port);
  io != nullptr ? attached_.set(port) : attached_.clear(port);
}

void SwitchBase::set_admin_up(Context& ctx, std::uint16_t port, bool up) {
  ports_[port].admin.set(up);
  update_oper(ctx, port, "admin", Time());
}

void SwitchBase::set_rate(std::uint16_t port, Rate rate) { ports_[port].line.set_rate(rate); }

void SwitchBase::set_queue_limit(std::uint16_t port, Bytes limit) {
  ports_[port].queue.set_limit(limit);
}

void SwitchBase::set_capture(CaptureSink* sink, PortSet ports) {
  capture_ = sink;
  captured_ = std::move(ports);
}

void SwitchBase::set_alive(Context& ctx, std::uint16_t port, bool alive, Time detection) {
  ports_[port].alive.set(alive);
  update_oper(ctx, port, "bfd", detection);
}

void SwitchBase::update_oper(Context& ctx, std::uint16_t port, std::string_view mechanism,
                             Time detection) {
  PortSlot& slot = ports_[port];
  const bool up = slot.admin.value() != 0 && slot.carrier.value() != 0 && slot.alive.value() != 0;
  if (up == (slot.oper.value() != 0)) return;
  slot.oper.set(up);
  ++slot.counters.carrier_transitions;
  while (!up && !slot.queue.empty()) drop(ctx, slot, slot.queue.pop(), port_down);
  if (!up) backlog_.clear(port);
  slot.depth.set(slot.queue.bytes());
  port_changed(ctx, port, up);
  if (port_event_) port_event_({ctx.now, port, up, mechanism, detection});
}

std::string_view SwitchBase::down_reason(std::uint16_t port) const {
  const PortSlot& slot = ports_[port];
  if (slot.admin.value() == 0) return "admin";
  if (slot.carrier.value() == 0) return "carrier";
  return slot.alive.value() == 0 ? "bfd" : "";
}

void SwitchBase::look_at_carrier(Context& ctx) {
  ready().for_each([&](unsigned port) {
    PortSlot& slot = ports_[port];
    const bool carrier = slot.io != nullptr && slot.io->up();
    if (carrier == (slot.carrier.value() != 0)) return;
    slot.carrier.set(carrier);
    update_oper(ctx, static_cast<std::uint16_t>(port), "carrier", Time());
  });
}

Time SwitchBase::receive(Context& ctx) {
  Time complete = Time::max();
  unsigned from = 0;  // ports that brought something
  ready().for_each([&](unsigned port) {
    PortSlot& slot = ports_[port];
    ready().clear(port);
    if (slot.io == nullptr) return;
    Batch batch;
    const unsigned n = slot.io->receive(ctx.now, batch);
    if (n == 0) return;
    for (Packet* packet : batch) poison::seal(*packet);
    if (slot.admin.value() == 0) [[unlikely]] {
      for (Packet* packet : batch) drop(ctx, slot, packet, port_down);
      return;
    }
    count_in(slot, static_cast<std::uint16_t>(port), batch.begin(), n);
    arrivals_.insert(arrivals_.end(), batch.begin(), batch.end());
    ++from;
    if (batch.full()) {
      // There may be more: what came later from others has to wait for it.
      complete = std::min(complete, batch[n - 1]->meta().time);
      ready().set(port);
    }
  });
  if (from > 1 || (from == 1 && complete != Time::max())) {
    const auto earlier = [](const Packet* a, const Packet* b) {
      return a->meta().time < b->meta().time;
    };
    if (!std::is_sorted(arrivals_.begin(), arrivals_.end(), earlier)) {
      std::stable_sort(arrivals_.begin(), arrivals_.end(), earlier);
    }
  }
  return complete;
}

void SwitchBase::count_in(PortSlot& slot, std::uint16_t index, Packet* const* packets, unsigned n) {
  std::uint64_t octets = 0;
  unsigned group = 0;
  for (unsigned i = 0; i < n; ++i) {
    Packet& packet = *packets[i];
    packet.meta().ingress = index;
    octets += packet.frame_length() + kFcsBytes;
    group |= packet.data()[0];
  }
  slot.counters.in_octets.add(octets);
  slot.counters.in_pkts.add(n);
  if ((group & 1) != 0) [[unlikely]] {
    static constexpr std::uint8_t kBroadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    for (unsigned i = 0; i < n; ++i) {
      const std::uint8_t* data = packets[i]->data();
      if ((data[0] & 1) == 0) continue;
      const bool broadcast = std::memcmp(data, kBroadcast, 6) == 0;
      ++(broadcast ? slot.counters.in_broadcast_pkts : slot.counters.in_multicast_pkts);
    }
  }
  if (capture_ != nullptr && captured_.test(index)) [[unlikely]] {
    for (unsigned i = 0; i < n; ++i) {
      capture_->frame(packets[i]->meta().time, index, CaptureSink::Direction::in, *packets[i], "");
    }
  }
}

void SwitchBase::enqueue(Context& ctx, Batch& batch) {
  for (Packet* packet : batch) push(ctx, packet);
  batch.clear();
}

void SwitchBase::enqueue_own(Context& ctx) {
  for (Packet* packet : out_) push(ctx, packet);
  out_.clear();
}

inline void SwitchBase::push(Context& ctx, Packet* packet) {
  const std::uint16_t port = packet->meta().egress;
  PortSlot& slot = ports_[port];
  if (slot.oper.value() == 0) [[unlikely]] {
    // BFD's own packets must be able to bring the session back.
    const bool probe = (packet->meta().flags & PacketMeta::kControl) != 0 &&
                       slot.carrier.value() != 0 && slot.admin.value() != 0;
    if (!probe) return drop(ctx, slot, packet, port_down);
  }
  if (!slot.queue.push(packet)) [[unlikely]]
    return drop(ctx, slot, packet, queue_tail_drop);
  if (slot.queue.packets() == 1) backlog_.set(port);
}

void SwitchBase::transmit(Context& ctx, Time until) {
  sent_until_ = until;
  backlog_.for_each([&](unsigned port) {
    PortSlot& slot = ports_[port];
    while (!slot.queue.empty() && slot.line.idle(until)) {
      Batch batch;
      std::uint64_t bytes = 0;
      unsigned group = 0;
      // A copy, so that the line's state stays in registers while packets are written.
      Serialiser line = slot.line;
      for (Packet* packet : slot.queue.run()) {
        if (!line.idle(until) || batch.full()) break;
        const std::uint32_t length = packet->frame_length();
        packet->meta().time = line.send(packet->meta().time, until, length);
        bytes += length;
        group |= packet->data()[0];
        batch.push(packet);
      }
      slot.line = line;
      slot.queue.take(batch.size(), bytes);
      flush(ctx, static_cast<std::uint16_t>(port), batch, bytes + batch.size() * kFcsBytes,
            (group & 1) != 0);
    }
    slot.depth.set(slot.queue.bytes());
    slot.lost.set(static_cast<std::uint64_t>(slot.line.lost().ns()));
    if (slot.queue.empty()) backlog_.clear(port);
  });
}

void SwitchBase::flush(Context& ctx, std::uint16_t index, Batch& batch, std::uint64_t octets,
                       bool group) {
  PortSlot& slot = ports_[index];
  if (ctx.hops != nullptr) {
    for (Packet* packet : batch) ctx.hops->record(packet->meta().time, id(), index, *packet, "");
  }
  if (capture_ != nullptr && captured_.test(index)) [[unlikely]] {
    for (Packet* packet : batch) {
      capture_->frame(packet->meta().time, index, CaptureSink::Direction::out, *packet, "");
    }
  }
  count_out(slot, batch, octets, group);
  for (Packet* packet : batch) poison::open(*packet);
  slot.io->transmit(ctx.now, batch);
  for (Packet* packet : batch) drop(ctx, slot, packet, port_tx_full);
  batch.clear();
}

void SwitchBase::count_out(PortSlot& slot, const Batch& batch, std::uint64_t octets, bool group) {
  slot.counters.out_octets.add(octets);
  slot.counters.out_pkts.add(batch.size());
  if (!group) return;
  for (const Packet* packet : batch) {
    const std::uint8_t* data = packet->data();
    if ((data[0] & 1) == 0) continue;
    const bool broadcast = std::all_of(data, data + 6, [](std::uint8_t b) { return b == 0xff; });
    ++(broadcast ? slot.counters.out_broadcast_pkts : slot.counters.out_multicast_pkts);
  }
}

void SwitchBase::drop(Context& ctx, PortSlot& slot, Packet* packet, OwnDrop reason) {
  ++slot.drops[reason];
  ctx.dropped(*packet, kOwnDropInfo[reason].name);
  packet->free();
}

Time SwitchBase::next_departure() const {
  Time next = Time::max();
  backlog_.for_each([&](unsigned port) { next = std::min(next, ports_[port].line.next()); });
  return next;
}

}  // namespace frond
