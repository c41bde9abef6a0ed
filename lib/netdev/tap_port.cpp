// SPDX-License-Identifier: BSD-3-Clause
#include "netdev/tap_port.hpp"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "netdev/interface.hpp"

namespace frond::netdev {
namespace {

constexpr std::array<DropInfo, TapPort::kDropCount> kDrops = {{
    {"tap_truncated", "frame from the host shorter than an Ethernet header, or longer than 64 KiB"},
    {"tap_malformed", "the host's kernel asks for an offload that the frame does not allow"},
    {"tap_no_buffer", "no packet buffer for what the host sends"},
    {"tap_elided", "payload of a virtual-time packet cannot go to a real host"},
    {"tap_gone", "the host's interface is down or removed"},
    {"tap_refused", "the host's kernel refused the frame"},
}};

Status open_tap(const TapPort::Config& config, const Namespace& ns, int& fd) {
  const std::string name = "interface '" + config.interface + "' in " + ns.name();
  fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) {
    return Error{
        Error::Code::unavailable,
        name + ": cannot open /dev/net/tun: " + std::strerror(errno) +
            "; `modprobe tun`, and in a container give it the device (--device /dev/net/tun)"};
  }
  ifreq request{};
  std::memcpy(request.ifr_name, config.interface.data(), config.interface.size());
  request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
  if (ioctl(fd, TUNSETIFF, &request) != 0) {
    const int error = errno;
    if (error == EBUSY || error == EEXIST) {
      return Error{Error::Code::already_exists, name + " exists already and is in use"};
    }
    const bool denied = error == EPERM;
    return Error{denied ? Error::Code::permission_denied : Error::Code::internal,
                 name + ": cannot make it: " + std::strerror(error) +
                     (denied ? "; CAP_NET_ADMIN in that namespace is needed" : "")};
  }
  int header = sizeof(VnetHeader);
  // With offloads the host's TCP hands over up to 64 KiB a frame and no checksums.
  const unsigned long offloads =
      config.offloads ? TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN : 0;
  if (ioctl(fd, TUNSETVNETHDRSZ, &header) != 0 || ioctl(fd, TUNSETOFFLOAD, offloads) != 0) {
    return Error{Error::Code::unimplemented,
                 name + ": the kernel's tap has no offloads: " + std::strerror(errno)};
  }
  return {};
}

}  // namespace

TapPort::TapPort(const Config& config, const Namespace& ns, PacketPool& pool, LinkMonitor& monitor,
                 ReadySet* ready)
    : intake_(pool), monitor_(monitor), ready_set_(ready) {
  // Before the interface is there, so that no change is missed. It also checks the name.
  Result<std::shared_ptr<const LinkWatch>> watch = monitor.watch(ns, config.interface);
  if (!watch.ok()) throw StartError(watch.error().message);
  watch_ = *watch;
  Status status = ns.run([&] { return open_tap(config, ns, fd_); });
  if (status.ok()) {
    Result<Rtnetlink> net = Rtnetlink::open(ns);
    status = net.ok() ? net->configure(config.interface, {.mac = config.mac, .mtu = config.mtu})
                      : Status(net.error());
  }
  if (!status.ok()) {
    monitor_.unwatch(watch_);
    if (fd_ >= 0) close(fd_);
    throw StartError(status.error().message);
  }
  if (ready_set_ != nullptr) ready_set_->add(fd_, &readable_);
}

TapPort::~TapPort() {
  monitor_.unwatch(watch_);
  if (ready_set_ != nullptr) ready_set_->remove(fd_);
  close(fd_);
}

std::span<const DropInfo> TapPort::drop_info() const { return kDrops; }

Status TapPort::set_carrier(bool carrier) {
  int on = carrier ? 1 : 0;
  if (ioctl(fd_, TUNSETCARRIER, &on) == 0) return {};
  return Error{Error::Code::unavailable,
               std::string("cannot set the host's carrier: ") + std::strerror(errno)};
}

void TapPort::count(VnetIntake::Outcome outcome) {
  switch (outcome) {
    case VnetIntake::Outcome::taken:
      return;
    case VnetIntake::Outcome::truncated:
      return ++drops_[truncated];
    case VnetIntake::Outcome::malformed:
      return ++drops_[malformed];
    case VnetIntake::Outcome::no_buffer:
      return ++drops_[no_buffer];
  }
}

unsigned TapPort::receive(Time now, Batch& batch) {
  const unsigned before = batch.size();
  intake_.drain(now, batch);
  if (ready_set_ != nullptr) {
    ready_set_->poll(now);
    if (!readable_) return batch.size() - before;
  }
  VnetHeader header;
  iovec pieces[2];
  // With an empty pool frames stay in the kernel's queue, which has its own limit and counter.
  while (!batch.full() && intake_.prepare(pieces)) {
    const iovec read_into[3] = {{&header, sizeof header}, pieces[0], pieces[1]};
    const ssize_t n = readv(fd_, read_into, 3);
    if (n < static_cast<ssize_t>(sizeof header)) {  // EAGAIN, or EBADFD: the interface is gone
      readable_ = false;
      break;
    }
    count(intake_.accept(static_cast<std::uint32_t>(n - static_cast<ssize_t>(sizeof header)),
                         header));
    intake_.drain(now, batch);
  }
  intake_.give_up();
  return batch.size() - before;
}

// False: not now. Everything else is done with the packet, one way or the other.
bool TapPort::send(const Packet& packet) {
  if (packet.meta().elided != 0) {
    ++drops_[elided];
    return true;
  }
  constexpr unsigned kMostSegments = 64;
  const VnetHeader header{};  // complete checksums, nothing to cut
  iovec pieces[1 + kMostSegments];
  pieces[0] = {const_cast<VnetHeader*>(&header), sizeof header};
  unsigned n = 1;
  for (const rte_mbuf* m = packet.mbuf(); m != nullptr; m = m->next) {
    if (n > kMostSegments) {
      ++drops_[refused];
      return true;
    }
    pieces[n++] = {rte_pktmbuf_mtod(m, void*), m->data_len};
  }
  if (writev(fd_, pieces, static_cast<int>(n)) >= 0) return true;
  switch (errno) {
    case EAGAIN:
      return false;
    case EIO:     // set down by the host
    case EBADFD:  // removed, perhaps with its namespace
      ++drops_[gone];
      return true;
    case ENOMEM:
    case ENOBUFS:
      ++drops_[no_buffer];
      return true;
    default:
      ++drops_[refused];
      return true;
  }
}

unsigned TapPort::transmit(Time, Batch& batch) {
  unsigned done = 0;
  while (done < batch.size() && send(*batch[done])) batch[done++]->free();
  batch.drop_front(done);
  return done;
}

}  // namespace frond::netdev
