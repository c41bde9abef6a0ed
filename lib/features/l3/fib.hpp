// SPDX-License-Identifier: BSD-3-Clause
// Fib: longest-prefix match for IPv4 and IPv6. Two kinds behind one face:
//   compact  a trie and hash maps that grow with the routes: a small table is a few KB, so that
//            hundreds of switches share a cache;
//   large    DIR24-8 and a trie of DPDK (rte_fib, rte_fib6): hundreds of thousands of prefixes.
// The prefix's host bits must be clear. Changed in place, by the owner, between packets.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/address.hpp"
#include "base/fields.hpp"
#include "base/result.hpp"
#include "features/l3/fib_compact.hpp"
#include "features/l3/next_hop.hpp"

struct rte_fib;
struct rte_fib6;

namespace frond::l3 {

enum class FibKind : std::uint8_t { compact, large };
constexpr auto enum_names(FibKind) { return std::to_array<std::string_view>({"compact", "large"}); }

class Fib {
 public:
  struct Config {
    FibKind kind = FibKind::compact;
    // Of large tables; their memory is taken at the start.
    std::uint32_t v4_routes = 640 * 1024;
    std::uint32_t v6_routes = 160 * 1024;
    std::uint32_t v4_long_blocks = 64 * 1024;  // of 256 addresses with prefixes longer than /24
    // Nodes of the trie. DPDK reserves one for each 8 bits after /24: three a /48, five a /64.
    std::uint32_t v6_blocks = 704 * 1024;

    template <class F> static void fields(F& f) {
      f("kind", &Config::kind, "", "compact grows with the routes; large takes its memory at once");
      f("v4_routes", &Config::v4_routes, "prefixes", "IPv4 prefixes of a large FIB",
        range(1, 1 << 24));
      f("v6_routes", &Config::v6_routes, "prefixes", "IPv6 prefixes of a large FIB",
        range(1, 1 << 24));
      f("v4_long_blocks", &Config::v4_long_blocks, "blocks",
        "Blocks of 256 addresses of a large FIB that hold prefixes longer than /24",
        range(1, 1 << 22));
      f("v6_blocks", &Config::v6_blocks, "nodes", "Nodes of a large FIB's IPv6 trie, 1 KiB each",
        range(1, 1 << 21));
    }
  };

  explicit Fib(const Config& config);  // throws StartError
  ~Fib();
  Fib(const Fib&) = delete;
  Fib& operator=(const Fib&) = delete;

  // Adds or replaces. resource_exhausted: the table is full, and as it was.
  Status set(const IpPrefix& prefix, NextHop next);
  Status remove(const IpPrefix& prefix);  // not_found

  NextHop lookup(std::uint32_t v4) const {  // host order
    if (large4_ == nullptr) [[likely]]
      return compact4_.lookup(v4);
    return lookup_large(v4);
  }
  NextHop lookup(const Ip6& v6) const {
    if (large6_ == nullptr) [[likely]]
      return compact6_.lookup(v6);
    return lookup_large(v6);
  }
  NextHop lookup(const IpAddress& a) const {
    return a.v6 ? lookup(a.v6_address) : lookup(a.v4_address.value);
  }
  // Many at once: large tables overlap their cache misses.
  void lookup(const std::uint32_t* v4, NextHop* next, unsigned n) const;
  void lookup(const Ip6* v6, NextHop* next, unsigned n) const;

  std::size_t memory() const;  // bytes; of large tables: what they take at the start

 private:
  NextHop lookup_large(std::uint32_t v4) const;
  NextHop lookup_large(const Ip6& v6) const;

  const Config config_;
  TrieV4 compact4_;
  MapsV6 compact6_;
  rte_fib* large4_ = nullptr;
  rte_fib6* large6_ = nullptr;
};

}  // namespace frond::l3
