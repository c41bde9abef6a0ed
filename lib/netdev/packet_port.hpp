// SPDX-License-Identifier: BSD-3-Clause
// PacketPort: an existing interface of the kernel (a veth's end), through a packet socket that
// carries virtio_net_hdr. Unlike DPDK's af_packet driver it is told the sender's segment size, the
// true type of a stripped VLAN tag and what was truncated; it needs no ethdev and 64 KiB, not 67
// MB.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "engine/port.hpp"
#include "netdev/link_monitor.hpp"
#include "netdev/namespace.hpp"
#include "netdev/ready_set.hpp"
#include "netdev/vnet_intake.hpp"
#include "packet/pool.hpp"

namespace frond::netdev {

class PacketPort final : public Port {
 public:
  enum Drop : unsigned {
    truncated,
    malformed,
    no_buffer,
    elided,
    gone,
    too_long,
    refused,
    kDropCount
  };

  // Opens `interface` in `ns`, which must be there. Its own kernel stack should be kept quiet:
  // prepare_switch(). Throws StartError.
  PacketPort(const std::string& interface, const Namespace& ns, PacketPool& pool,
             LinkMonitor& monitor, ReadySet* ready = nullptr);
  ~PacketPort() override;

  unsigned receive(Time now, Batch& batch) override;
  unsigned transmit(Time now, Batch& batch) override;
  // Once removed it stays down, whatever comes later under the same name.
  bool up() const override { return watch_->up() && watch_->index() == index_; }
  std::span<const DropInfo> drop_info() const override;
  std::uint64_t drops(unsigned index) const override { return drops_[index].value(); }

 private:
  bool send(const Packet& packet);

  VnetIntake intake_;
  LinkMonitor& monitor_;
  ReadySet* ready_set_;
  std::shared_ptr<const LinkWatch> watch_;
  int fd_ = -1;
  int index_ = 0;
  bool readable_ = true;
  std::array<Counter, kDropCount> drops_;
};

}  // namespace frond::netdev
