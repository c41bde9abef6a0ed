// SPDX-License-Identifier: BSD-3-Clause
#include "features/l3/fib.hpp"

#include <cerrno>
#include <cstdio>

#include <rte_errno.h>
#include <rte_fib.h>
#include <rte_fib6.h>
#include <rte_lcore.h>
#include <rte_version.h>

namespace frond::l3 {
namespace {

// DPDK 24.11 has a type for addresses, older ones have an array.
#if RTE_VERSION >= RTE_VERSION_NUM(24, 11, 0, 0)
const rte_ipv6_addr* raw(const Ip6& a) {
  return reinterpret_cast<const rte_ipv6_addr*>(a.bytes.data());
}
rte_ipv6_addr* raw_array(const Ip6* a) {
  return reinterpret_cast<rte_ipv6_addr*>(const_cast<Ip6*>(a));
}
#else
const std::uint8_t* raw(const Ip6& a) { return a.bytes.data(); }
std::uint8_t (*raw_array(const Ip6* a))[16] {
  return reinterpret_cast<std::uint8_t(*)[16]>(const_cast<Ip6*>(a));
}
#endif

constexpr unsigned kBulk = 64;

Status to_status(int result, const IpPrefix& prefix) {
  if (result == 0) return {};
  if (result == -ENOENT) return Error{Error::Code::not_found, "no route " + prefix.to_string()};
  return Error{Error::Code::resource_exhausted,
               "the FIB has no room for " + prefix.to_string() + " (" + rte_strerror(-result) +
                   "); give it more in fib: v4_routes, v4_long_blocks, v6_routes, v6_blocks"};
}

}  // namespace

Fib::Fib(const Config& config) : config_(config) {
  if (config.kind == FibKind::compact) return;
  // Unique in the process, also between the two, whose mempools take their names.
  char name4[32], name6[32];
  std::snprintf(name4, sizeof name4, "f4_%p", static_cast<void*>(this));
  std::snprintf(name6, sizeof name6, "f6_%p", static_cast<void*>(this));
  rte_fib_conf v4{};
  v4.type = RTE_FIB_DIR24_8;
  v4.default_nh = NextHop().bits();
  v4.max_routes = static_cast<int>(config.v4_routes);
  v4.dir24_8.nh_sz = RTE_FIB_DIR24_8_4B;
  v4.dir24_8.num_tbl8 = config.v4_long_blocks;
  large4_ = rte_fib_create(name4, SOCKET_ID_ANY, &v4);
  rte_fib6_conf v6{};
  v6.type = RTE_FIB6_TRIE;
  v6.default_nh = NextHop().bits();
  v6.max_routes = static_cast<int>(config.v6_routes);
  v6.trie.nh_sz = RTE_FIB6_TRIE_4B;
  v6.trie.num_tbl8 = config.v6_blocks;
  if (large4_ != nullptr) large6_ = rte_fib6_create(name6, SOCKET_ID_ANY, &v6);
  if (large6_ != nullptr) return;
  const std::string reason = rte_strerror(rte_errno);
  rte_fib_free(large4_);
  throw StartError("a large FIB takes " + std::to_string(memory() >> 20) + " MiB: " + reason +
                   "; give the process more memory (EAL -m) or use fib: compact");
}

Fib::~Fib() {
  rte_fib_free(large4_);
  rte_fib6_free(large6_);
}

Status Fib::set(const IpPrefix& prefix, NextHop next) {
  const IpAddress& a = prefix.address;
  if (config_.kind == FibKind::compact) {
    if (a.v6) {
      compact6_.set(a.v6_address, prefix.length, next);
    } else {
      compact4_.set(a.v4_address.value, prefix.length, next);
    }
    return {};
  }
  return to_status(a.v6 ? rte_fib6_add(large6_, raw(a.v6_address), prefix.length, next.bits())
                        : rte_fib_add(large4_, a.v4_address.value, prefix.length, next.bits()),
                   prefix);
}

Status Fib::remove(const IpPrefix& prefix) {
  const IpAddress& a = prefix.address;
  if (config_.kind == FibKind::compact) {
    const bool was_there = a.v6 ? compact6_.remove(a.v6_address, prefix.length)
                                : compact4_.remove(a.v4_address.value, prefix.length);
    return to_status(was_there ? 0 : -ENOENT, prefix);
  }
  return to_status(a.v6 ? rte_fib6_delete(large6_, raw(a.v6_address), prefix.length)
                        : rte_fib_delete(large4_, a.v4_address.value, prefix.length),
                   prefix);
}

NextHop Fib::lookup_large(std::uint32_t v4) const {
  std::uint64_t next = 0;
  rte_fib_lookup_bulk(large4_, &v4, &next, 1);
  return NextHop::from_bits(static_cast<std::uint32_t>(next));
}

NextHop Fib::lookup_large(const Ip6& v6) const {
  std::uint64_t next = 0;
  rte_fib6_lookup_bulk(large6_, raw_array(&v6), &next, 1);
  return NextHop::from_bits(static_cast<std::uint32_t>(next));
}

void Fib::lookup(const std::uint32_t* v4, NextHop* next, unsigned n) const {
  if (large4_ == nullptr) {
    for (unsigned i = 0; i < n; ++i) next[i] = compact4_.lookup(v4[i]);
    return;
  }
  for (unsigned done = 0; done < n; done += kBulk) {
    std::uint64_t found[kBulk];
    const unsigned some = n - done < kBulk ? n - done : kBulk;
    rte_fib_lookup_bulk(large4_, const_cast<std::uint32_t*>(v4 + done), found,
                        static_cast<int>(some));
    for (unsigned i = 0; i < some; ++i) {
      next[done + i] = NextHop::from_bits(static_cast<std::uint32_t>(found[i]));
    }
  }
}

void Fib::lookup(const Ip6* v6, NextHop* next, unsigned n) const {
  if (large6_ == nullptr) {
    for (unsigned i = 0; i < n; ++i) next[i] = compact6_.lookup(v6[i]);
    return;
  }
  for (unsigned done = 0; done < n; done += kBulk) {
    std::uint64_t found[kBulk];
    const unsigned some = n - done < kBulk ? n - done : kBulk;
    rte_fib6_lookup_bulk(large6_, raw_array(v6 + done), found, static_cast<int>(some));
    for (unsigned i = 0; i < some; ++i) {
      next[done + i] = NextHop::from_bits(static_cast<std::uint32_t>(found[i]));
    }
  }
}

std::size_t Fib::memory() const {
  if (config_.kind == FibKind::compact) return compact4_.memory() + compact6_.memory();
  constexpr std::size_t kRibNode = 64;  // and two for each route
  return (std::size_t{1} << 24) * 4 * 2 +
         (std::size_t{config_.v4_long_blocks} + config_.v6_blocks) * 1024 +
         (std::size_t{config_.v4_routes} + config_.v6_routes) * 2 * kRibNode;
}

}  // namespace frond::l3
