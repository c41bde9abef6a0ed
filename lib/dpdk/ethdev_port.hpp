// SPDX-License-Identifier: BSD-3-Clause
// EthdevPort: a port that one of DPDK's drivers serves. What the drivers do unlike each other ends
// here: frames come out as on a wire (tags in place, checksums complete, none longer than the MTU),
// and what a driver can't take is a named drop.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "dpdk/eal.hpp"
#include "dpdk/removal.hpp"
#include "engine/port.hpp"
#include "netdev/link_monitor.hpp"
#include "packet/pool.hpp"

namespace frond::dpdk {

enum class Driver : std::uint8_t {
  af_packet,
  af_xdp,
  tap,
  vhost,
  virtio_user,
  memif,
  pcap,
  null,
  pci
};
std::string_view to_string(Driver driver);

struct EthdevConfig {
  Driver driver = Driver::af_packet;
  std::string target;     // interface, socket path, PCI address; pcap and null: none
  std::string args;       // further device arguments, as DPDK spells them
  std::uint32_t mtu = 0;  // 0: what the interface has, or 1500
  unsigned queue = 0;     // descriptors each way; 0: the driver's choice
  std::string netns;      // path, name or process id of the interface's namespace; "": ours
  bool server = false;    // memif, virtio-user: we make the socket (vhost does by itself)
  bool wait = false;      // not there yet: stay down until it comes, and come back after it went
};

class EthdevPort final : public Port {
 public:
  enum Drop : unsigned {
    truncated,
    gso_unsupported,
    too_long_in,
    no_buffer,  // received
    elided,
    gone,
    too_long_out,
    not_linear,  // sent
    driver_missed,
    driver_no_buffer,
    driver_refused,
    kernel_full,  // as the driver and kernel count
    kDropCount
  };

  // Throws StartError: a sentence about what is missing or not possible. With `wait`, a missing
  // interface or a socket without a server is no error.
  EthdevPort(const EthdevConfig& config, Eal& eal, PacketPool& pool, netdev::LinkMonitor& monitor);
  ~EthdevPort() override;

  unsigned receive(Time now, Batch& batch) override;
  unsigned transmit(Time now, Batch& batch) override;
  bool up() const override { return up_.load(std::memory_order_acquire); }
  std::span<const DropInfo> drop_info() const override;
  std::uint64_t drops(unsigned index) const override { return drops_[index].value(); }

  // Whether it is open, and if not, why. Any thread.
  bool is_open() const { return open_.load(std::memory_order_acquire); }
  std::string why_closed() const override;

 private:
  bool on_interface() const;  // its carrier is a network interface's
  bool loses_its_peer() const;
  Status watch(const netdev::Namespace& ns);
  Status open();  // the attendant, or the constructor
  Status probe(const netdev::Namespace& ns);
  Status start(const netdev::Namespace& ns);
  Status check_mtu(const netdev::Namespace& ns);
  Status make_pool();
  std::string device_args() const;
  void stop_traffic();
  void close_device();
  void give_back();  // the device is wanted elsewhere, or is gone
  void attend();     // the attendant's thread: link state, coming and going
  void look();
  void tune_socket();
  void collect_statistics();

  bool begin_burst();  // false: it is not open, and there is nothing to end
  void end_burst() { in_burst_.store(false, std::memory_order_release); }
  unsigned receive_plain(Time now, Batch& batch);
  unsigned receive_interface(Time now, Batch& batch);
  void take(Time now, Packet* packet, Batch& batch);
  void take_super_frame(Packet& packet);
  void drain(Time now, Batch& batch);
  bool prepare(Packet*& packet);  // false: it was dropped
  bool repair(Packet*& packet);
  Packet* join(Packet* packet);

  EthdevConfig config_;
  Eal& eal_;
  PacketPool& pool_;
  netdev::LinkMonitor& monitor_;
  std::shared_ptr<const netdev::LinkWatch> watch_;

  // The attendant closes the device when open_ is false and the worker is in no burst; the worker
  // never waits.
  std::atomic<bool> in_burst_ = false;
  std::atomic<bool> open_ = false;
  std::atomic<bool> up_ = false;
  std::atomic<bool> leaving_ = false;  // set by removal_, cleared by the attendant
  // Written while it is not open:
  std::string device_;  // DPDK's name
  std::uint16_t port_id_ = 0;
  std::uint32_t mtu_ = 1500;
  bool copy_in_ = false;  // the driver's buffers are its own pool's and large
  bool multi_segments_ = false;
  int index_ = 0;  // of the interface that is open
  std::unique_ptr<RemovalWatch> removal_;
  int socket_ = -1;  // af_packet: the driver's, for its statistics
  struct FreePool {
    void operator()(rte_mempool* pool) const;
  };
  std::unique_ptr<rte_mempool, FreePool> own_pool_;  // the driver's
  // The worker's:
  std::vector<Packet*> pending_;  // pieces that did not fit into a batch
  std::size_t next_ = 0;

  std::array<Counter, kDropCount> drops_;
  std::array<std::uint64_t, 3> seen_{};  // the driver's own counters, as last read

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  bool news_ = false;
  bool stop_ = false;
  std::string why_closed_;
  std::thread attendant_;
};

}  // namespace frond::dpdk
