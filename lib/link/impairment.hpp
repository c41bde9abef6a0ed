// SPDX-License-Identifier: BSD-3-Clause
// Impairment: what one direction of a wire does to packets. Chances are drawn per packet from the
// direction's own generator, in the order of the fields, and only those that are possible.
#pragma once

#include "base/fields.hpp"
#include "base/probability.hpp"
#include "base/time.hpp"

namespace frond::link {

struct Impairment {
  bool blackhole = false;  // everything is lost, and the carrier stays: nobody is told
  Probability loss;
  Probability duplication;
  Probability corruption;  // one bit, anywhere in the bytes that are present
  Probability reordering;  // such a packet is held back by reorder_delay; others overtake it
  Time reorder_delay = Time::us(10);
  Time delay;   // on top of the wire's own
  Time jitter;  // delay is uniform in [delay - jitter, delay + jitter], never below 0

  bool operator==(const Impairment&) const = default;
  bool any() const {
    return blackhole || loss.possible() || duplication.possible() || corruption.possible() ||
           reordering.possible() || delay != Time() || jitter != Time();
  }

  template <class F> static void fields(F& f) {
    f("blackhole", &Impairment::blackhole, "", "Lose everything silently; the carrier stays up");
    f("loss", &Impairment::loss, "", "Packets that are lost");
    f("duplication", &Impairment::duplication, "", "Packets that arrive twice");
    f("corruption", &Impairment::corruption, "", "Packets in which one bit is flipped");
    f("reordering", &Impairment::reordering, "probability",
      "Packets that are held back by reorder_delay, so that others overtake them");
    f("reorder_delay", &Impairment::reorder_delay, "", "How long a reordered packet is held",
      at_least(Time()));
    f("delay", &Impairment::delay, "", "Delay on top of the cable's", at_least(Time()));
    f("jitter", &Impairment::jitter, "", "Uniform variation of delay, both ways", at_least(Time()));
  }
};

}  // namespace frond::link
