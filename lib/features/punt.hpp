// SPDX-License-Identifier: BSD-3-Clause
// What the control agent of a switch is asked to do with a packet. A stage punts with one of the
// first, and the agent owns the packet; a drop may name one of the answers (DropInfo.answer), and
// the agent may tell the sender before the packet is freed.
#pragma once

#include "engine/verdict.hpp"

namespace frond {

enum Punt : PuntCode {
  // Addressed to us, or to a group that we listen to.
  kPuntArp = 1,
  kPuntNd,     // ICMPv6 types 133 to 137
  kPuntBfd,    // UDP 3784
  kPuntLocal,  // anything else for one of our addresses: echo, or unreachable
  // To be forwarded, but not here.
  kPuntNoNeighbor,  // meta().next_hop: an unresolved adjacency, or connected(port): make one
  kPuntFragment,    // IPv4 without DF, larger than the MTU of meta().egress

  // Answers: ICMP errors to the sender.
  kAnswerTtlExpired,       // time exceeded in transit
  kAnswerTooBig,           // fragmentation needed / packet too big, MTU of meta().egress
  kAnswerNetUnreachable,   // no route
  kAnswerHostUnreachable,  // the neighbour does not answer
  kAnswerBeyondScope,      // RFC 4443 3.1 code 2
};

}  // namespace frond
