// SPDX-License-Identifier: BSD-3-Clause
#include "link/impaired_port.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace frond::link {

ImpairedPort::Way::Way(Rng rng, PacketPool& pool)
    // The inner port has an MTU of its own; one thread, so the ring grows with what is delayed.
    : direction({.mtu = std::numeric_limits<std::uint16_t>::max(), .ring = 4, .one_thread = true},
                rng, pool) {}

ImpairedPort::ImpairedPort(const std::string& name, std::uint64_t seed, std::unique_ptr<Port> inner,
                           PacketPool& pool)
    : inner_(std::move(inner)),
      drop_info_(inner_->drop_info().begin(), inner_->drop_info().end()),
      out_(Rng(seed, name + ">"), pool),
      in_(Rng(seed, name + "<"), pool) {
  drop_info_.insert(drop_info_.end(), kWireDropInfo.begin(), kWireDropInfo.end());
  drop_info_.push_back({"link_refused", "the port refused a packet that the link had delayed"});
}

void ImpairedPort::impair(Way& way, const Impairment& impairment) {
  way.configured = impairment;
  way.direction.impair(impairment);
  // release: the worker that goes through the direction finds the impairment there.
  way.wanted.store(impairment.any(), std::memory_order_release);
}

unsigned ImpairedPort::receive(Time now, Batch& batch) {
  if (out_.active) send_due(now);
  const bool line = in_rate_.load(std::memory_order_relaxed) != 0;
  if (!in_.through() && !line) [[likely]]
    return inner_->receive(now, batch);
  Batch arrived;
  line ? take_in(now, arrived) : static_cast<void>(inner_->receive(now, arrived));
  in_.direction.send(arrived, true);
  const unsigned n = in_.direction.receive(now, batch, true, 0);
  in_.relax();
  return n;
}

// Nothing is read while the line is busy: the rest waits in the sender's queue, as before a NIC. A
// sender that had more waiting loses no line time to a late poll.
void ImpairedPort::take_in(Time now, Batch& arrived) {
  const Rate rate = Rate::bps(in_rate_.load(std::memory_order_relaxed));
  if (rate != in_line_.rate()) in_line_.set_rate(rate);
  if (!in_line_.idle(now)) return;
  const Time ready = more_waits_ ? std::max(in_line_.next(), now - Serialiser::kMaxLag) : now;
  inner_->receive(now, arrived);
  more_waits_ = arrived.full();
  for (Packet* packet : arrived) {
    packet->meta().time = in_line_.send(ready, now, packet->frame_length());
  }
}

unsigned ImpairedPort::transmit(Time now, Batch& batch) {
  if (!out_.through()) [[likely]]
    return inner_->transmit(now, batch);
  const unsigned n = batch.size();
  out_.direction.send(batch, true);
  send_due(now);
  return n;
}

// What the inner port refuses here the device can no longer count.
void ImpairedPort::send_due(Time now) {
  Batch due;
  while (out_.direction.receive(now, due, true, 0) != 0) {
    inner_->transmit(now, due);
    refused_.add(due.size());
    due.free_all();
  }
  out_.relax();
}

std::uint64_t ImpairedPort::drops(unsigned index) const {
  const auto inner = static_cast<unsigned>(inner_->drop_info().size());
  if (index < inner) return inner_->drops(index);
  if (index - inner == kWireDrops) return refused_.value();
  return out_.direction.drops(index - inner) + in_.direction.drops(index - inner);
}

}  // namespace frond::link
