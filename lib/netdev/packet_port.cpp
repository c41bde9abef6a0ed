// SPDX-License-Identifier: BSD-3-Clause
#include "netdev/packet_port.hpp"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace frond::netdev {
namespace {

constexpr std::array<DropInfo, PacketPort::kDropCount> kDrops = {{
    {"packet_truncated", "frame shorter than an Ethernet header, or longer than 64 KiB"},
    {"packet_malformed", "the kernel asks for an offload that the frame does not allow"},
    {"packet_no_buffer", "no packet buffer for what the interface received"},
    {"packet_elided", "payload of a virtual-time packet cannot go to a real interface"},
    {"packet_gone", "the interface is down or removed"},
    {"packet_too_long", "frame longer than the interface's MTU"},
    {"packet_refused", "the kernel refused the frame"},
}};

Status open_socket(const std::string& interface, int index, int& fd) {
  fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    const bool denied = errno == EPERM;
    return Error{denied ? Error::Code::permission_denied : Error::Code::internal,
                 "interface '" + interface +
                     "': cannot open a packet socket: " + std::strerror(errno) +
                     (denied ? "; CAP_NET_RAW in that namespace is needed" : "")};
  }
  const int on = 1;
  const int buffer = 4 << 20;  // some milliseconds at 10 Gb/s
  setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &buffer, sizeof buffer);
  setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &buffer, sizeof buffer);
  // What the kernel's own stack sends out of this end is not received.
  setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on);
  setsockopt(fd, SOL_PACKET, PACKET_QDISC_BYPASS, &on, sizeof on);
  sockaddr_ll local{};
  local.sll_family = AF_PACKET;
  local.sll_protocol = htons(ETH_P_ALL);
  local.sll_ifindex = index;
  packet_mreq promiscuous{};
  promiscuous.mr_ifindex = index;
  promiscuous.mr_type = PACKET_MR_PROMISC;
  if (setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof on) != 0 ||
      setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof on) != 0 ||
      setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous, sizeof promiscuous) != 0 ||
      bind(fd, reinterpret_cast<sockaddr*>(&local), sizeof local) != 0) {
    return Error{Error::Code::internal,
                 "interface '" + interface + "': cannot open it: " + std::strerror(errno)};
  }
  return {};
}

}  // namespace

PacketPort::PacketPort(const std::string& interface, const Namespace& ns, PacketPool& pool,
                       LinkMonitor& monitor, ReadySet* ready)
    : intake_(pool), monitor_(monitor), ready_set_(ready) {
  Result<std::shared_ptr<const LinkWatch>> watch = monitor.watch(ns, interface);
  if (!watch.ok()) throw StartError(watch.error().message);
  watch_ = *watch;
  index_ = watch_->index();
  Status status;
  if (index_ == 0) {
    status =
        Error{Error::Code::not_found, "there is no interface '" + interface + "' in " + ns.name()};
  } else {
    status = ns.run([&] { return open_socket(interface, index_, fd_); });
  }
  if (!status.ok()) {
    monitor_.unwatch(watch_);
    if (fd_ >= 0) close(fd_);
    throw StartError(status.error().message);
  }
  if (ready_set_ != nullptr) ready_set_->add(fd_, &readable_);
}

PacketPort::~PacketPort() {
  monitor_.unwatch(watch_);
  if (ready_set_ != nullptr) ready_set_->remove(fd_);
  close(fd_);
}

std::span<const DropInfo> PacketPort::drop_info() const { return kDrops; }

unsigned PacketPort::receive(Time now, Batch& batch) {
  const unsigned before = batch.size();
  intake_.drain(now, batch);
  if (ready_set_ != nullptr) {
    ready_set_->poll(now);
    if (!readable_) return batch.size() - before;
  }
  VnetHeader header;
  iovec pieces[2];
  unsigned errors = 0;
  while (!batch.full() && intake_.prepare(pieces)) {
    iovec read_into[3] = {{&header, sizeof header}, pieces[0], pieces[1]};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(tpacket_auxdata))];
    msghdr message{};
    message.msg_iov = read_into;
    message.msg_iovlen = 3;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t n = recvmsg(fd_, &message, MSG_TRUNC);
    if (n < static_cast<ssize_t>(sizeof header)) {
      // An error of the interface (ENETDOWN) is told once; frames may still wait behind it. EINVAL:
      // a frame whose offload a virtio_net_hdr cannot express.
      if (n >= 0 || errno == EINVAL) ++drops_[malformed];
      if ((n < 0 && errno == EAGAIN) || ++errors > Batch::kCapacity) {
        readable_ = false;
        break;
      }
      continue;
    }
    VnetIntake::Tag tag{};
    bool tagged = false;
    if (const cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr && c->cmsg_level == SOL_PACKET) {
      tpacket_auxdata aux;
      std::memcpy(&aux, CMSG_DATA(c), sizeof aux);
      tagged = (aux.tp_status & TP_STATUS_VLAN_VALID) != 0;
      const bool typed = (aux.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0;
      tag = {typed ? aux.tp_vlan_tpid : static_cast<std::uint16_t>(ETH_P_8021Q), aux.tp_vlan_tci};
    }
    switch (intake_.accept(static_cast<std::uint32_t>(n - static_cast<ssize_t>(sizeof header)),
                           header, tagged ? &tag : nullptr)) {
      case VnetIntake::Outcome::taken:
        break;
      case VnetIntake::Outcome::truncated:
        ++drops_[truncated];
        break;
      case VnetIntake::Outcome::malformed:
        ++drops_[malformed];
        break;
      case VnetIntake::Outcome::no_buffer:
        ++drops_[no_buffer];
        break;
    }
    intake_.drain(now, batch);
  }
  intake_.give_up();
  return batch.size() - before;
}

// False: not now. Everything else is done with the packet, one way or the other.
bool PacketPort::send(const Packet& packet) {
  if (packet.meta().elided != 0) {
    ++drops_[elided];
    return true;
  }
  constexpr unsigned kMostSegments = 64;
  VnetHeader header{};  // complete checksums, nothing to cut
  iovec pieces[1 + kMostSegments];
  pieces[0] = {&header, sizeof header};
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
    case ENOBUFS:  // the interface's queue is full
      return false;
    case ENETDOWN:
    case ENXIO:
    case ENODEV:
      ++drops_[gone];
      return true;
    case EMSGSIZE:
      ++drops_[too_long];
      return true;
    default:
      ++drops_[refused];
      return true;
  }
}

unsigned PacketPort::transmit(Time, Batch& batch) {
  unsigned done = 0;
  while (done < batch.size() && send(*batch[done])) batch[done++]->free();
  batch.drop_front(done);
  return done;
}

}  // namespace frond::netdev
