// SPDX-License-Identifier: BSD-3-Clause
#include "packet/pool.hpp"

#include <algorithm>
#include <cstring>

#include <rte_errno.h>
#include <rte_lcore.h>

#include "base/result.hpp"
#include "packet/poison.hpp"

namespace frond {

namespace {

rte_mempool* create(const std::string& name, const PacketPool::Config& config) {
  const auto room = static_cast<std::uint16_t>(config.data_room + RTE_PKTMBUF_HEADROOM);
  if (poison::kOn) {
    return rte_pktmbuf_pool_create_by_ops(name.c_str(), config.packets, 0, sizeof(PacketMeta), room,
                                          SOCKET_ID_ANY, poison::kPoolOps);
  }
  return rte_pktmbuf_pool_create(name.c_str(), config.packets, config.cache, sizeof(PacketMeta),
                                 room, SOCKET_ID_ANY);
}

}  // namespace

PacketPool::PacketPool(const std::string& name, const Config& config)
    : pool_(create(name, config)), data_room_(config.data_room) {
  if (pool_ == nullptr) {
    throw StartError("packet pool '" + name + "' of " + std::to_string(config.packets) + " x " +
                     std::to_string(config.data_room) + " bytes: " + rte_strerror(rte_errno) +
                     "; give the process more memory (EAL -m) or ask for fewer packets");
  }
  poison::arm(pool_);
}

PacketPool::~PacketPool() {
  poison::disarm(pool_);
  rte_mempool_free(pool_);
}

Packet* PacketPool::allocate() {
  rte_mbuf* m = rte_pktmbuf_alloc(pool_);
  if (m == nullptr) return nullptr;
  Packet* p = Packet::from(m);
  p->reset_meta();
  return p;
}

namespace {

// Appends to the chain that starts at `head`; false when the pool is empty.
bool append(rte_mempool* pool, rte_mbuf* head, const std::uint8_t* bytes, std::size_t n) {
  rte_mbuf* tail = rte_pktmbuf_lastseg(head);
  while (n > 0) {
    std::uint16_t room = rte_pktmbuf_tailroom(tail);
    if (room == 0) {
      rte_mbuf* next = rte_pktmbuf_alloc(pool);
      if (next == nullptr) return false;
      next->data_off = 0;
      tail->next = next;
      tail = next;
      ++head->nb_segs;
      room = rte_pktmbuf_tailroom(tail);
    }
    const auto take = static_cast<std::uint16_t>(std::min<std::size_t>(n, room));
    std::memcpy(rte_pktmbuf_mtod_offset(tail, std::uint8_t*, tail->data_len), bytes, take);
    tail->data_len = static_cast<std::uint16_t>(tail->data_len + take);
    head->pkt_len += take;
    bytes += take;
    n -= take;
  }
  return true;
}

}  // namespace

Packet* PacketPool::make(std::span<const std::uint8_t> bytes) {
  Packet* p = allocate();
  if (p == nullptr) return nullptr;
  if (append(pool_, p->mbuf(), bytes.data(), bytes.size())) return p;
  p->free();
  return nullptr;
}

Packet* PacketPool::clone(const Packet& packet) {
  Packet* copy = allocate();
  if (copy == nullptr) return nullptr;
  copy->meta() = packet.meta();
  for (const rte_mbuf* m = packet.mbuf(); m != nullptr; m = m->next) {
    if (!append(pool_, copy->mbuf(), rte_pktmbuf_mtod(m, const std::uint8_t*), m->data_len)) {
      copy->free();
      return nullptr;
    }
  }
  return copy;
}

}  // namespace frond
