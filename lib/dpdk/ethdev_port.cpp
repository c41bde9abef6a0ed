// SPDX-License-Identifier: BSD-3-Clause
#include "dpdk/ethdev_port.hpp"

#include <algorithm>
#include <cstring>

#include <rte_ethdev.h>

#include "base/asymmetric_fence.hpp"
#include "netdev/offload.hpp"

namespace frond::dpdk {
namespace {

constexpr std::array<DropInfo, EthdevPort::kDropCount> kDrops = {{
    {"port_truncated", "frame shorter than an Ethernet header, or cut by the driver's ring"},
    {"port_gso_unsupported",
     "super-frame of the sender's kernel that is not TCP, so its piece size is unknown"},
    {"port_too_long_in", "frame longer than the port's MTU that is no TCP super-frame"},
    {"port_no_buffer", "no packet buffer for what the port received"},
    {"port_elided", "payload of a virtual-time packet cannot leave the process"},
    {"port_gone", "sent while the interface or its peer was not there"},
    {"port_too_long_out", "frame longer than the port's MTU"},
    {"port_not_linear", "no buffer large enough to join a frame's segments for the driver"},
    {"driver_missed", "the driver had no room for a received frame"},
    {"driver_no_buffer", "the driver had no packet buffer for a received frame"},
    {"driver_refused", "the driver could not send a frame that it had accepted"},
    {"kernel_full", "the kernel's receive ring was full"},
}};

constexpr std::uint32_t kEthernet = 14;
constexpr std::uint32_t kTags = 8;  // two VLAN tags don't count against the MTU

// An IP datagram that says it is longer than the frame: a ring that the user made smaller than what
// the kernel hands over has cut it.
bool cut_short(std::span<const std::uint8_t> frame) {
  std::size_t at = 12;
  while (at + 8 < frame.size() && (frame[at] == 0x81 || frame[at] == 0x88) &&
         (frame[at + 1] == 0 || frame[at + 1] == 0xa8)) {
    at += 4;
  }
  if (at + 8 > frame.size()) return true;
  const unsigned type = frame[at] * 256U + frame[at + 1];
  const unsigned v4 = frame[at + 4] * 256U + frame[at + 5],
                 v6 = frame[at + 6] * 256U + frame[at + 7];
  if (type == RTE_ETHER_TYPE_IPV4) return at + 2 + v4 > frame.size();
  return type == RTE_ETHER_TYPE_IPV6 && at + 2 + 40 + v6 > frame.size();
}

}  // namespace

std::span<const DropInfo> EthdevPort::drop_info() const { return kDrops; }

void EthdevPort::drain(Time now, Batch& batch) {
  while (next_ < pending_.size() && !batch.full()) {
    pending_[next_]->meta().time = now;
    batch.push(pending_[next_++]);
  }
  if (next_ == pending_.size()) {
    pending_.clear();
    next_ = 0;
  }
}

inline bool EthdevPort::begin_burst() {
  in_burst_.store(true, std::memory_order_relaxed);
  light_fence();
  if (open_.load(std::memory_order_acquire)) [[likely]]
    return true;
  end_burst();
  return false;
}

unsigned EthdevPort::receive(Time now, Batch& batch) {
  if (!begin_burst()) return 0;
  const unsigned n = on_interface() ? receive_interface(now, batch) : receive_plain(now, batch);
  end_burst();
  return n;
}

// Drivers whose peer is no kernel: frames are what they should be.
unsigned EthdevPort::receive_plain(Time now, Batch& batch) {
  Packet** first = batch.end();
  const std::uint16_t n = rte_eth_rx_burst(port_id_, 0, reinterpret_cast<rte_mbuf**>(first),
                                           static_cast<std::uint16_t>(batch.room()));
  unsigned kept = 0;
  for (unsigned i = 0; i < n; ++i) {
    Packet* p = first[i];
    p->reset_meta();
    p->meta().time = now;
    if (!prepare(p)) continue;
    first[kept++] = p;
  }
  batch.grow(kept);
  return kept;
}

// What a driver may leave beside the frame, and what a pipeline must not meet. Frees what it drops.
inline bool EthdevPort::prepare(Packet*& packet) {
  const rte_mbuf* m = packet->mbuf();
#ifndef NDEBUG
  rte_mbuf_sanity_check(m, 1);
#endif
  const bool plain = (m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) == 0 && m->data_len >= kEthernet;
  return plain || repair(packet);
}

[[gnu::cold]] bool EthdevPort::repair(Packet*& packet) {
  rte_mbuf* m = packet->mbuf();
  if ((m->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0) {
    m->ol_flags &= ~(RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED);
    if (rte_vlan_insert(&m) != 0) {
      ++drops_[no_buffer];
      packet->free();
      return false;
    }
    packet = Packet::from(m);
  }
  if (m->data_len < kEthernet) {
    ++drops_[truncated];
    packet->free();
    return false;
  }
  return true;
}

// Drivers that give us what a kernel's stack sends: its checksums and super-frames are unfinished.
unsigned EthdevPort::receive_interface(Time now, Batch& batch) {
  const unsigned before = batch.size();
  drain(now, batch);
  if (batch.full()) return batch.size() - before;
  rte_mbuf* burst[Batch::kCapacity];
  const std::uint16_t n =
      rte_eth_rx_burst(port_id_, 0, burst, static_cast<std::uint16_t>(batch.room()));
  for (unsigned i = 0; i < n; ++i) {
    Packet* p = Packet::from(burst[i]);
    p->reset_meta();
    if (prepare(p)) take(now, p, batch);
  }
  return batch.size() - before;
}

void EthdevPort::take(Time now, Packet* packet, Batch& batch) {
  std::uint32_t length = packet->length();
  if (length > mtu_ + kEthernet) {
    // Its tags don't count.
    const auto t = netdev::find_transport(packet->head());
    const std::uint32_t tags = t ? t->l3 - kEthernet : 0;
    if (length > mtu_ + kEthernet + std::min(tags, kTags)) {
      take_super_frame(*packet);
      packet->free();
      return drain(now, batch);
    }
  }
  if (packet->mbuf()->nb_segs == 1) {
    netdev::finish_partial_checksum({packet->data(), length});
  }
  if (copy_in_) {
    Packet* copy = pool_.make({packet->data(), length});
    packet->free();
    if (copy == nullptr) {
      ++drops_[no_buffer];
      return;
    }
    packet = copy;
  }
  // Order is kept: nothing passes the pieces of an earlier frame.
  pending_.push_back(packet);
  drain(now, batch);
}

// A TCP super-frame is cut to what the interface's MTU allows; the sender's own piece size is not
// told by these drivers (netdev/packet_port.hpp is told).
void EthdevPort::take_super_frame(Packet& packet) {
  const std::span<const std::uint8_t> frame = packet.head();
  const auto t = netdev::find_transport(frame);
  if (!t && cut_short(frame)) return ++drops_[truncated];
  if (packet.mbuf()->nb_segs != 1 || !t || t->fragment) return ++drops_[too_long_in];
  if (t->protocol != IPPROTO_TCP) return ++drops_[gso_unsupported];
  const std::uint32_t header =
      t->l4 - t->l3 + (t->l4 + 12 < t->end ? (frame[t->l4 + 12] >> 4) * 4U : 0);
  switch (netdev::segment(frame, mtu_ > header ? mtu_ - header : 0, pool_, pending_)) {
    case netdev::Cut::done:
      return;
    case netdev::Cut::no_buffer:
      return ++drops_[no_buffer];
    default:
      return ++drops_[too_long_in];
  }
}

// One segment instead of many, in place or in a buffer of the driver's; nullptr: not possible, and
// the packet is as it was.
Packet* EthdevPort::join(Packet* packet) {
  rte_mbuf* m = packet->mbuf();
  if (!RTE_MBUF_HAS_EXTBUF(m) && rte_pktmbuf_linearize(m) == 0) return packet;
  rte_mbuf* whole = rte_pktmbuf_alloc(own_pool_ ? own_pool_.get() : pool_.raw());
  char* to = whole != nullptr && m->pkt_len <= rte_pktmbuf_tailroom(whole)
                 ? rte_pktmbuf_append(whole, static_cast<std::uint16_t>(m->pkt_len))
                 : nullptr;
  if (to == nullptr) {
    rte_pktmbuf_free(whole);
    return nullptr;
  }
  for (const rte_mbuf* part = m; part != nullptr; to += part->data_len, part = part->next) {
    std::memcpy(to, rte_pktmbuf_mtod(part, const char*), part->data_len);
  }
  Packet::from(whole)->meta() = packet->meta();
  packet->free();
  return Packet::from(whole);
}

unsigned EthdevPort::transmit(Time, Batch& batch) {
  rte_mbuf* burst[Batch::kCapacity];
  unsigned n = 0;
  const bool open = begin_burst();
  const bool there = open && up();
  const unsigned all = batch.size();
  for (unsigned i = 0; i < all; ++i) {
    Packet* p = batch[i];
    unsigned reason = kDropCount;
    if (p->meta().elided != 0) {
      reason = elided;
    } else if (!there) {
      reason = gone;
    } else if (p->length() > mtu_ + kEthernet + kTags) {
      reason = too_long_out;
    } else if (!multi_segments_ && (p->mbuf()->nb_segs > 1 || RTE_MBUF_HAS_EXTBUF(p->mbuf()))) {
      Packet* joined = join(p);
      if (joined == nullptr)
        reason = not_linear;
      else
        p = joined;
    }
    if (reason != kDropCount) [[unlikely]] {
      ++drops_[reason];
      p->free();
      continue;
    }
#ifndef NDEBUG
    rte_mbuf_sanity_check(p->mbuf(), 1);
#endif
    p->mbuf()->ol_flags &= ~(RTE_MBUF_F_TX_OFFLOAD_MASK);
    burst[n++] = p->mbuf();
  }
  unsigned sent = 0;
  if (n > 0) sent = rte_eth_tx_burst(port_id_, 0, burst, static_cast<std::uint16_t>(n));
  if (open) end_burst();
  batch.clear();
  for (unsigned i = sent; i < n; ++i) batch.push(Packet::from(burst[i]));
  return all - batch.size();
}

}  // namespace frond::dpdk
