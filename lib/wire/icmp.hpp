// SPDX-License-Identifier: BSD-3-Clause
// ICMP (RFC 792) and ICMPv6 (RFC 4443).
#pragma once

#include <cstdint>

#include "wire/endian.hpp"

namespace frond::wire {

// Common to both; what the last four bytes mean depends on the type.
struct Icmp {
  std::uint8_t type;
  std::uint8_t code;
  be16 checksum;
  be32 rest;  // echo: identifier and sequence; v4 4: 0 and MTU (RFC 1191); v6 2: MTU; v6 4: pointer
};
static_assert(sizeof(Icmp) == 8 && alignof(Icmp) == 1);

namespace icmp4 {
enum Type : std::uint8_t {
  kEchoReply = 0,
  kUnreachable = 3,
  kSourceQuench = 4,
  kRedirect = 5,
  kEchoRequest = 8,
  kTimeExceeded = 11,
  kParameterProblem = 12,
};
enum UnreachableCode : std::uint8_t {
  kNet = 0,
  kHost = 1,
  kProtocol = 2,
  kPort = 3,
  kFragmentationNeeded = 4,
};
// RFC 1122 3.2.2: these report about another packet.
constexpr bool is_error(std::uint8_t type) {
  return type == kUnreachable || type == kSourceQuench || type == kRedirect ||
         type == kTimeExceeded || type == kParameterProblem;
}
}  // namespace icmp4

namespace icmp6 {
enum Type : std::uint8_t {
  kUnreachable = 1,
  kPacketTooBig = 2,
  kTimeExceeded = 3,
  kParameterProblem = 4,
  kEchoRequest = 128,
  kEchoReply = 129,
  kRouterSolicitation = 133,
  kRouterAdvertisement = 134,
  kNeighborSolicitation = 135,
  kNeighborAdvertisement = 136,
  kRedirect = 137,
};
enum UnreachableCode : std::uint8_t { kNoRoute = 0, kBeyondScope = 2, kAddress = 3, kPort = 4 };
enum ParameterCode : std::uint8_t { kUnrecognizedNextHeader = 1 };
// RFC 4443 2.1: the high bit is clear. 2.4 (e) treats a redirect the same.
constexpr bool is_error(std::uint8_t type) { return type < 128 || type == kRedirect; }
}  // namespace icmp6

}  // namespace frond::wire
