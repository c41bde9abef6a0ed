// SPDX-License-Identifier: BSD-3-Clause
#include "netdev/vnet_intake.hpp"

#include <algorithm>
#include <cstring>

#include "netdev/offload.hpp"

namespace frond::netdev {

VnetIntake::VnetIntake(PacketPool& pool)
    : pool_(pool), spill_(std::make_unique<std::uint8_t[]>(kTagBytes + kMostBytes)) {
  pending_.reserve(64);
}

VnetIntake::~VnetIntake() {
  give_up();
  for (; next_ < pending_.size(); ++next_) pending_[next_]->free();
}

void VnetIntake::drain(Time now, Batch& batch) {
  while (next_ < pending_.size() && !batch.full()) {
    Packet* p = pending_[next_++];
    p->meta().time = now;
    batch.push(p);
  }
  if (next_ == pending_.size()) {
    pending_.clear();
    next_ = 0;
  }
}

bool VnetIntake::prepare(iovec (&pieces)[2]) {
  if (packet_ != nullptr) {
    rte_pktmbuf_reset(packet_->mbuf());
  } else if (packet_ = pool_.allocate(); packet_ == nullptr) {
    return false;
  }
  const std::uint32_t room =
      std::min<std::uint32_t>(rte_pktmbuf_tailroom(packet_->mbuf()), kMostBytes);
  pieces[0] = {packet_->data(), room};
  pieces[1] = {spill_.get() + kTagBytes + room, kMostBytes - room};
  return true;
}

void VnetIntake::give_up() {
  if (packet_ != nullptr) packet_->free();
  packet_ = nullptr;
}

VnetIntake::Outcome VnetIntake::accept(std::uint32_t n, const VnetHeader& header, const Tag* tag) {
  constexpr std::uint32_t kEthernet = 14, kMacs = 12;
  if (n < kEthernet || n >= kMostBytes) return Outcome::truncated;
  rte_mbuf* m = packet_->mbuf();
  const std::uint32_t room = rte_pktmbuf_tailroom(m);
  const bool spilled = n > room;
  std::uint8_t* bytes = packet_->data();
  if (spilled) {
    bytes = spill_.get() + kTagBytes;
    std::memcpy(bytes, packet_->data(), room);
  } else {
    m->data_len = static_cast<std::uint16_t>(n);
    m->pkt_len = n;
  }
  std::uint32_t start = header.checksum_start;
  if (tag != nullptr) {
    bytes -= kTagBytes;  // there is headroom
    if (!spilled) rte_pktmbuf_prepend(m, kTagBytes);
    std::memmove(bytes, bytes + kTagBytes, kMacs);
    const std::uint8_t inserted[kTagBytes] = {
        static_cast<std::uint8_t>(tag->tpid >> 8), static_cast<std::uint8_t>(tag->tpid),
        static_cast<std::uint8_t>(tag->tci >> 8), static_cast<std::uint8_t>(tag->tci)};
    std::memcpy(bytes + kMacs, inserted, kTagBytes);
    n += kTagBytes;
    start += kTagBytes;
  }
  const std::span<std::uint8_t> frame(bytes, n);

  const auto gso = static_cast<std::uint8_t>(header.gso_type & ~VnetHeader::kGsoEcn);
  if (gso != VnetHeader::kGsoNone) {
    // The checksums of the pieces are made anew, so csum_start doesn't matter.
    switch (segment(frame, header.gso_size, pool_, pending_)) {
      case Cut::done:
        return Outcome::taken;
      case Cut::no_buffer:
        return Outcome::no_buffer;
      default:
        return Outcome::malformed;
    }
  }
  if ((header.flags & VnetHeader::kNeedsChecksum) != 0 &&
      !finish_checksum_at(frame, start, header.checksum_offset)) {
    return Outcome::malformed;
  }
  if (spilled && !append(pool_, *packet_, frame)) {
    give_up();  // it holds a part
    return Outcome::no_buffer;
  }
  pending_.push_back(packet_);
  packet_ = nullptr;
  return Outcome::taken;
}

}  // namespace frond::netdev
