// SPDX-License-Identifier: BSD-3-Clause
// EthdevPort: how a device is found, opened, watched and closed. None of it runs on a worker.
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_mbuf_pool_ops.h>

#include "base/asymmetric_fence.hpp"
#include "base/real_time.hpp"
#include "dpdk/ethdev_port.hpp"
#include "netdev/interface.hpp"

namespace frond::dpdk {
namespace {

struct DriverInfo {
  std::string_view name;    // as users write it
  std::string_view prefix;  // of DPDK's device name
  std::uint32_t max_mtu;    // what the driver carries
  unsigned queue;           // descriptors, unless told
};

// af_xdp: a frame and the kernel's headroom fit into one page (4096) with our buffer's header; 3072
// is what is safe with any kernel. af_packet: 64 KiB rings.
constexpr DriverInfo kDrivers[] = {
    {"af_packet", "net_af_packet", 65000, 256},
    {"af_xdp", "net_af_xdp", 3072, 2048},
    {"tap", "net_tap", 65000, 1024},
    {"vhost", "net_vhost", 65000, 1024},
    {"virtio-user", "net_virtio_user", 9000, 1024},
    {"memif", "net_memif", 65000, 1024},
    {"pcap", "net_pcap", 65000, 512},
    {"null", "net_null", 65000, 512},
    {"pci", "", 9000, 1024},
};

const DriverInfo& info_of(Driver driver) { return kDrivers[static_cast<unsigned>(driver)]; }

// The ring of af_packet: frames of 65,408 bytes, 32 to a block of 511 pages. A block must be whole
// pages and whole frames, since the driver counts frames without looking at blocks. 66 bytes of a
// frame are the kernel's, and TCP hands over up to 65,226 with the tags beside.
constexpr std::uint32_t kRoomForHeaders = 14 + 8;
constexpr unsigned kRingFrame = 65408, kFramesInBlock = 32,
                   kRingBlock = kFramesInBlock * kRingFrame;
static_assert(kRingBlock % 4096 == 0 && kRingFrame % 16 == 0);
// The driver's own measure of what a buffer must hold (TPACKET2_HDRLEN less the address).
constexpr unsigned kRingBuffer = kRingFrame - 32;
static_assert(kRingBuffer + RTE_PKTMBUF_HEADROOM < 65536);

// The driver does not listen where a killed process left its socket, and rejects clients that come
// before the device has started. So a server listens aside and gives the socket its name when it is
// ready, in place of a dead one.
std::string aside(const std::string& socket) { return socket + ".new"; }

bool has_arg(const std::string& args, const std::string& key) {
  return args.starts_with(key + "=") || args.find("," + key + "=") != std::string::npos;
}

// Is it there, and does a driver serve it? Which one, DPDK judges: with mlx5 the kernel's stays.
Status pci_device_ready(const std::string& address) {
  namespace fs = std::filesystem;
  const fs::path device =
      fs::path("/sys/bus/pci/devices") /
      (std::count(address.begin(), address.end(), ':') == 1 ? "0000:" + address : address);
  std::error_code ignored;
  if (!fs::exists(device, ignored))
    return Error{Error::Code::not_found, "there is no such PCI device"};
  if (!fs::exists(device / "driver", ignored)) {
    return Error{Error::Code::unavailable,
                 "no driver for user space is bound to it; frond doctor says how"};
  }
  return {};
}

}  // namespace

std::string_view to_string(Driver driver) { return info_of(driver).name; }

void EthdevPort::FreePool::operator()(rte_mempool* pool) const { rte_mempool_free(pool); }

bool EthdevPort::on_interface() const {
  return config_.driver == Driver::af_packet || config_.driver == Driver::af_xdp ||
         config_.driver == Driver::tap;
}

std::string EthdevPort::device_args() const {
  std::string args;
  const auto add = [&args](const std::string& s) { args += (args.empty() ? "" : ",") + s; };
  const std::string queue = std::to_string(config_.queue);
  switch (config_.driver) {
    case Driver::af_packet:
      add("iface=" + config_.target);
      if (!has_arg(config_.args, "framesz")) {
        add("blocksz=" + std::to_string(kRingBlock) + ",framesz=" + std::to_string(kRingFrame));
        add("framecnt=" +
            std::to_string((config_.queue + kFramesInBlock - 1) / kFramesInBlock * kFramesInBlock));
      }
      break;
    case Driver::af_xdp:
      add("iface=" + config_.target);
      break;
    case Driver::tap:
      add("iface=" + config_.target);
      break;
    case Driver::vhost:
      add("iface=" + config_.target + ",queues=1");
      break;
    case Driver::virtio_user:
      add("path=" + config_.target + ",queues=1,queue_size=" + queue);
      if (config_.server) add("server=1");
      break;
    case Driver::memif: {
      unsigned log2 = 4;
      while (log2 < 14 && (1U << log2) < config_.queue) ++log2;
      add(std::string("role=") + (config_.server ? "server" : "client") +
          ",socket=" + (config_.server ? aside(config_.target) : config_.target));
      add("socket-abstract=no,rsize=" + std::to_string(log2));
      // A frame a descriptor. With chains of them (a frame of 9,000 in buffers of 2,048, between
      // small ones) the driver was seen to deliver frames again and again, and to lose others.
      if (!has_arg(config_.args, "bsize"))
        add("bsize=" + std::to_string(std::max(2048U, (mtu_ + kRoomForHeaders + 63) / 64 * 64)));
      break;
    }
    default:
      break;
  }
  if (!config_.args.empty()) add(config_.args);
  return args;
}

EthdevPort::EthdevPort(const EthdevConfig& config, Eal& eal, PacketPool& pool,
                       netdev::LinkMonitor& monitor)
    : config_(config), eal_(eal), pool_(pool), monitor_(monitor) {
  const DriverInfo& driver = info_of(config_.driver);
  const bool needs_target = config_.driver != Driver::pcap && config_.driver != Driver::null;
  if (needs_target && config_.target.empty()) {
    throw StartError(std::string(driver.name) + " port: say which interface, socket or device");
  }
  if (config_.mtu > driver.max_mtu) {
    throw StartError(std::string(driver.name) + " port " + config_.target + ": MTU " +
                     std::to_string(config_.mtu) + " is not possible, " + std::string(driver.name) +
                     " carries at most " + std::to_string(driver.max_mtu) +
                     (config_.driver == Driver::af_xdp ? "; lower it or use af_packet" : ""));
  }
  if (config_.driver == Driver::pci && !eal_.pci()) {
    throw StartError("PCI device " + config_.target +
                     ": this process was started without PCI; name the device when EAL starts");
  }
  if (config_.queue == 0) config_.queue = driver.queue;
  if (on_interface()) {
    Result<netdev::Namespace> ns = netdev::Namespace::open(config_.netns);
    if (!ns.ok() && !config_.wait) throw StartError(ns.error().message);
    if (ns.ok()) {
      if (Status s = watch(*ns); !s.ok()) throw StartError(s.error().message);
    }
  }
  const Status status = open();
  if (!status.ok()) {
    const bool later = config_.wait && (status.error().code == Error::Code::not_found ||
                                        status.error().code == Error::Code::unavailable);
    if (!later) {
      if (watch_) monitor_.unwatch(watch_);
      throw StartError(status.error().message);
    }
    why_closed_ = status.error().message;
  }
  look();
  attendant_ = std::thread([this] { attend(); });
}

EthdevPort::~EthdevPort() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  attendant_.join();
  if (watch_) monitor_.unwatch(watch_);
  const std::lock_guard device(eal_.device_mutex());
  close_device();
  for (; next_ < pending_.size(); ++next_) pending_[next_]->free();
}

Status EthdevPort::watch(const netdev::Namespace& ns) {
  auto watch = monitor_.watch(ns, config_.target, [this] {
    const std::lock_guard lock(mutex_);
    news_ = true;
    changed_.notify_all();
  });
  if (!watch.ok()) return watch.error();
  watch_ = *watch;
  return {};
}

std::string EthdevPort::why_closed() const {
  const std::lock_guard lock(mutex_);
  return why_closed_;
}

Status EthdevPort::open() {
  Result<netdev::Namespace> ns = netdev::Namespace::open(on_interface() ? config_.netns : "");
  if (!ns.ok()) return ns.error();
  if (on_interface() && !watch_) {  // its namespace has come
    if (Status s = watch(*ns); !s.ok()) return s;
  }
  const std::lock_guard lock(eal_.device_mutex());
  Status status = check_mtu(*ns);
  if (status.ok()) status = make_pool();
  if (status.ok()) status = ns->run([&] { return probe(*ns); });
  if (!status.ok()) {
    own_pool_.reset();
    return status;
  }
  open_.store(true, std::memory_order_release);
  const std::lock_guard text(mutex_);
  why_closed_.clear();
  return {};
}

Status EthdevPort::check_mtu(const netdev::Namespace& ns) {
  mtu_ = config_.mtu != 0 ? config_.mtu : 1500;
  const DriverInfo& driver = info_of(config_.driver);
  const bool existing = config_.driver == Driver::af_packet || config_.driver == Driver::af_xdp;
  if (!existing) return {};
  Result<netdev::Rtnetlink> net = netdev::Rtnetlink::open(ns);
  if (!net.ok()) return net.error();
  const Result<netdev::InterfaceState> found = net->look(config_.target);
  if (!found.ok()) {
    return Error{found.error().code, found.error().message + " in " + ns.name() +
                                         "; make it first, or set `wait` to take it when it comes"};
  }
  index_ = found->index;
  if (config_.mtu != 0 && found->mtu != config_.mtu) {
    if (Status s = net->configure(config_.target, {.mtu = config_.mtu}); !s.ok()) return s;
  } else {
    mtu_ = found->mtu;
  }
  if (mtu_ > driver.max_mtu) {
    return Error{Error::Code::invalid_argument,
                 "interface '" + config_.target + "' has MTU " + std::to_string(mtu_) + ", " +
                     std::string(driver.name) + " carries at most " +
                     std::to_string(driver.max_mtu) + "; lower it or use af_packet"};
  }
  return {};
}

// af_packet copies a frame of up to 64 KiB into one buffer, af_xdp shares a pool's memory with the
// kernel: each has a pool of its own, and lets go of its buffers at once.
Status EthdevPort::make_pool() {
  copy_in_ = false;
  if (config_.driver != Driver::af_packet && config_.driver != Driver::af_xdp) return {};
  unsigned buffers = 128, room = kRingBuffer;
  if (config_.driver == Driver::af_xdp) {
    // A buffer with all its headers is a page at most: 3,072 + Ethernet + tags and some.
    buffers = 8191;
    room = 3328;
  }
  copy_in_ = true;
  char name[RTE_MEMPOOL_NAMESIZE];
  std::snprintf(name, sizeof name, "io%p", static_cast<void*>(this));  // as unique as we are
  const auto data = static_cast<std::uint16_t>(room + RTE_PKTMBUF_HEADROOM);
  const auto element = static_cast<unsigned>(sizeof(Packet)) + data;
  // Without gaps at page borders: the af_xdp driver tells the kernel of count times size bytes, and
  // what lies behind that is lost to it, packet by packet.
  own_pool_.reset(rte_mempool_create_empty(name, buffers, element, 0,
                                           sizeof(rte_pktmbuf_pool_private), SOCKET_ID_ANY,
                                           RTE_MEMPOOL_F_NO_IOVA_CONTIG));
  rte_pktmbuf_pool_private about{};
  about.mbuf_data_room_size = data;
  about.mbuf_priv_size = sizeof(PacketMeta);
  if (own_pool_ == nullptr ||
      rte_mempool_set_ops_byname(own_pool_.get(), rte_mbuf_best_mempool_ops(), nullptr) != 0 ||
      (rte_pktmbuf_pool_init(own_pool_.get(), &about),
       rte_mempool_populate_default(own_pool_.get())) < 0) {
    own_pool_.reset();
    return Error{Error::Code::resource_exhausted,
                 std::string(to_string(config_.driver)) + " port " + config_.target +
                     ": no memory for " + std::to_string(buffers) + " buffers of " +
                     std::to_string(element) +
                     " bytes; give the process more (EAL -m), or use fewer such ports"};
  }
  rte_mempool_obj_iter(own_pool_.get(), rte_pktmbuf_init, nullptr);
  return {};
}

Status EthdevPort::probe(const netdev::Namespace& ns) {
  const std::string label = std::string(to_string(config_.driver)) + " port " + config_.target;
  unsigned taken = 0;
  for (std::uint16_t p = 0; p < RTE_MAX_ETHPORTS; ++p)
    taken += rte_eth_dev_is_valid_port(p) != 0 ? 1 : 0;
  if (taken >= RTE_MAX_ETHPORTS) {
    return Error{
        Error::Code::resource_exhausted,
        label + ": this DPDK has room for " + std::to_string(RTE_MAX_ETHPORTS) +
            " ports in a process and all are in use; hosts of a fabric in a box (tap) need none"};
  }
  if (config_.driver == Driver::virtio_user && !config_.server &&
      !std::filesystem::exists(config_.target)) {
    return Error{Error::Code::not_found,
                 label + ": there is no socket; start the vhost side first, or set `wait`"};
  }
  if (config_.driver == Driver::pci) {
    if (Status s = pci_device_ready(config_.target); !s.ok()) {
      return Error{s.error().code, label + ": " + s.error().message};
    }
  }
  (void)eal_.take_log();
  int error = 0;
  if (config_.driver == Driver::pci) {
    device_ = config_.target;
    error = rte_eal_hotplug_add("pci", device_.c_str(), config_.args.c_str());
  } else {
    for (unsigned i = 0;; ++i) {  // the first free name
      device_ = std::string(info_of(config_.driver).prefix) + std::to_string(i);
      std::uint16_t id;
      if (rte_eth_dev_get_port_by_name(device_.c_str(), &id) != 0) break;
    }
    error = rte_eal_hotplug_add("vdev", device_.c_str(), device_args().c_str());
  }
  Status status;
  if (error != 0 || rte_eth_dev_get_port_by_name(device_.c_str(), &port_id_) != 0) {
    status = Error{Error::Code::unavailable, label + ": cannot open it: " + rte_strerror(-error)};
  } else {
    status = start(ns);
    if (!status.ok()) status = Error{status.error().code, label + ": " + status.error().message};
  }
  if (!status.ok()) {
    std::string text = status.error().message;
    for (const std::string& line : eal_.take_log()) text += "; " + line;
    if (error == 0) close_device();
    device_.clear();
    return Error{status.error().code, std::move(text)};
  }
  if (config_.driver == Driver::pci) {
    removal_ = std::make_unique<RemovalWatch>(device_, [this] {
      leaving_.store(true, std::memory_order_release);
      const std::lock_guard lock(mutex_);
      news_ = true;
      changed_.notify_all();
    });
  }
  return {};
}

Status EthdevPort::start(const netdev::Namespace&) {
  const auto failed = [](const char* what, int error) {
    return Error{error == -ENOMEM || error == -ENOSPC ? Error::Code::resource_exhausted
                                                      : Error::Code::unavailable,
                 std::string("cannot ") + what + ": " + rte_strerror(-error)};
  };
  rte_eth_dev_info info{};
  if (const int e = rte_eth_dev_info_get(port_id_, &info); e != 0)
    return failed("ask what it can do", e);
  rte_eth_conf conf{};
  // Interfaces have their MTU already (check_mtu), and drivers made of software (memif) deny that
  // more than 1500 works, but carry chains of any length.
  if (config_.driver == Driver::pci || config_.driver == Driver::virtio_user) {
    if (info.max_mtu != 0 && mtu_ > info.max_mtu) {
      return Error{Error::Code::invalid_argument,
                   "MTU " + std::to_string(mtu_) + " is not possible, the device carries at most " +
                       std::to_string(info.max_mtu)};
    }
    conf.rxmode.mtu = mtu_;
    if (mtu_ + kRoomForHeaders > pool_.data_room())
      conf.rxmode.offloads |= info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
  }
  conf.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
  // pcap and null take chains without saying so.
  multi_segments_ =
      conf.txmode.offloads != 0 || config_.driver == Driver::pcap || config_.driver == Driver::null;
  if (const int e = rte_eth_dev_configure(port_id_, 1, 1, &conf); e != 0)
    return failed("configure it", e);
  std::uint16_t rx = static_cast<std::uint16_t>(config_.queue), tx = rx;
  (void)rte_eth_dev_adjust_nb_rx_tx_desc(port_id_, &rx, &tx);
  rte_mempool* pool = own_pool_ ? own_pool_.get() : pool_.raw();
  if (const int e = rte_eth_rx_queue_setup(port_id_, 0, rx, SOCKET_ID_ANY, nullptr, pool); e != 0) {
    return failed("set up its receive queue", e);
  }
  if (const int e = rte_eth_tx_queue_setup(port_id_, 0, tx, SOCKET_ID_ANY, nullptr); e != 0) {
    return failed("set up its transmit queue", e);
  }
  if (const int e = rte_eth_dev_start(port_id_); e != 0) return failed("start it", e);
  (void)rte_eth_promiscuous_enable(port_id_);
  seen_ = {};
  if (config_.driver == Driver::af_packet) tune_socket();
  // A second port of the same socket finds it named already.
  if (config_.driver == Driver::memif && config_.server &&
      std::rename(aside(config_.target).c_str(), config_.target.c_str()) != 0 && errno != ENOENT) {
    return failed("name its socket", -errno);
  }
  return {};
}

// The driver's packet socket would also hand us what this end's own kernel stack sends; and only
// the socket knows how many frames the ring had no room for.
void EthdevPort::tune_socket() {
  socket_ = -1;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", ignored)) {
    const int fd = std::stoi(entry.path().filename());
    sockaddr_ll local{};
    socklen_t length = sizeof local;
    int type = 0, version = -1, on = 1;
    socklen_t int_length = sizeof type;
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&local), &length) != 0 ||
        local.sll_family != AF_PACKET || local.sll_ifindex != index_ ||
        getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &int_length) != 0) {
      continue;
    }
    int_length = sizeof version;
    if (getsockopt(fd, SOL_PACKET, PACKET_VERSION, &version, &int_length) != 0 ||
        version != TPACKET_V2)
      continue;
    socket_ = fd;  // the newest has the highest number, mostly; all of this interface are alike
    setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on);
  }
}

void EthdevPort::collect_statistics() {
  rte_eth_stats stats{};
  if (rte_eth_stats_get(port_id_, &stats) == 0) {
    const std::uint64_t now[3] = {stats.imissed, stats.rx_nombuf, stats.oerrors};
    for (unsigned i = 0; i < 3; ++i) {
      if (now[i] > seen_[i]) drops_[driver_missed + i].add(now[i] - seen_[i]);
      seen_[i] = now[i];
    }
  }
  tpacket_stats ring{};
  socklen_t length = sizeof ring;
  if (socket_ >= 0 && getsockopt(socket_, SOL_PACKET, PACKET_STATISTICS, &ring, &length) == 0) {
    drops_[kernel_full].add(ring.tp_drops);
  }
}

void EthdevPort::stop_traffic() {
  up_.store(false, std::memory_order_release);
  open_.store(false, std::memory_order_relaxed);
  heavy_fence();
  // The worker is in a burst for microseconds at most.
  while (in_burst_.load(std::memory_order_acquire)) std::this_thread::yield();
}

void EthdevPort::close_device() {
  stop_traffic();
  removal_.reset();
  if (!device_.empty()) {
    rte_eth_dev_stop(port_id_);
    rte_eal_hotplug_remove(config_.driver == Driver::pci ? "pci" : "vdev", device_.c_str());
    if (config_.driver == Driver::memif && config_.server) unlink(config_.target.c_str());
    device_.clear();
    socket_ = -1;
  }
  own_pool_.reset();
}

void EthdevPort::give_back() {
  stop_traffic();
  // A driver may wait, in many naps of microseconds, for registers that are no more (e1000 under
  // UIO for its EEPROM); Linux makes each nap 50 us longer unless told.
  prctl(PR_SET_TIMERSLACK, 1UL);
  // Who told of it lets go of the device a moment later.
  const Deadline grace(Time::ms(100));
  grace.pause(Time::ms(100));
  const std::lock_guard device(eal_.device_mutex());
  close_device();
  leaving_.store(false, std::memory_order_relaxed);
  const std::lock_guard text(mutex_);
  why_closed_ = "pci port " + config_.target + ": the device is removed";
}

// A client whose driver does not connect again when its server has ended and another has come.
bool EthdevPort::loses_its_peer() const {
  return config_.wait && !config_.server && config_.driver == Driver::memif && !up();
}

// What the link is now.
void EthdevPort::look() {
  bool up = false;
  if (is_open()) {
    if (on_interface()) {
      up = watch_->up();
    } else {
      rte_eth_link link{};
      up = rte_eth_link_get_nowait(port_id_, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
    }
  }
  up_.store(up, std::memory_order_release);
}

void EthdevPort::attend() {
  // News of interfaces come by themselves; the links of other drivers are asked for.
  const auto period =
      on_interface() ? std::chrono::milliseconds(100) : std::chrono::milliseconds(2);
  constexpr unsigned kPatience = 500;  // of those: a handshake that a dying peer began never ends
  unsigned quiet = 0;
  std::unique_lock lock(mutex_);
  for (unsigned round = 0; !stop_; ++round) {
    changed_.wait_for(lock, period, [this] { return stop_ || news_; });
    if (stop_) return;
    news_ = false;
    lock.unlock();
    if (leaving_.load(std::memory_order_acquire)) give_back();
    if (is_open() && watch_ && config_.driver != Driver::tap && watch_->index() != index_) {
      const std::lock_guard device(eal_.device_mutex());
      close_device();  // the interface is gone, or another one has its name
    }
    const bool asked = !on_interface() && round % 50 != 0;
    const bool was_open = is_open();
    if (!is_open() && config_.wait && !asked) {
      const Status status = open();
      if (!status.ok()) {
        const std::lock_guard text(mutex_);
        why_closed_ = status.error().message;
      }
    }
    const bool was_up = up();
    look();
    quiet = up() || !was_open ? 0 : quiet + 1;
    if (is_open() && loses_its_peer() && (was_up || quiet > kPatience)) {
      const std::lock_guard device(eal_.device_mutex());
      close_device();
      quiet = 0;
    }
    if (is_open() && !asked) {
      const std::lock_guard device(eal_.device_mutex());
      collect_statistics();
    }
    lock.lock();
  }
}

}  // namespace frond::dpdk
