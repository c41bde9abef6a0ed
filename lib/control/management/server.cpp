// SPDX-License-Identifier: BSD-3-Clause
#include "control/management/server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <grpcpp/resource_quota.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_posix.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "control/management/services.hpp"
#include "control/management/unix_socket.hpp"

namespace frond::management {
namespace {

Error invalid(std::string message) { return {Error::Code::invalid_argument, std::move(message)}; }

Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf()))
    return Error{Error::Code::not_found, fmt::format("cannot read {}", path)};
  return text.str();
}

bool is_loopback(const std::string& address) {
  return address.rfind("127.", 0) == 0 || address.rfind("[::1]:", 0) == 0 ||
         address.rfind("localhost:", 0) == 0;
}

Result<std::shared_ptr<grpc::ServerCredentials>> credentials(const ServerOptions::Tcp& tcp) {
  if (tcp.certificate.empty() != tcp.key.empty())
    return invalid("TLS needs a certificate and its key");
  if (tcp.certificate.empty()) {
    if (!tcp.client_ca.empty()) return invalid("client certificates need a certificate of our own");
    if (!is_loopback(tcp.address) && !tcp.insecure) {
      return invalid(
          fmt::format("{} is not loopback: give a certificate and key, or ask for "
                      "plaintext with insecure",
                      tcp.address));
    }
    return grpc::InsecureServerCredentials();
  }
  auto certificate = read_file(tcp.certificate);
  if (!certificate) return certificate.error();
  auto key = read_file(tcp.key);
  if (!key) return key.error();
  auto request = GRPC_SSL_DONT_REQUEST_CLIENT_CERTIFICATE;
  grpc::SslServerCredentialsOptions options(request);
  if (!tcp.client_ca.empty()) {
    auto ca = read_file(tcp.client_ca);
    if (!ca) return ca.error();
    options = grpc::SslServerCredentialsOptions(
        GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
    options.pem_root_certs = std::move(*ca);
  }
  options.pem_key_cert_pairs.push_back({std::move(*key), std::move(*certificate)});
  return grpc::SslServerCredentials(options);
}

class GrpcServer final : public Server {
 public:
  GrpcServer(Fabric& fabric, ServerOptions options)
      : options_(std::move(options)),
        gate_(options_.streams),
        gnmi_(fabric, gate_),
        frond_(fabric, gate_) {}

  ~GrpcServer() override {
    gate_.stop();
    if (accept_thread_.joinable()) {
      const std::uint64_t one = 1;
      (void)!write(wake_, &one, sizeof(one));
      accept_thread_.join();
    }
    if (listener_ >= 0) {
      remove_unix(options_.socket, listener_);
      close(listener_);
    }
    // Streams notice within a poll; whoever is blocked in a write to a client that does not read
    // is cancelled then.
    if (server_) {
      server_->Shutdown(std::chrono::system_clock::time_point());
      server_->Wait();
    }
    if (wake_ >= 0) close(wake_);
  }

  Status start() {
    // What these libraries would say about requests is for the client, who gets it as a status. In
    // a log it would only let him fill the disk.
    google::protobuf::SetLogHandler(nullptr);
    gpr_set_log_verbosity(static_cast<gpr_log_severity>(GPR_LOG_SEVERITY_ERROR + 1));  // none
    grpc::ServerBuilder builder;
    builder.RegisterService(&gnmi_);
    builder.RegisterService(&frond_);
    builder.SetMaxReceiveMessageSize(options_.message_bytes);
    // Bounded, whatever clients do: each stream holds a thread, and so does each call.
    grpc::ResourceQuota quota("management");
    quota.SetMaxThreads(options_.streams * 2 + 32);
    quota.Resize(256 << 20);
    builder.SetResourceQuota(quota);
    builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, options_.streams * 2);
    builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
    builder.SetSyncServerOption(grpc::ServerBuilder::SyncServerOption::NUM_CQS, 1);
    if (options_.tcp) {
      auto creds = credentials(*options_.tcp);
      if (!creds) return creds.error();
      builder.AddListeningPort(options_.tcp->address, *creds, &tcp_port_);
      if (options_.tcp->certificate.empty() && !is_loopback(options_.tcp->address)) {
        warning_ =
            fmt::format("management at {} is not encrypted and anybody who reaches it can read",
                        options_.tcp->address);
      }
    }
    // First the socket: when it cannot be had, nothing of ours has been seen.
    auto listener = listen_unix(options_.socket, options_.group);
    if (!listener) return listener.error();
    listener_ = *listener;
    wake_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (wake_ < 0) return Error{Error::Code::resource_exhausted, "no event descriptor is left"};
    server_ = builder.BuildAndStart();
    if (!server_) {
      return Error{Error::Code::unavailable,
                   options_.tcp ? fmt::format("cannot listen at {}: is the port taken?",
                                              options_.tcp->address)
                                : "the management server did not start"};
    }
    accept_thread_ = std::thread([this] { accept_loop(); });
    return {};
  }

  int tcp_port() const override { return tcp_port_; }
  std::uint64_t refused() const override { return refused_; }
  const std::string& warning() const override { return warning_; }

 private:
  void accept_loop() {
    pollfd fds[2] = {{listener_, POLLIN, 0}, {wake_, POLLIN, 0}};
    bool exhausted = false;
    while (!gate_.stopping()) {
      // Without descriptors the listener stays readable: look again a little later.
      if (poll(exhausted ? fds + 1 : fds, exhausted ? 1 : 2, exhausted ? 50 : -1) < 0 &&
          errno != EINTR)
        return;
      exhausted = false;
      const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (fd < 0) {
        exhausted = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        continue;
      }
      if (!allowed(fd)) {
        ++refused_;
        close(fd);
        continue;
      }
      grpc::AddInsecureChannelFromFd(server_.get(), fd);
    }
  }

  bool allowed(int fd) const {
    const auto peer = peer_credentials(fd);
    if (!peer) return false;
    const auto uid = options_.peer_uid ? options_.peer_uid(fd) : std::optional<uid_t>(peer->uid);
    if (!uid) return false;
    if (*uid == 0 || *uid == geteuid()) return true;
    return options_.group && peer_in_group(fd, *peer, *options_.group);
  }

  ServerOptions options_;
  Gate gate_;
  GnmiService gnmi_;
  FrondService frond_;
  std::unique_ptr<grpc::Server> server_;
  std::thread accept_thread_;
  std::atomic<std::uint64_t> refused_ = 0;
  std::string warning_;
  int listener_ = -1;
  int wake_ = -1;
  int tcp_port_ = 0;
};

}  // namespace

Result<std::unique_ptr<Server>> Server::start(Fabric& fabric, ServerOptions options) {
  auto server = std::make_unique<GrpcServer>(fabric, std::move(options));
  if (auto s = server->start(); !s) return s.error();
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace frond::management
