// SPDX-License-Identifier: BSD-3-Clause
// TapPort: a host's network interface, made by us in its namespace. Not an ethdev, so there may be
// as many as wanted. The host's kernel may leave checksums and segmentation to us (as to any NIC):
// what comes out is what a wire would carry.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/address.hpp"
#include "engine/port.hpp"
#include "netdev/link_monitor.hpp"
#include "netdev/namespace.hpp"
#include "netdev/ready_set.hpp"
#include "netdev/vnet_intake.hpp"
#include "packet/pool.hpp"

namespace frond::netdev {

class TapPort final : public Port {
 public:
  struct Config {
    std::string interface = "eth0";  // its name in the host's namespace
    std::optional<MacAddress> mac;   // the host's; unset: the kernel's choice
    std::uint32_t mtu = 1500;
    bool offloads = true;  // the host leaves checksums and TCP segmentation to us
  };
  enum Drop : unsigned { truncated, malformed, no_buffer, elided, gone, refused, kDropCount };

  // Makes the interface in `ns`, down. `ready`, if given, belongs to the worker that steps this
  // port and outlives it. Throws StartError.
  TapPort(const Config& config, const Namespace& ns, PacketPool& pool, LinkMonitor& monitor,
          ReadySet* ready = nullptr);
  ~TapPort() override;  // the interface goes

  unsigned receive(Time now, Batch& batch) override;
  unsigned transmit(Time now, Batch& batch) override;
  bool up() const override { return watch_->up(); }
  std::span<const DropInfo> drop_info() const override;
  std::uint64_t drops(unsigned index) const override { return drops_[index].value(); }

  // What the host sees of its link: false is a pulled cable. Any thread.
  Status set_carrier(bool carrier);

 private:
  void count(VnetIntake::Outcome outcome);
  bool send(const Packet& packet);

  VnetIntake intake_;
  LinkMonitor& monitor_;
  ReadySet* ready_set_;
  std::shared_ptr<const LinkWatch> watch_;
  int fd_ = -1;
  bool readable_ = true;
  std::array<Counter, kDropCount> drops_;
};

}  // namespace frond::netdev
