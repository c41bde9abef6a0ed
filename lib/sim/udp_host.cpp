// SPDX-License-Identifier: BSD-3-Clause
#include "sim/udp_host.hpp"

#include <algorithm>
#include <utility>

#include "base/result.hpp"
#include "sim/host_reply.hpp"

namespace frond::sim {

UdpHost::UdpHost(std::string name, std::uint32_t id, std::uint64_t seed, Config config)
    : Device(std::move(name), id, seed),
      config_(std::move(config)),
      addresses_(config_.addresses),
      line_(config_.rate) {
  addresses_.push_back(Ip6::link_local(config_.mac));
  ready().resize(1);
  attached_.resize(1);
}

UdpHost::~UdpHost() {
  for (Packet* packet : replies_) packet->free();
}

void UdpHost::add(const UdpFlow& flow) {
  for (const IpAddress& address : config_.addresses) {
    if (address.v6 != flow.dst.v6) continue;
    sources_.emplace_back(flow, config_.mac, config_.gateway, address);
    return;
  }
  throw StartError(name() + " has no address of the family of " + flow.dst.to_string());
}

void UdpHost::stop(std::uint32_t flow) {
  for (UdpSource& source : sources_) {
    if (source.flow().id == flow) source.end();
  }
}

// The order is the design: what arrived at this very time is seen before anything is sent.
Time UdpHost::step(Context& ctx) {
  inbox().run();
  begin_flows(ctx.now);
  receive(ctx);
  transmit(ctx);
  return next();
}

void UdpHost::begin_flows(Time now) {
  for (; begun_ < sources_.size(); ++begun_) {
    sources_[begun_].begin(now);
    if (sources_[begun_].due() == Time::max()) continue;
    due_.push_back({sources_[begun_].due(), static_cast<std::uint32_t>(begun_)});
    std::push_heap(due_.begin(), due_.end());
  }
}

void UdpHost::receive(Context& ctx) {
  ready().clear(0);
  if (port_ == nullptr) return;
  Batch batch;
  do {
    batch.clear();
    port_->receive(ctx.now, batch);
    ctx.work += batch.size();
    for (Packet* packet : batch) {
      ++counters_.in_packets;
      counters_.in_octets.add(std::max(packet->frame_length(), kMinFrame) + kFcsBytes);
      packet->meta().ingress = 0;
      handle(ctx, packet);
    }
  } while (batch.full());
}

FlowMeter& UdpHost::meter(std::uint32_t flow) {
  if (last_meter_ < meters_.size() && meters_[last_meter_].flow() == flow) [[likely]] {
    return meters_[last_meter_];
  }
  const auto [at, fresh] = meter_of_.try_emplace(flow, static_cast<std::uint32_t>(meters_.size()));
  if (fresh) meters_.emplace_back(flow);
  last_meter_ = at->second;
  return meters_[last_meter_];
}

void UdpHost::reply(Context& ctx, Packet* packet) {
  if (replies_.size() >= kMaxReplies) return drop(ctx, packet, host_reply_overflow);
  ++counters_.replies;
  replies_.push_back(packet);
}

void UdpHost::drop(Context& ctx, Packet* packet, Drop reason) {
  // Said to everybody on the link (announcements of neighbours): heard, and no loss.
  const bool to_group = (packet->data()[0] & 1) != 0;
  if (to_group && (reason == host_other_ip || reason == host_unhandled)) return packet->free();
  ++drops_[reason];
  ctx.dropped(*packet, kDropInfo[reason].name);
  packet->free();
}

// Whatever the line has time for now: answers first, then the flows by due time. A flow that the
// line keeps waiting falls behind and catches up later; no datagram is skipped.
void UdpHost::transmit(Context& ctx) {
  Batch batch;
  while (line_.idle(ctx.now) && !batch.full()) {
    if (!replies_.empty()) [[unlikely]] {
      Packet* packet = replies_.front();
      replies_.erase(replies_.begin());
      packet->meta() = PacketMeta{.elided = packet->meta().elided};
      put_on_line(ctx, packet, ctx.now, batch);
    } else if (!due_.empty() && due_.front().time <= ctx.now) {
      emit(ctx, batch);
    } else {
      break;
    }
  }
  if (batch.empty()) return;
  if (port_ != nullptr) port_->transmit(ctx.now, batch);
  for (Packet* packet : batch) drop(ctx, packet, host_port_full);
}

void UdpHost::emit(Context& ctx, Batch& batch) {
  std::pop_heap(due_.begin(), due_.end());
  const Due due = due_.back();
  due_.pop_back();
  UdpSource& source = sources_[due.source];
  if (source.due() == Time::max()) return;  // ended meanwhile
  Packet* packet = source.make(ctx.pool, std::max(due.time, line_.next()));
  if (source.due() != Time::max()) {
    due_.push_back({source.due(), due.source});
    std::push_heap(due_.begin(), due_.end());
  }
  if (packet == nullptr) [[unlikely]] {
    ++drops_[host_no_buffer];
    return;
  }
  put_on_line(ctx, packet, due.time, batch);
}

void UdpHost::put_on_line(Context& ctx, Packet* packet, Time ready, Batch& batch) {
  packet->meta().id = std::uint64_t{id()} << 40 | ++next_packet_;
  packet->meta().time = line_.send(ready, ctx.now, packet->frame_length());
  ++counters_.out_packets;
  counters_.out_octets.add(std::max(packet->frame_length(), kMinFrame) + kFcsBytes);
  if (ctx.hops != nullptr) ctx.hops->record(packet->meta().time, id(), 0, *packet, "");
  batch.push(packet);
}

Time UdpHost::next() const {
  if (!replies_.empty()) return line_.next();
  if (due_.empty()) return Time::max();
  return std::max(due_.front().time, line_.next());
}

}  // namespace frond::sim
