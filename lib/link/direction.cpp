// SPDX-License-Identifier: BSD-3-Clause
#include "link/direction.hpp"

#include <algorithm>
#include <limits>
#include <memory>

#include "engine/serialiser.hpp"

namespace frond::link {

namespace {

constexpr std::uint32_t kEthernetHeader = 14;
constexpr std::uint32_t kTag = 4;

bool has_tag(const Packet& packet, std::uint32_t offset) {
  if (packet.head_length() < offset + 2) return false;
  const std::uint8_t* type = packet.data() + offset;
  // 802.1Q C-tag and S-tag.
  return (type[0] == 0x81 && type[1] == 0x00) || (type[0] == 0x88 && type[1] == 0xa8);
}

}  // namespace

Direction::Direction(const Config& config, Rng rng, PacketPool& pool)
    : delay_(config.delay),
      mtu_(config.mtu),
      rng_(rng),
      pool_(pool),
      ring_(config.one_thread ? 4 : config.ring, config.one_thread),
      held_limit_(config.one_thread ? std::numeric_limits<std::size_t>::max() : config.ring) {}

Direction::~Direction() {
  discard();
  delete pending_.load(std::memory_order_relaxed);
}

// The MTU counts what follows the Ethernet header and up to two VLAN tags.
bool Direction::fits(const Packet& packet) const {
  std::uint32_t room = mtu_ + kEthernetHeader;
  if (packet.frame_length() <= room) [[likely]]
    return true;
  if (!has_tag(packet, 12)) return false;
  room += has_tag(packet, 16) ? 2 * kTag : kTag;
  return packet.frame_length() <= room;
}

void Direction::send(Batch& batch, bool up) {
  if (pending_.load(std::memory_order_relaxed) != nullptr) [[unlikely]] {
    // acquire: pairs with impair(). It is ours now.
    const std::unique_ptr<Impairment> next(pending_.exchange(nullptr, std::memory_order_acquire));
    impairment_ = *next;
    impaired_ = impairment_.any();
  }
  woken_ = Time::min();
  for (Packet* packet : batch) {
    const Time arrival = packet->meta().time + delay_;
    if (!up) [[unlikely]] {
      drop(packet, wire_down);
    } else if (!fits(*packet)) [[unlikely]] {
      drop(packet, wire_mtu);
    } else if (impaired_) [[unlikely]] {
      launch_impaired(packet, arrival);
    } else {
      launch(packet, arrival);
    }
  }
  batch.clear();
  ring_.publish();
}

inline void Direction::launch(Packet* packet, Time arrival) {
  if (arrival < latest_arrival_) {
    overtakings_.store(overtakings_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  } else {
    latest_arrival_ = arrival;
  }
  if (!ring_.push({arrival, packet})) [[unlikely]]
    return drop(packet, wire_full);
  ++counters_.packets;
  counters_.octets.add(std::max(packet->frame_length(), kMinFrame) + kFcsBytes);
  if (waker_ == nullptr || arrival == woken_) return;
  woken_ = arrival;
  waker_->wake(arrival, *device_, port_);
}

void Direction::launch_impaired(Packet* packet, Time arrival) {
  const Impairment& i = impairment_;
  if (i.blackhole) return drop(packet, wire_blackhole);
  if (i.loss.possible() && rng_.chance(i.loss.parts())) return drop(packet, wire_loss);
  Packet* copy = nullptr;
  if (i.duplication.possible() && rng_.chance(i.duplication.parts())) {
    copy = pool_.clone(*packet);
    ++(copy != nullptr ? counters_.duplicated : drops_[wire_no_buffer]);
  }
  if (i.corruption.possible() && rng_.chance(i.corruption.parts())) packet = corrupt(packet);
  arrival = impaired_arrival(arrival);
  if (packet != nullptr) launch(packet, arrival);
  if (copy != nullptr) launch(copy, arrival);
}

Time Direction::impaired_arrival(Time arrival) {
  const Impairment& i = impairment_;
  Time extra = i.delay;
  if (i.reordering.possible() && rng_.chance(i.reordering.parts())) {
    ++counters_.reordered;
    extra += i.reorder_delay;
  }
  if (i.jitter > Time()) {
    const auto range = static_cast<std::uint64_t>(i.jitter.ns()) * 2 + 1;
    extra += Time::ns(static_cast<std::int64_t>(rng_.below(range))) - i.jitter;
  }
  return arrival + std::max(extra, Time());
}

// Flips one bit. Payload that others can see (attached by reference, or shared) is not ours to
// write to: then a copy is corrupted. nullptr when there is no buffer for that.
Packet* Direction::corrupt(Packet* packet) {
  const std::uint64_t bit = rng_.below(std::uint64_t{packet->length()} * 8);
  if (packet->length() == 0) return packet;
  bool ours = true;
  for (const rte_mbuf* m = packet->mbuf(); m != nullptr; m = m->next) {
    ours = ours && RTE_MBUF_DIRECT(m) && rte_mbuf_refcnt_read(m) == 1;
  }
  if (!ours) {
    Packet* copy = pool_.clone(*packet);
    if (copy == nullptr) {
      drop(packet, wire_no_buffer);
      return nullptr;
    }
    packet->free();
    packet = copy;
  }
  std::uint64_t byte = bit / 8;
  rte_mbuf* m = packet->mbuf();
  while (byte >= m->data_len) {
    byte -= m->data_len;
    m = m->next;
  }
  *rte_pktmbuf_mtod_offset(m, std::uint8_t*, byte) ^= static_cast<std::uint8_t>(1U << (bit % 8));
  ++counters_.corrupted;
  return packet;
}

unsigned Direction::receive(Time now, Batch& batch, bool up, std::uint32_t down_count) {
  if (!up || down_count != down_seen_) [[unlikely]] {
    cut(down_count);
    return 0;
  }
  const std::uint64_t overtakings = overtakings_.load(std::memory_order_relaxed);
  if (overtakings == overtakings_seen_) [[likely]]
    return receive_in_order(now, batch);
  const unsigned n = receive_by_arrival(now, batch);
  // Nothing is left in which one packet could overtake another: all that comes later and is early
  // will count again. (front() is read after the count.)
  if (held_.empty() && ring_.front() == nullptr) overtakings_seen_ = overtakings;
  return n;
}

inline unsigned Direction::receive_in_order(Time now, Batch& batch) {
  const unsigned before = batch.size();
  while (!batch.full()) {
    const InFlight* flight = ring_.front();
    if (flight == nullptr || flight->arrival > now) break;
    hand_over(*flight, batch);
    ring_.pop();
  }
  const unsigned n = batch.size() - before;
  if (n != 0) ring_.give_back();
  return n;
}

unsigned Direction::receive_by_arrival(Time now, Batch& batch) {
  while (held_.size() < held_limit_) {
    const InFlight* flight = ring_.front();
    if (flight == nullptr) break;
    held_.push_back({*flight, held_sequence_++});
    std::push_heap(held_.begin(), held_.end());
    ring_.pop();
  }
  ring_.give_back();
  const unsigned before = batch.size();
  while (!batch.full() && !held_.empty() && held_.front().flight.arrival <= now) {
    std::pop_heap(held_.begin(), held_.end());
    hand_over(held_.back().flight, batch);
    held_.pop_back();
  }
  return batch.size() - before;
}

// The receiver starts afresh, but for what is the packet's own.
inline void Direction::hand_over(const InFlight& flight, Batch& batch) {
  PacketMeta& meta = flight.packet->meta();
  PacketMeta fresh;
  fresh.time = flight.arrival;
  fresh.id = meta.id;
  fresh.elided = meta.elided;
  meta = fresh;
  batch.push(flight.packet);
}

void Direction::discard() {
  std::uint64_t n = held_.size();
  for (const Held& held : held_) held.flight.packet->free();
  held_.clear();
  while (const InFlight* flight = ring_.front()) {
    flight->packet->free();
    ring_.pop();
    ++n;
  }
  ring_.give_back();
  if (n != 0) cut_off_.add(n);
}

void Direction::impair(const Impairment& impairment) {
  // release: the sender sees the whole of it. What it has not taken yet is superseded.
  delete pending_.exchange(new Impairment(impairment), std::memory_order_acq_rel);
}

}  // namespace frond::link
