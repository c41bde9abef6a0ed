// SPDX-License-Identifier: BSD-3-Clause
// Server: gNMI and the frond service of one Fabric, over gRPC. On a Unix socket we accept
// ourselves, check who connects, and hand the descriptor to gRPC; TCP only when asked for.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "control/management/fabric.hpp"

namespace frond::management {

struct ServerOptions {
  std::string socket;           // path of the Unix socket
  std::optional<gid_t> group;   // may connect too; the socket is 0660 then
  int streams = 32;             // Subscribe, Capture and Events at the same time
  int message_bytes = 4 << 20;  // of a request

  // Without a certificate a TCP port serves reading only, on loopback, to anybody on this machine:
  // what can change the fabric needs a client certificate, or the Unix socket.
  struct Tcp {
    std::string address = "127.0.0.1:9339";  // IANA's port for gNMI; port 0: any free one
    std::string certificate, key;            // PEM, of the server; both or none
    std::string client_ca;                   // PEM: who signs the clients that may change things
    bool insecure = false;                   // plaintext beyond loopback; warned about
  };
  std::optional<Tcp> tcp;

  // Who is at the other end of this connection; for tests. Unset: SO_PEERCRED.
  std::function<std::optional<uid_t>(int)> peer_uid;
};

class Server {
 public:
  // Serves until it is destroyed. The fabric must outlive it.
  static Result<std::unique_ptr<Server>> start(Fabric& fabric, ServerOptions options);
  virtual ~Server() = default;

  virtual int tcp_port() const = 0;                // 0 without TCP
  virtual std::uint64_t refused() const = 0;       // connections of the wrong user
  virtual const std::string& warning() const = 0;  // about plaintext; "" when there is none
};

}  // namespace frond::management
