// SPDX-License-Identifier: BSD-3-Clause
#include "packet/poison.hpp"

#include <cstdio>
#include <memory>

#include <rte_common.h>
#include <rte_errno.h>
#include <rte_mempool.h>
#include <rte_ring.h>

namespace frond::poison {

#ifdef FROND_ASAN
namespace {

// A ring of free objects, as DPDK's "ring_mp_mc", that poisons what goes in.
struct Guard {
  rte_ring* ring = nullptr;
  bool armed = false;  // rte_pktmbuf_init clears each mbuf while it is free: not before that
};

Guard& guard(const rte_mempool* pool) { return *static_cast<Guard*>(pool->pool_data); }

int make(rte_mempool* pool) {
  char name[RTE_RING_NAMESIZE];
  const int n = snprintf(name, sizeof name, RTE_MEMPOOL_MZ_FORMAT, pool->name);
  if (n < 0 || n >= static_cast<int>(sizeof name)) return -ENAMETOOLONG;
  auto made = std::make_unique<Guard>();
  made->ring = rte_ring_create(name, rte_align32pow2(pool->size + 1), pool->socket_id, 0);
  if (made->ring == nullptr) return -rte_errno;
  pool->pool_data = made.release();
  return 0;
}

void unmake(rte_mempool* pool) {
  if (pool->pool_data == nullptr) return;  // make() failed
  rte_ring_free(guard(pool).ring);
  delete &guard(pool);
}

int enqueue(rte_mempool* pool, void* const* objects, unsigned n) {
  if (guard(pool).armed) {
    for (unsigned i = 0; i < n; ++i) ASAN_POISON_MEMORY_REGION(objects[i], pool->elt_size);
  }
  return rte_ring_enqueue_bulk(guard(pool).ring, objects, n, nullptr) == 0 ? -ENOBUFS : 0;
}

int dequeue(rte_mempool* pool, void** objects, unsigned n) {
  if (rte_ring_dequeue_bulk(guard(pool).ring, objects, n, nullptr) == 0) return -ENOBUFS;
  for (unsigned i = 0; i < n; ++i) ASAN_UNPOISON_MEMORY_REGION(objects[i], pool->elt_size);
  return 0;
}

unsigned available(const rte_mempool* pool) { return rte_ring_count(guard(pool).ring); }

const rte_mempool_ops kOps = {
    .name = "frond_guarded",  // kPoolOps
    .alloc = make,
    .free = unmake,
    .enqueue = enqueue,
    .dequeue = dequeue,
    .get_count = available,
};

RTE_INIT(register_guarded_pool) { rte_mempool_register_ops(&kOps); }

}  // namespace

void arm(rte_mempool* pool) {
  guard(pool).armed = true;
  rte_mempool_obj_iter(
      pool,
      [](rte_mempool* p, void*, void* o, unsigned) { ASAN_POISON_MEMORY_REGION(o, p->elt_size); },
      nullptr);
}

void disarm(rte_mempool* pool) {
  guard(pool).armed = false;
  rte_mempool_obj_iter(
      pool,
      [](rte_mempool* p, void*, void* o, unsigned) { ASAN_UNPOISON_MEMORY_REGION(o, p->elt_size); },
      nullptr);
}
#else
void arm(rte_mempool*) {}
void disarm(rte_mempool*) {}
#endif

}  // namespace frond::poison
