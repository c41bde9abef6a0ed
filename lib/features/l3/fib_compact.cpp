// SPDX-License-Identifier: BSD-3-Clause
#include "features/l3/fib_compact.hpp"

#include <algorithm>

namespace frond::l3 {

std::uint32_t TrieV4::add_node(std::uint32_t entry, std::uint8_t length) {
  std::uint32_t first;
  if (free_.empty()) {
    first = static_cast<std::uint32_t>(entries_.size());
    entries_.resize(first + kFanOut);
    lengths_.resize(first + kFanOut);
    prefixes_.push_back(0);
  } else {
    first = free_.back();
    free_.pop_back();
  }
  std::fill_n(entries_.begin() + first, kFanOut, entry);
  std::fill_n(lengths_.begin() + first, kFanOut, length);
  prefixes_[first / kFanOut] = 0;
  return first;
}

void TrieV4::fill(std::uint32_t first, std::uint32_t n, unsigned owner, std::uint32_t entry,
                  std::uint8_t length) {
  for (std::uint32_t i = first; i < first + n; ++i) {
    if ((entries_[i] & kNode) != 0) {
      fill(entries_[i] & ~kNode, kFanOut, owner, entry, length);
    } else if (lengths_[i] <= owner) {
      entries_[i] = entry;
      lengths_[i] = length;
    }
  }
}

void TrieV4::set(std::uint32_t address, unsigned length, NextHop next) {
  const auto length8 = static_cast<std::uint8_t>(length);
  const auto [route, is_new] = routes_.insert_or_assign(Key{address, length8}, next);
  const unsigned last = level_of(length);
  std::uint32_t node = 0;
  prefixes_[0] += is_new;
  for (unsigned level = 0; level < last; ++level) {
    const std::uint32_t at = node + slot(address, level);
    if ((entries_[at] & kNode) == 0) {
      const std::uint32_t child = add_node(entries_[at], lengths_[at]);
      entries_[at] = child | kNode;
    }
    node = entries_[at] & ~kNode;
    prefixes_[node / kFanOut] += is_new;
  }
  const std::uint32_t n = 1U << (8 * (last + 1) - length);
  fill(node + slot(address, last), n, length, next.bits(), length8);
}

bool TrieV4::remove(std::uint32_t address, unsigned length) {
  if (routes_.erase({address, static_cast<std::uint8_t>(length)}) == 0) return false;
  // The longest shorter prefix takes over.
  NextHop cover;
  std::uint8_t cover_length = 0;
  for (unsigned l = length; l-- > 0;) {
    const std::uint32_t masked = l == 0 ? 0 : address & ~std::uint32_t{0} << (32 - l);
    const auto it = routes_.find({masked, static_cast<std::uint8_t>(l)});
    if (it == routes_.end()) continue;
    cover = it->second;
    cover_length = static_cast<std::uint8_t>(l);
    break;
  }
  const unsigned last = level_of(length);
  std::array<std::uint32_t, 4> path{};
  --prefixes_[0];
  for (unsigned level = 0; level < last; ++level) {
    path[level + 1] = entries_[path[level] + slot(address, level)] & ~kNode;
    --prefixes_[path[level + 1] / kFanOut];
  }
  const std::uint32_t n = 1U << (8 * (last + 1) - length);
  fill(path[last] + slot(address, last), n, length, cover.bits(), cover_length);
  // A node in which no prefix ends any more is all the same: its parent can say it.
  for (unsigned level = last; level > 0 && prefixes_[path[level] / kFanOut] == 0; --level) {
    const std::uint32_t at = path[level - 1] + slot(address, level - 1);
    entries_[at] = entries_[path[level]];
    lengths_[at] = lengths_[path[level]];
    free_.push_back(path[level]);
  }
  return true;
}

std::size_t TrieV4::memory() const {
  return entries_.capacity() * sizeof(entries_[0]) + lengths_.capacity() +
         prefixes_.capacity() * sizeof(prefixes_[0]) +
         routes_.size() * (sizeof(std::pair<const Key, NextHop>) + 32);
}

void MapsV6::Level::resize(unsigned bits) {
  std::vector<Slot> old(std::size_t{1} << bits);
  old.swap(slots);
  shift = 64 - bits;
  for (const Slot& slot : old) {
    if (slot.next != kEmpty) *const_cast<Slot*>(find(slot.key)) = slot;
  }
}

std::vector<MapsV6::Level>::iterator MapsV6::find_level(unsigned length) {
  return std::find_if(levels_.begin(), levels_.end(),
                      [&](const Level& l) { return l.length <= length; });
}

void MapsV6::set(const Ip6& address, unsigned length, NextHop next) {
  auto level = find_level(length);
  if (level == levels_.end() || level->length != length) {
    level = levels_.insert(level, Level{});
    level->length = length;
    Ip6 ones;
    ones.bytes.fill(0xff);
    level->mask =
        load(IpPrefix{ones, static_cast<std::uint8_t>(length)}.network().address.v6_address);
    level->resize(3);
  }
  const Key key = load(address) & level->mask;
  Slot* slot = const_cast<Slot*>(level->find(key));
  if (slot->next == kEmpty) {
    if (++level->used * 4 > level->slots.size()) {
      level->resize(64 - level->shift + 1);
      slot = const_cast<Slot*>(level->find(key));
    }
    slot->key = key;
  }
  slot->next = next.bits();
}

bool MapsV6::remove(const Ip6& address, unsigned length) {
  const auto level = find_level(length);
  if (level == levels_.end() || level->length != length) return false;
  Slot* hole = const_cast<Slot*>(level->find(load(address) & level->mask));
  if (hole->next == kEmpty) return false;
  hole->next = kEmpty;
  if (--level->used == 0) {
    levels_.erase(level);
    return true;
  }
  // Those that were pushed past the hole find their place again.
  const auto mask = static_cast<std::uint32_t>(level->slots.size() - 1);
  for (auto i = static_cast<std::uint32_t>(hole - level->slots.data() + 1) & mask;
       level->slots[i].next != kEmpty; i = (i + 1) & mask) {
    const Slot moved = level->slots[i];
    level->slots[i].next = kEmpty;
    *const_cast<Slot*>(level->find(moved.key)) = moved;
  }
  return true;
}

std::size_t MapsV6::memory() const {
  std::size_t bytes = levels_.capacity() * sizeof(Level);
  for (const Level& level : levels_) bytes += level.slots.size() * sizeof(Slot);
  return bytes;
}

}  // namespace frond::l3
