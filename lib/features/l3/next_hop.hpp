// SPDX-License-Identifier: BSD-3-Clause
// NextHop: what a route points at, in 31 bits (rte_fib's four-byte entries hold no more).
#pragma once

#include <cstdint>
#include <string>

#include "packet/packet.hpp"

namespace frond::l3 {

class NextHop {
 public:
  enum class Kind : std::uint8_t {
    adjacency,  // index: of the neighbour
    group,      // index: of the ECMP group
    connected,  // index: the port; the destination itself is on that link, not yet asked for
    local,      // one of our addresses; index: unused
    blackhole,  // dropped without an answer
    none = 7,   // no route; index: all ones
  };
  static constexpr std::uint32_t kMaxIndex = (1U << 28) - 2;

  constexpr NextHop() : NextHop(Kind::none, (1U << 28) - 1) {}
  static constexpr NextHop adjacency(std::uint32_t id) { return {Kind::adjacency, id}; }
  static constexpr NextHop group(std::uint32_t id) { return {Kind::group, id}; }
  static constexpr NextHop connected(std::uint16_t port) { return {Kind::connected, port}; }
  static constexpr NextHop local() { return {Kind::local, 0}; }
  static constexpr NextHop blackhole() { return {Kind::blackhole, 0}; }
  // From the tables or a packet's metadata; kNoNextHop is `none` too.
  static constexpr NextHop from_bits(std::uint32_t bits) {
    NextHop n;
    n.bits_ = bits & 0x7fffffff;
    return n;
  }

  constexpr Kind kind() const { return static_cast<Kind>(bits_ >> 28); }
  constexpr std::uint32_t index() const { return bits_ & ((1U << 28) - 1); }
  constexpr std::uint32_t bits() const { return bits_; }
  constexpr bool operator==(const NextHop&) const = default;
  std::string to_string() const;

 private:
  constexpr NextHop(Kind kind, std::uint32_t index)
      : bits_(static_cast<std::uint32_t>(kind) << 28 | index) {}
  std::uint32_t bits_;
};
static_assert(sizeof(NextHop) == 4);
static_assert(NextHop().bits() == 0x7fffffff);
static_assert(NextHop::from_bits(kNoNextHop) == NextHop());

}  // namespace frond::l3
