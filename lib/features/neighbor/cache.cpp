// SPDX-License-Identifier: BSD-3-Clause
#include "features/neighbor/cache.hpp"

#include <cstring>

#include "base/rng.hpp"

namespace frond::neighbor {

Entry*& Cache::bucket(std::uint16_t port, const IpAddress& address) {
  std::uint64_t words[2] = {address.v4_address.value, 0};
  if (address.v6) std::memcpy(words, address.v6_address.bytes.data(), sizeof words);
  const std::uint64_t hash = mix64(mix64(seed_ ^ words[0]) ^ words[1] ^ std::uint64_t{port} << 48);
  return buckets_[hash % kBuckets];
}

Entry* Cache::find(std::uint16_t port, const IpAddress& address) {
  for (Entry* e = bucket(port, address); e != nullptr; e = e->chain_) {
    if (e->port == port && e->address == address) return e;
  }
  return nullptr;
}

Entry* Cache::add(std::uint16_t port, const IpAddress& address, bool resolved) {
  PortCount& count = ports_[port];
  if (size_ >= limits_.total || count.entries >= limits_.per_port) return nullptr;
  if (!resolved && count.unresolved >= limits_.unresolved_per_port) return nullptr;
  Entry* entry = free_;
  if (entry == nullptr) {
    entry = &entries_.emplace_back();
    entry->timer.key = static_cast<std::uint32_t>(entries_.size() - 1);
  } else {
    free_ = entry->chain_;
  }
  entry->address = address;
  entry->port = port;
  entry->state = Reach::incomplete;
  entry->asked = 0;
  entry->mac = {};
  entry->live_ = true;
  Entry*& head = bucket(port, address);
  entry->chain_ = head;
  head = entry;
  ++size_;
  ++count.entries;
  ++count.unresolved;
  return entry;
}

void Cache::set_state(Entry& entry, Reach state) {
  PortCount& count = ports_[entry.port];
  count.unresolved -= resolved(entry.state) ? 0U : 1U;
  count.unresolved += resolved(state) ? 0U : 1U;
  entry.state = state;
  entry.asked = 0;
}

void Cache::remove(Entry& entry) {
  Entry** link = &bucket(entry.port, entry.address);
  while (*link != &entry) link = &(*link)->chain_;
  *link = entry.chain_;
  PortCount& count = ports_[entry.port];
  --size_;
  --count.entries;
  count.unresolved -= resolved(entry.state) ? 0U : 1U;
  entry.live_ = false;
  entry.chain_ = free_;
  free_ = &entry;
}

}  // namespace frond::neighbor
