// SPDX-License-Identifier: BSD-3-Clause
// Sanitizer builds: what a packet doesn't use can't be read. In other builds all of this is empty.
//
// A free packet is poisoned whole, mbuf and metadata included: guarded pools put the poison under
// DPDK's own alloc and free (mempool ops), so drivers' frees count too. An allocated packet is
// open. seal() poisons headroom and tailroom to the byte; a switch seals what it receives and opens
// what it sends, so ports and drivers always see open packets. Who makes a sealed packet longer
// opens it first.
#pragma once

#include "packet/packet.hpp"

#if defined(__SANITIZE_ADDRESS__)
#  define FROND_ASAN 1
#elif defined(__has_feature)
#  if __has_feature(address_sanitizer)
#    define FROND_ASAN 1
#  endif
#endif

#ifdef FROND_ASAN
#  include <sanitizer/asan_interface.h>
#endif

namespace frond::poison {

#ifdef FROND_ASAN
inline constexpr bool kOn = true;

template <class F> void for_each_own_segment(Packet& packet, F&& f) {
  for (rte_mbuf* m = packet.mbuf(); m != nullptr; m = m->next) {
    if (RTE_MBUF_DIRECT(m)) f(m, static_cast<char*>(m->buf_addr), rte_pktmbuf_mtod(m, char*));
  }
}
inline void open(Packet& packet) {
  for_each_own_segment(packet, [](rte_mbuf* m, char* buffer, char*) {
    ASAN_UNPOISON_MEMORY_REGION(buffer, m->buf_len);
  });
}
inline void seal(Packet& packet) {
  for_each_own_segment(packet, [](rte_mbuf* m, char* buffer, char* data) {
    char* end = data + m->data_len;
    ASAN_POISON_MEMORY_REGION(buffer, static_cast<std::size_t>(data - buffer));
    ASAN_POISON_MEMORY_REGION(end, static_cast<std::size_t>(buffer + m->buf_len - end));
    ASAN_UNPOISON_MEMORY_REGION(data, m->data_len);
  });
}
#else
inline constexpr bool kOn = false;
inline void open(Packet&) {}
inline void seal(Packet&) {}
#endif

// The mempool ops of a guarded pool; such pools have no per-core cache, which would bypass them.
inline constexpr const char* kPoolOps = "frond_guarded";
// From now on free packets are poisoned; until disarm(), which must come before the pool is freed.
void arm(rte_mempool* pool);
void disarm(rte_mempool* pool);

}  // namespace frond::poison
