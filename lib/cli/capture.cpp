// SPDX-License-Identifier: BSD-3-Clause
// frond capture A:port -w FILE: frames of a port, both ways and those that were dropped.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "cli/command.hpp"
#include "cli/json.hpp"
#include "cli/pcapng.hpp"
#include "cli/session.hpp"
#include "cli/text.hpp"

namespace frond::cli {
namespace {
using namespace management;

class CaptureCommand final : public Command {
 public:
  CLI::App* declare(CLI::App& app, Global& global) override {
    CLI::App* c =
        app.add_subcommand("capture", "Frames of a port, both ways, dropped ones too, as pcapng");
    c->add_option("port", port_, "A port, a node, or `all`")->required()->type_name("NODE:PORT");
    c->add_option("-w,--write", file_, "Where to; - is standard output")
        ->required()
        ->type_name("FILE");
    c->add_option("-c,--count", count_, "End after so many frames; 0: only when interrupted")
        ->type_name("FRAMES")
        ->capture_default_str();
    c->add_option("-s,--snap", snap_, "Bytes to keep of each frame")
        ->check(CLI::Range(14, 65535))
        ->type_name("BYTES")
        ->capture_default_str();
    c->add_flag("!--no-drops", drops_, "Leave out dropped packets");
    add_name(c, global);
    c->footer(
        "A dropped packet has the comment `dropped: STAGE REASON`.\n\n"
        "Example:\n  frond capture leaf1:p1 -w - | tshark -r -");
    return c;
  }

  int run(Global& global) override {
    port_ = split_fabric(port_, global.fabric);
    auto client = open_fabric(global.fabric);
    if (!client) return fail(global, client.error());
    CaptureRequest request;
    request.snap = snap_;
    request.drops = drops_;
    if (auto s = choose(**client, request); !s) return fail(global, s.error());
    fd_ = file_ == "-" ? 1 : open(file_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd_ < 0) {
      fail(global, {Error::Code::unavailable,
                    fmt::format("cannot write {}: {}", file_, std::strerror(errno))});
      return kCannot;
    }
    if (isatty(fd_) != 0) {
      return fail(global, {Error::Code::invalid_argument,
                           "frames are not for a terminal: -w FILE, or -w - | tshark -r -"});
    }
    return capture(global, **client, request);
  }

 private:
  Status choose(Client& client, CaptureRequest& request) const {
    if (port_ == "all") return {};
    if (port_.find(':') == port_.npos) {
      auto ports = client.ports();
      if (!ports) return ports.error();
      for (const std::string& p : *ports) {
        if (p.rfind(port_ + ":", 0) == 0) {
          request.node = port_;
          return {};
        }
      }
    }
    auto found = find_port(client, port_);
    if (!found) return found.error();
    request.node = found->node;
    request.port = found->port;
    return {};
  }

  int capture(const Global& global, Client& client, const CaptureRequest& request) {
    // A thread waits for the signals, so that stopping needs no handler.
    sigset_t set;
    sigemptyset(&set);
    for (int s : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) sigaddset(&set, s);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    signal(SIGPIPE, SIG_IGN);
    std::thread waiter([&] {
      int s = 0;
      sigwait(&set, &s);
      client.stop();
    });
    PcapngWriter writer([&](std::span<const std::uint8_t> b) { return write_all(b); }, "frond");
    std::uint64_t frames_seen = 0;
    std::uint64_t lost = 0;
    bool written = writer.start();
    const Status status =
        client.capture(request, [&](std::vector<CapturedFrame>& frames, std::uint64_t l) {
          lost = l;
          for (const CapturedFrame& f : frames) {
            written = written && writer.frame(f);
            if (!written || (++frames_seen == count_ && count_ != 0)) return false;
          }
          return written;
        });
    pthread_kill(waiter.native_handle(), SIGUSR1);
    waiter.join();
    if (fd_ != 1) close(fd_);
    if (isatty(2) != 0 || lost != 0) {
      fmt::print(
          stderr, "{}{}\n", plural(frames_seen, "frame", "frames"),
          lost == 0
              ? ""
              : fmt::format(", {} lost: the reader was too slow; -s keeps less of each", lost));
    }
    if (!status) return fail(global, status.error());
    if (!written && errno != EPIPE) {
      fail(global, {Error::Code::unavailable,
                    fmt::format("cannot write {}: {}", file_, std::strerror(errno))});
      return kCannot;
    }
    return kDone;
  }

  bool write_all(std::span<const std::uint8_t> bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    }
    return true;
  }

  std::string port_, file_;
  std::uint64_t count_ = 0;
  std::uint32_t snap_ = 65535;
  bool drops_ = true;
  int fd_ = -1;
};

}  // namespace

std::unique_ptr<Command> make_capture() { return std::make_unique<CaptureCommand>(); }

}  // namespace frond::cli
