// SPDX-License-Identifier: BSD-3-Clause
// Fabric: a running fabric as management sees it. The fabric implements it; the gNMI server, the
// frond service and their tests are its only callers. No gRPC type appears here.
//
// Every method may be called from any thread, at the same time as any other, and none waits for
// the data path longer than one of its rounds. Values are copies: nothing points into the fabric.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/address.hpp"
#include "base/rate.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace frond::management {

// A point on the wall clock: nanoseconds since 1970, as gNMI counts time.
using UnixTime = Time;

struct FabricInfo {
  std::string name;
  std::string mode;         // "emulated" (wall clock) or "simulated" (virtual clock)
  std::string version;      // of frond
  std::string dpdk;         // of DPDK
  std::string config_file;  // as the user named it
  std::string fidelity;     // one phrase: "not CPU-bound", or what was lost and why
  std::int32_t pid = 0;
  UnixTime now;  // the fabric's idea of the wall clock, at this call
  UnixTime started;
  std::uint64_t seed = 0;
  unsigned workers = 0;
  double busy = 0;  // of the workers' time since the start, 0..1
  Time lost;        // rebased by serialisers so far (engine/serialiser.hpp)
};

// Octets count the FCS (RFC 2863); each field is the OpenConfig leaf of the same name.
struct InterfaceCounters {
  std::uint64_t in_octets = 0, in_pkts = 0, in_unicast_pkts = 0, in_broadcast_pkts = 0,
                in_multicast_pkts = 0, in_errors = 0, in_discards = 0, in_fcs_errors = 0;
  std::uint64_t out_octets = 0, out_pkts = 0, out_unicast_pkts = 0, out_broadcast_pkts = 0,
                out_multicast_pkts = 0, out_errors = 0, out_discards = 0;
  std::uint64_t carrier_transitions = 0;
};

// A drop's name and how often it happened.
struct Drop {
  std::string stage;   // of the pipeline, "queue", or "port" for what the medium refused
  std::string reason;  // <proto>_<reason>
  bool egress = false;
  std::uint64_t packets = 0;
};

struct Interface {
  std::string name;  // within its node: "p1", "eth0"
  std::uint32_t index = 0;
  bool admin_up = true;
  bool oper_up = false;
  std::string down_reason;  // "" when up; else "admin", "carrier", "bfd"
  std::uint32_t mtu = 0;    // IP MTU
  Rate speed;
  MacAddress mac;
  std::vector<IpPrefix> addresses;
  UnixTime last_change;           // of oper_up
  UnixTime last_clear;            // counters started from 0 here
  std::string peer;               // "spine1:p3", or "" when nothing is attached
  std::string attachment;         // "wire", "tap", "veth (af_packet)", ...
  std::uint64_t queue_bytes = 0;  // now
  std::uint64_t queue_limit = 0;
  InterfaceCounters counters;
  std::vector<Drop> drops;  // those that ever happened here
};

struct Node {
  enum class Kind : std::uint8_t { network_switch, host };
  std::string name;
  Kind kind = Kind::network_switch;
  std::string role;   // "leaf", "spine", "core", ...; "host"
  std::string netns;  // of a host: the namespace to enter; "" otherwise
  std::vector<Interface> interfaces;
};

// What a direction of a link does to frames. Probabilities are 0..1 and independent.
struct Impairment {
  double loss = 0;
  double corrupt = 0;  // one bit of the frame flips
  double duplicate = 0;
  double reorder = 0;  // such a frame is late by reorder_delay, and others overtake it
  Time reorder_delay = Time::ms(1);
  Time delay;              // on top of the link's own
  Time jitter;             // uniform in +-jitter
  bool silent = false;     // everything is lost, and carrier stays up
  std::uint64_t seed = 0;  // 0: derived from the fabric's
  bool operator==(const Impairment&) const = default;
};

struct LinkEnd {
  std::string node;
  std::string port;
  Impairment out;  // of the direction that leaves this end
};

struct Link {
  LinkEnd a, b;
  bool up = false;  // both ends are
  Rate rate;
  Time delay;
  bool impairable = true;  // a Wire or a tap is; somebody else's cable is not
};

struct Neighbor {
  std::string node;
  std::string port;
  IpAddress address;
  MacAddress mac;
  std::string state;  // "reachable", "incomplete", "stale", "static", ...
  Time age;           // since it was last confirmed
};

// Something that happened. Sequences start at 1 and have no gaps.
struct Event {
  std::uint64_t sequence = 0;
  UnixTime time;
  std::string kind;  // "link-up", "link-down", "apply", "impair", "shutdown", ...
  std::string node;
  std::string port;
  std::string mechanism;  // of link events: "admin", "carrier", "bfd"
  Time detection;         // link-down by bfd: since the last packet that was heard
  std::string text;       // one sentence for people
};

// Something to say about a place in a configuration file.
struct Diagnostic {
  enum class Severity : std::uint8_t { error, warning };
  Severity severity = Severity::error;
  std::string file;
  unsigned line = 0;  // from 1; 0: the file as a whole
  unsigned column = 0;
  std::string message;  // what is wrong and what was probably meant
};

struct ApplyReport {
  bool valid = false;                // no errors among the diagnostics
  bool applied = false;              // false for a dry run or when invalid
  std::vector<std::string> changes;  // "+ link leaf1:p3 -- spine1:p3", "~ leaf1:p1 rate 10G -> 25G"
  std::vector<Diagnostic> diagnostics;
};

// An imaginary packet. What is not given follows from the hosts.
struct TraceRequest {
  std::string from;  // a host, or "node:port" where the packet comes in
  std::string to;    // a host; may be empty when dst or frame is given
  std::optional<IpAddress> src, dst;
  bool ipv6 = false;  // which addresses of the hosts to use
  std::uint8_t protocol = 17;
  std::uint16_t sport = 49152, dport = 4791;
  std::uint8_t dscp = 0;
  std::uint8_t ttl = 64;
  std::uint32_t size = 64;          // of the frame, without FCS
  std::vector<std::uint8_t> frame;  // if not empty: this very frame, and only `from` counts
};

struct TraceLine {
  std::string stage;  // "parse", "route", ..., "in", "out"
  std::string text;   // what it decided and why, as it is shown: "route    10.0.4.0/24 -> ecmp 2"
};

struct TraceHop {
  std::string node;
  std::string in_port;
  std::string out_port;  // "" when it ended here
  std::string verdict;   // "forward", "deliver", "punt", or the drop's name
  std::string stage;     // that gave the verdict, unless it was forwarded
  std::vector<TraceLine> lines;
};

struct TraceReport {
  bool delivered = false;
  std::string outcome;  // "delivered to h8", "dropped at leaf1: route ip_no_route"
  std::vector<TraceHop> hops;
};

struct CaptureRequest {
  std::string node;            // "" with port "": the whole fabric
  std::string port;            // "": all ports of the node
  std::uint32_t snap = 65535;  // bytes of each frame to keep
  bool drops = true;           // dropped packets too
};

struct CapturedFrame {
  enum class Direction : std::uint8_t { in, out, drop };
  UnixTime time;
  std::string interface;  // "leaf1:p1"
  Direction direction = Direction::in;
  std::uint32_t wire_length = 0;
  std::string comment;  // of a dropped packet "<stage> <reason>"
  std::vector<std::uint8_t> bytes;
};

// A capture that runs until it is destroyed. One reader.
class Capture {
 public:
  virtual ~Capture() = default;
  // Appends what was captured, waiting at most `timeout` for the first frame. An error ends it
  // (its port is gone).
  virtual Status read(std::vector<CapturedFrame>& frames, Time timeout) = 0;
  virtual std::uint64_t lost() const = 0;  // frames that the reader was too slow for
};

class Fabric {
 public:
  virtual ~Fabric() = default;

  virtual FabricInfo info() const = 0;
  virtual std::vector<Node> nodes() const = 0;  // with interfaces, counters and drops
  virtual std::vector<Link> links() const = 0;
  virtual std::vector<Neighbor> neighbors(const std::string& node) const = 0;  // "": of all

  // Events after `after`, waiting at most `timeout` for the first. 0: from the oldest kept.
  virtual std::vector<Event> events(std::uint64_t after, Time timeout) const = 0;
  virtual std::uint64_t last_event() const = 0;

  // At one end of a link; both ends lose or get carrier.
  virtual Status set_link_admin(const std::string& node, const std::string& port, bool up) = 0;

  // Of the direction that leaves this end; the other direction is the other end's.
  virtual Status set_impairment(const std::string& node, const std::string& port,
                                const Impairment& impairment) = 0;

  // An invalid file is a report with errors, not an Error. `file` is for diagnostics.
  virtual Result<ApplyReport> apply(const std::string& yaml, const std::string& file,
                                    bool dry_run) = 0;
  virtual Result<TraceReport> trace(const TraceRequest& request) const = 0;
  virtual Result<std::unique_ptr<Capture>> capture(const CaptureRequest& request) = 0;

  // A picture with the links' present state: "text", "dot", "svg", "html" or "mermaid".
  virtual Result<std::string> graph(const std::string& format) const = 0;

  // Asks the fabric to end; returns at once.
  virtual void shutdown() = 0;
};

}  // namespace frond::management
