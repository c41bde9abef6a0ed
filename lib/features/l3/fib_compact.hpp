// SPDX-License-Identifier: BSD-3-Clause
// The compact FIB. IPv4: a trie of 8 bits a level, so a lookup is one to four loads and no compare.
// IPv6: a hash map per prefix length, longest first; fabrics use three or four lengths.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

#include "base/address.hpp"
#include "features/l3/next_hop.hpp"

namespace frond::l3 {

class TrieV4 {
 public:
  TrieV4() { add_node(NextHop().bits(), 0); }

  NextHop lookup(std::uint32_t address) const {
    std::uint32_t entry = entries_[address >> 24];
    for (unsigned shift = 16; (entry & kNode) != 0; shift -= 8) {
      entry = entries_[(entry & ~kNode) + (address >> shift & 0xff)];
    }
    return NextHop::from_bits(entry);
  }

  void set(std::uint32_t address, unsigned length, NextHop next);
  bool remove(std::uint32_t address, unsigned length);  // false: it wasn't there
  std::size_t memory() const;

 private:
  static constexpr std::uint32_t kNode =
      0x80000000;  // an entry's low bits are a node's first entry
  static constexpr unsigned kFanOut = 256;
  using Key = std::pair<std::uint32_t, std::uint8_t>;  // address, length

  static constexpr unsigned level_of(unsigned length) { return length <= 8 ? 0 : (length - 1) / 8; }
  static constexpr std::uint32_t slot(std::uint32_t address, unsigned level) {
    return address >> (24 - 8 * level) & 0xff;
  }
  std::uint32_t add_node(std::uint32_t entry, std::uint8_t length);
  // Gives what belongs to prefixes no longer than `owner` in these entries and below to `entry`.
  void fill(std::uint32_t first, std::uint32_t n, unsigned owner, std::uint32_t entry,
            std::uint8_t length);

  std::vector<std::uint32_t> entries_;
  std::vector<std::uint8_t> lengths_;    // of the prefix that each entry belongs to
  std::vector<std::uint32_t> prefixes_;  // how many end in this node or below
  std::vector<std::uint32_t> free_;
  std::map<Key, NextHop> routes_;  // what a removed prefix uncovers
};

class MapsV6 {
 public:
  NextHop lookup(const Ip6& address) const {
    const Key key = load(address);
    for (const Level& level : levels_) {
      const Slot* slot = level.find(key & level.mask);
      if (slot->next != kEmpty) return NextHop::from_bits(slot->next);
    }
    return {};
  }

  void set(const Ip6& address, unsigned length, NextHop next);
  bool remove(const Ip6& address, unsigned length);
  std::size_t memory() const;

 private:
  static constexpr std::uint32_t kEmpty = 0xffffffff;  // no NextHop has the highest bit
  struct Key {                                         // as in memory
    std::uint64_t high = 0, low = 0;
    friend bool operator==(const Key&, const Key&) = default;
    friend Key operator&(const Key& a, const Key& b) { return {a.high & b.high, a.low & b.low}; }
  };
  struct Slot {
    Key key;
    std::uint32_t next = kEmpty;
  };
  struct Level {
    unsigned length = 0;
    Key mask;
    unsigned shift = 0;      // 64 - log2 of the slots
    std::uint32_t used = 0;  // at most a quarter of them: a miss is mostly one look
    std::vector<Slot> slots;

    std::uint32_t home(const Key& key) const {
      const auto product = static_cast<unsigned __int128>(key.high ^ 0xa0761d6478bd642fULL) *
                           (key.low ^ 0xe7037ed1a0b428dbULL);
      const auto mixed =
          static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
      return static_cast<std::uint32_t>((mixed * 0x9e3779b97f4a7c15ULL) >> shift);
    }
    // Its slot, or the empty one where it would go.
    const Slot* find(const Key& key) const {
      std::uint32_t i = home(key);
      while (slots[i].next != kEmpty && !(slots[i].key == key)) {
        i = (i + 1) & static_cast<std::uint32_t>(slots.size() - 1);
      }
      return &slots[i];
    }
    void resize(unsigned bits);
  };

  static Key load(const Ip6& address) {
    Key key;
    std::memcpy(&key, address.bytes.data(), 16);
    return key;
  }
  std::vector<Level>::iterator find_level(unsigned length);

  std::vector<Level> levels_;  // longest first
};

}  // namespace frond::l3
