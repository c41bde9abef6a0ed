// SPDX-License-Identifier: BSD-3-Clause
// The peer of `bench sim`: ns-3 on the same leaf-spine, with the same rates, load and packet size.
//
// Made as fast as ns-3 lets it be: no queueing discipline above the devices, no trace that nobody
// reads, bare sockets instead of UdpClient (which formats strings for its log), and by default
// (--routing=table) a routing protocol that finds the next hop by arithmetic, with a per-flow hash
// over the spines. --routing=global is ns-3's own Ipv4GlobalRouting with RandomEcmpRouting, which
// walks lists that grow with the network.
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

namespace {

struct Options {
  uint32_t leaves = 4;
  uint32_t spines = 4;
  uint32_t hosts = 4;  // a leaf
  double hostGbps = 25;
  double linkGbps = 100;
  uint32_t delayNs = 500;
  uint32_t packet = 1024;  // bytes of the IP datagram
  double load = 0.5;       // of the host's line
  double microseconds = 1000;
  std::string routing = "table";
  std::string scheduler = "ns3::MapScheduler";
};

constexpr uint16_t kPort = 5001;
constexpr uint32_t kHeaders = 28;  // IPv4 and UDP

// Addresses that say where they are: host n (from 0) of leaf l (from 1) is 10.l.hi.lo, where
// hi.lo = 4n + 2 on the /30 of its link; the leaf's side is 4n + 1.
ns3::Ipv4Address HostAddress(uint32_t leaf, uint32_t host) {
  return ns3::Ipv4Address(10U << 24 | (leaf + 1) << 16 | (4 * host + 2));
}

// A switch's or host's routes, by arithmetic on those addresses.
class LeafSpineRouting : public ns3::Ipv4RoutingProtocol {
 public:
  enum class Role { host, leaf, spine };

  LeafSpineRouting(Role role, uint32_t index, const Options& options)
      : role_(role), index_(index), hosts_(options.hosts), spines_(options.spines) {}

  // One route a port, in the order: host: its link; leaf: hosts, then spines; spine: leaves.
  void AddPort(ns3::Ptr<ns3::NetDevice> device, ns3::Ipv4Address gateway, ns3::Ipv4Address own) {
    ns3::Ptr<ns3::Ipv4Route> route = ns3::Create<ns3::Ipv4Route>();
    route->SetGateway(gateway);
    route->SetSource(own);
    route->SetOutputDevice(device);
    routes_.push_back(route);
  }

  ns3::Ptr<ns3::Ipv4Route> RouteOutput(ns3::Ptr<ns3::Packet> packet, const ns3::Ipv4Header& header,
                                       ns3::Ptr<ns3::NetDevice>,
                                       ns3::Socket::SocketErrno& error) override {
    error = ns3::Socket::ERROR_NOTERROR;
    return Find(header, packet);
  }

  bool RouteInput(ns3::Ptr<const ns3::Packet> packet, const ns3::Ipv4Header& header,
                  ns3::Ptr<const ns3::NetDevice> device, UnicastForwardCallback forward,
                  MulticastForwardCallback, LocalDeliverCallback deliver, ErrorCallback) override {
    if (role_ == Role::host) {
      deliver(packet, header, ipv4_->GetInterfaceForDevice(device));
    } else {
      forward(Find(header, packet), packet, header);
    }
    return true;
  }

  void NotifyInterfaceUp(uint32_t) override {}
  void NotifyInterfaceDown(uint32_t) override {}
  void NotifyAddAddress(uint32_t, ns3::Ipv4InterfaceAddress) override {}
  void NotifyRemoveAddress(uint32_t, ns3::Ipv4InterfaceAddress) override {}
  void SetIpv4(ns3::Ptr<ns3::Ipv4> ipv4) override { ipv4_ = ipv4; }
  void PrintRoutingTable(ns3::Ptr<ns3::OutputStreamWrapper>, ns3::Time::Unit) const override {}

 private:
  ns3::Ptr<ns3::Ipv4Route> Find(const ns3::Ipv4Header& header,
                                ns3::Ptr<const ns3::Packet> packet) const {
    if (role_ == Role::host) return routes_[0];
    const uint32_t destination = header.GetDestination().Get();
    const uint32_t leaf = (destination >> 16 & 0xff) - 1;
    if (role_ == Role::spine) return routes_[leaf];
    if (leaf == index_) return routes_[((destination & 0xffff) - 2) / 4];
    return routes_[hosts_ + FlowHash(header, packet) % spines_];
  }

  // Over addresses, protocol and ports, with a seed a switch.
  uint32_t FlowHash(const ns3::Ipv4Header& header, ns3::Ptr<const ns3::Packet> packet) const {
    uint8_t ports[4] = {};
    packet->CopyData(ports, sizeof ports);  // the IPv4 header is off already
    uint64_t hash = 0x9e3779b97f4a7c15ULL * (index_ + 1);
    const auto mix = [&](uint32_t word) {
      hash = (hash ^ word) * 0xff51afd7ed558ccdULL;
      hash ^= hash >> 32;
    };
    mix(header.GetSource().Get());
    mix(header.GetDestination().Get());
    mix(header.GetProtocol());
    mix(uint32_t{ports[0]} << 24 | uint32_t{ports[1]} << 16 | uint32_t{ports[2]} << 8 | ports[3]);
    return static_cast<uint32_t>(hash >> 16);
  }

  Role role_;
  uint32_t index_;
  uint32_t hosts_;
  uint32_t spines_;
  std::vector<ns3::Ptr<ns3::Ipv4Route>> routes_;
  ns3::Ptr<ns3::Ipv4> ipv4_;
};

// Constant rate over a connected UDP socket.
class Source {
 public:
  Source(ns3::Ptr<ns3::Node> node, ns3::Ipv4Address to, uint32_t payload, ns3::Time interval,
         ns3::Time start)
      : socket_(ns3::Socket::CreateSocket(node, ns3::UdpSocketFactory::GetTypeId())),
        payload_(payload),
        interval_(interval) {
    socket_->Bind();
    socket_->Connect(ns3::InetSocketAddress(to, kPort));
    socket_->ShutdownRecv();
    ns3::Simulator::ScheduleWithContext(node->GetId(), start, &Source::Send, this);
  }
  uint64_t sent() const { return sent_; }

 private:
  void Send() {
    if (socket_->Send(ns3::Create<ns3::Packet>(payload_)) >= 0) ++sent_;
    ns3::Simulator::Schedule(interval_, &Source::Send, this);
  }

  ns3::Ptr<ns3::Socket> socket_;
  uint32_t payload_;
  ns3::Time interval_;
  uint64_t sent_ = 0;
};

class Network {
 public:
  explicit Network(const Options& options) : options_(options) {
    hosts_.Create(options.leaves * options.hosts);
    leaves_.Create(options.leaves);
    spines_.Create(options.spines);
    Install();
    Connect();
  }

  void Run() {
    const uint32_t count = hosts_.GetN();
    const double interval = options_.packet * 8.0 / (options_.load * options_.hostGbps);  // ns
    for (uint32_t i = 0; i < count; ++i) {
      ns3::Ptr<ns3::Socket> sink =
          ns3::Socket::CreateSocket(hosts_.Get(i), ns3::UdpSocketFactory::GetTypeId());
      sink->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), kPort));
      sink->SetRecvCallback(ns3::MakeCallback(&Network::Receive, this));
      // A permutation without fixed points, always to another leaf.
      const uint32_t to = (i + options_.hosts) % count;
      sources_.emplace_back(std::make_unique<Source>(
          hosts_.Get(i), HostAddress(to / options_.hosts, to % options_.hosts),
          options_.packet - kHeaders, ns3::NanoSeconds(static_cast<uint64_t>(interval)),
          ns3::NanoSeconds(static_cast<uint64_t>(interval * i / count))));
    }
    ns3::Simulator::Stop(ns3::NanoSeconds(static_cast<uint64_t>(options_.microseconds * 1000)));
    ns3::Simulator::Run();
    Report();
    ns3::Simulator::Destroy();
  }

 private:
  using Role = LeafSpineRouting::Role;

  void Install() {
    ns3::InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    if (options_.routing == "global") {
      ns3::Config::SetDefault("ns3::Ipv4GlobalRouting::RandomEcmpRouting", ns3::BooleanValue(true));
      ns3::Ipv4GlobalRoutingHelper global;
      stack.SetRoutingHelper(global);
      stack.InstallAll();
    } else {
      stack.InstallAll();
      for (uint32_t i = 0; i < hosts_.GetN(); ++i) SetRouting(hosts_.Get(i), Role::host, i);
      for (uint32_t i = 0; i < leaves_.GetN(); ++i) SetRouting(leaves_.Get(i), Role::leaf, i);
      for (uint32_t i = 0; i < spines_.GetN(); ++i) SetRouting(spines_.Get(i), Role::spine, i);
    }
    for (const ns3::NodeContainer& tier : {leaves_, spines_}) {
      for (auto node = tier.Begin(); node != tier.End(); ++node) {
        (*node)->GetObject<ns3::Ipv4L3Protocol>()->TraceConnectWithoutContext(
            "UnicastForward", ns3::MakeCallback(&Network::CountForward, this));
      }
    }
  }

  void SetRouting(ns3::Ptr<ns3::Node> node, Role role, uint32_t index) {
    node->GetObject<ns3::Ipv4>()->SetRoutingProtocol(
        ns3::Create<LeafSpineRouting>(role, index, options_));
  }

  void Connect() {
    for (uint32_t leaf = 0; leaf < options_.leaves; ++leaf) {
      for (uint32_t host = 0; host < options_.hosts; ++host) {
        const uint32_t own = HostAddress(leaf, host).Get();
        Link(leaves_.Get(leaf), hosts_.Get(leaf * options_.hosts + host), options_.hostGbps,
             ns3::Ipv4Address(own - 1), ns3::Ipv4Address(own));
      }
    }
    uint32_t net = 172U << 24 | 16U << 16;
    for (uint32_t leaf = 0; leaf < options_.leaves; ++leaf) {
      for (uint32_t spine = 0; spine < options_.spines; ++spine, net += 4) {
        Link(leaves_.Get(leaf), spines_.Get(spine), options_.linkGbps, ns3::Ipv4Address(net + 1),
             ns3::Ipv4Address(net + 2));
      }
    }
    if (options_.routing == "global") ns3::Ipv4GlobalRoutingHelper::PopulateRoutingTables();
  }

  void Link(ns3::Ptr<ns3::Node> a, ns3::Ptr<ns3::Node> b, double gbps, ns3::Ipv4Address addressA,
            ns3::Ipv4Address addressB) {
    ns3::PointToPointHelper helper;
    helper.SetDeviceAttribute("DataRate",
                              ns3::DataRateValue(ns3::DataRate(static_cast<uint64_t>(gbps * 1e9))));
    helper.SetChannelAttribute("Delay", ns3::TimeValue(ns3::NanoSeconds(options_.delayNs)));
    helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", ns3::StringValue("1MB"));
    const ns3::NetDeviceContainer devices = helper.Install(a, b);
    AddAddress(a, devices.Get(0), addressA, addressB);
    AddAddress(b, devices.Get(1), addressB, addressA);
  }

  void AddAddress(ns3::Ptr<ns3::Node> node, ns3::Ptr<ns3::NetDevice> device, ns3::Ipv4Address own,
                  ns3::Ipv4Address peer) {
    ns3::Ptr<ns3::Ipv4> ipv4 = node->GetObject<ns3::Ipv4>();
    const uint32_t interface = ipv4->AddInterface(device);
    ipv4->AddAddress(interface, ns3::Ipv4InterfaceAddress(own, ns3::Ipv4Mask("255.255.255.252")));
    ipv4->SetMetric(interface, 1);
    ipv4->SetUp(interface);
    auto routing = ns3::DynamicCast<LeafSpineRouting>(ipv4->GetRoutingProtocol());
    if (routing) routing->AddPort(device, peer, own);
  }

  void Receive(ns3::Ptr<ns3::Socket> socket) {
    while (socket->Recv()) ++delivered_;
  }

  void CountForward(const ns3::Ipv4Header&, ns3::Ptr<const ns3::Packet>, uint32_t) { ++forwarded_; }

  void Report() {
    uint64_t sent = 0;
    for (const auto& source : sources_) sent += source->sent();
    std::cout << "{\"hosts\": " << hosts_.GetN() << ", \"sent\": " << sent
              << ", \"delivered\": " << delivered_ << ", \"switch_hops\": " << forwarded_
              << ", \"events\": " << ns3::Simulator::GetEventCount() << "}" << std::endl;
  }

  Options options_;
  ns3::NodeContainer hosts_, leaves_, spines_;
  std::vector<std::unique_ptr<Source>> sources_;
  uint64_t delivered_ = 0;
  uint64_t forwarded_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  Options options;
  ns3::CommandLine command(__FILE__);
  command.AddValue("leaves", "leaves", options.leaves);
  command.AddValue("spines", "spines; each leaf has a link to each", options.spines);
  command.AddValue("hosts", "hosts a leaf", options.hosts);
  command.AddValue("host-gbps", "rate of a host's link, Gb/s", options.hostGbps);
  command.AddValue("link-gbps", "rate of a leaf-spine link, Gb/s", options.linkGbps);
  command.AddValue("delay-ns", "of every link, ns", options.delayNs);
  command.AddValue("packet", "bytes of the IP datagram", options.packet);
  command.AddValue("load", "offered by each host, share of its line", options.load);
  command.AddValue("microseconds", "virtual time", options.microseconds);
  command.AddValue("routing", "table | global", options.routing);
  command.AddValue("scheduler", "TypeId of the event queue", options.scheduler);
  command.Parse(argc, argv);
  if (options.leaves == 0 || options.leaves > 254 || options.spines == 0 || options.hosts == 0 ||
      options.hosts > 16000 || options.leaves * options.hosts < 2 || options.packet <= kHeaders) {
    std::cerr << "ns3_leaf_spine: sizes out of range" << std::endl;
    return 1;
  }
  ns3::GlobalValue::Bind("SchedulerType",
                         ns3::TypeIdValue(ns3::TypeId::LookupByName(options.scheduler)));
  Network(options).Run();
  return 0;
}
