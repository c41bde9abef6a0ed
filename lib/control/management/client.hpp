// SPDX-License-Identifier: BSD-3-Clause
// Client: a running fabric, seen through its management socket. Reads and settings are gNMI (origin
// "frond"); the rest is the frond service. No gRPC type appears here.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "control/management/fabric.hpp"

namespace frond::management {

class Client {
 public:
  // Fails at once when nobody listens.
  static Result<std::unique_ptr<Client>> connect(const std::string& socket);
  virtual ~Client() = default;

  virtual Result<FabricInfo> info() = 0;
  virtual Result<std::vector<Node>> nodes() = 0;
  virtual Result<std::vector<Link>> links() = 0;
  virtual Result<std::vector<Neighbor>> neighbors() = 0;
  // Cheap: for completion. "leaf1:p1", "h1:eth0", ...
  virtual Result<std::vector<std::string>> ports() = 0;

  // Any gNMI path as JSON text.
  virtual Result<std::string> get(const std::string& path) = 0;

  virtual Status set_link_admin(const std::string& node, const std::string& port, bool up) = 0;
  struct ImpairmentChange {
    std::string node, port;
    Impairment impairment;
  };
  virtual Status set_impairments(const std::vector<ImpairmentChange>& changes) = 0;  // all or none

  virtual Result<ApplyReport> apply(const std::string& yaml, const std::string& file,
                                    bool dry_run) = 0;
  virtual Result<TraceReport> trace(const TraceRequest& request) = 0;
  virtual Result<std::string> graph(const std::string& format) = 0;
  virtual Status shutdown() = 0;

  // Until the callback returns false, stop() from another thread or a signal handler's thread, or
  // the fabric ends (ok). The first call, with no frames, says that the capture runs.
  virtual Status capture(
      const CaptureRequest& request,
      const std::function<bool(std::vector<CapturedFrame>&, std::uint64_t lost)>& f) = 0;
  virtual Status events(std::uint64_t after, bool follow,
                        const std::function<bool(const Event&)>& f) = 0;
  virtual void stop() = 0;
};

}  // namespace frond::management
