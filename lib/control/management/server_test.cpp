// SPDX-License-Identifier: BSD-3-Clause
// The server and the client against a fake fabric, over real sockets.
#include "control/management/server.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <thread>

#include "control/management/client.hpp"
#include "control/management/fake_fabric.hpp"
#include "control/management/unix_socket.hpp"
#include "frond.grpc.pb.h"
#include "gnmi.grpc.pb.h"

namespace frond::management {
namespace {

class Directory {
 public:
  Directory() {
    char name[] = "/tmp/frond-mgmt-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Directory() {
    for (const char* f : {"s", "file", "other"}) unlink((path_ + "/" + f).c_str());
    rmdir(path_.c_str());  // fails when something is left: see the test below
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct Running {
  explicit Running(ServerOptions options = {}) {
    options.socket = directory / "s";
    auto made = Server::start(fabric, std::move(options));
    if (!made) throw std::runtime_error(made.error().message);
    server = std::move(*made);
  }
  std::unique_ptr<Client> client() const {
    auto c = Client::connect(directory / "s");
    if (!c) throw std::runtime_error(c.error().message);
    return std::move(*c);
  }
  Directory directory;
  FakeFabric fabric;
  std::unique_ptr<Server> server;
};

TEST(Server, StateArrivesAsItWas) {
  Running r;
  auto c = r.client();
  const auto info = c->info();
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_EQ(info->name, "demo");
  EXPECT_EQ(info->pid, 4242);
  EXPECT_EQ(info->busy, 0.25);
  EXPECT_EQ(info->started, Time::s(1'700'000'000));
  const auto nodes = c->nodes();
  ASSERT_TRUE(nodes);
  ASSERT_EQ(nodes->size(), 6U);
  const Interface& p1 = (*nodes)[0].interfaces[0];
  EXPECT_EQ((*nodes)[4].kind, Node::Kind::host);
  EXPECT_EQ((*nodes)[4].netns, "demo-h1");
  EXPECT_EQ(p1.counters.in_octets, (std::uint64_t{1} << 60) + 1);
  EXPECT_EQ(p1.speed, Rate::gbps(10));
  EXPECT_EQ(p1.peer, "h1:eth0");
  EXPECT_EQ(p1.addresses.size(), 2U);
  EXPECT_TRUE(p1.oper_up);
  ASSERT_EQ(p1.drops.size(), 3U);
  EXPECT_EQ(p1.drops[2].reason, "queue_tail_drop");
  EXPECT_TRUE(p1.drops[2].egress);
  EXPECT_EQ(p1.drops[2].packets, 7U);
  const auto neighbors = c->neighbors();
  ASSERT_TRUE(neighbors);
  ASSERT_EQ(neighbors->size(), 1U);
  EXPECT_EQ((*neighbors)[0].address.to_string(), "10.0.1.1");
  EXPECT_EQ(c->ports()->size(), 12U);
}

TEST(Server, LinksAndImpairmentsBothWays) {
  Running r;
  auto c = r.client();
  Impairment i;
  i.loss = 0.001;
  i.delay = Time::ms(2);
  i.seed = ~std::uint64_t{0};
  ASSERT_TRUE(c->set_impairments({{"leaf1", "p2", i}, {"spine1", "p1", {}}}));
  const auto links = c->links();
  ASSERT_TRUE(links) << links.error().message;
  ASSERT_EQ(links->size(), 6U);
  EXPECT_EQ((*links)[2].a.node, "leaf1");
  EXPECT_EQ((*links)[2].a.out, i);
  EXPECT_EQ((*links)[2].b.out, Impairment());
  EXPECT_TRUE((*links)[2].up);
  ASSERT_TRUE(c->set_link_admin("leaf1", "p2", false));
  EXPECT_FALSE((*c->nodes())[0].interfaces[1].oper_up);
  const auto refused = c->set_link_admin("leaf1", "p9", false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Error::Code::not_found);
  EXPECT_EQ(refused.error().message, "there is no interface leaf1:p9");
}

TEST(Server, ApplyTraceGraphShutdown) {
  Running r;
  auto c = r.client();
  const auto good = c->apply("name: demo", "demo.yaml", true);
  ASSERT_TRUE(good);
  EXPECT_TRUE(good->valid);
  EXPECT_FALSE(good->applied);
  EXPECT_EQ(good->changes.size(), 1U);
  const auto bad = c->apply("bad", "demo.yaml", false);
  ASSERT_TRUE(bad);
  EXPECT_FALSE(bad->valid);
  ASSERT_EQ(bad->diagnostics.size(), 1U);
  EXPECT_EQ(bad->diagnostics[0].line, 14U);
  EXPECT_EQ(bad->diagnostics[0].column, 9U);
  TraceRequest t;
  t.from = "h1";
  t.to = "h2";
  t.dscp = 26;
  const auto trace = c->trace(t);
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_TRUE(trace->delivered);
  ASSERT_EQ(trace->hops.size(), 3U);
  EXPECT_EQ(trace->hops[0].lines[0].text, "parse    dscp 26");
  t.dscp = 64;
  EXPECT_EQ(c->trace(t).error().code, Error::Code::invalid_argument);
  EXPECT_EQ(*c->graph("dot"), "graph demo {}");
  EXPECT_EQ(c->graph("gif").error().message, "formats: dot");
  ASSERT_TRUE(c->shutdown());
  EXPECT_TRUE(r.fabric.stopped);
}

TEST(Server, CaptureStreamsUntilStopped) {
  Running r;
  auto c = r.client();
  std::vector<CapturedFrame> seen;
  std::uint64_t lost = 0;
  bool first = true;
  const auto status = c->capture(
      {.node = "leaf1", .port = "p1"}, [&](std::vector<CapturedFrame>& frames, std::uint64_t l) {
        if (first) {  // it runs: what comes from now on is seen
          EXPECT_TRUE(frames.empty());
          EXPECT_EQ(r.fabric.captures(), 1);
          r.fabric.push_frame({Time::ns(5),
                               "leaf1:p1",
                               CapturedFrame::Direction::drop,
                               60,
                               "route route_no_route",
                               {1, 2, 3}});
          r.fabric.push_frame({Time::ns(6), "leaf1:p2", CapturedFrame::Direction::in, 60, "", {4}});
          first = false;
        }
        for (auto& f : frames) seen.push_back(f);
        lost = l;
        return seen.empty();
      });
  ASSERT_TRUE(status) << status.error().message;
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0].comment, "route route_no_route");
  EXPECT_EQ(seen[0].direction, CapturedFrame::Direction::drop);
  EXPECT_EQ(seen[0].bytes, (std::vector<std::uint8_t>{1, 2, 3}));
  EXPECT_EQ(lost, 2U);
  r.server.reset();  // waits for its threads: the capture is closed
  EXPECT_EQ(r.fabric.captures(), 0);
}

TEST(Server, EventsFollow) {
  Running r;
  auto c = r.client();
  std::vector<std::string> kinds;
  ASSERT_TRUE(c->events(0, false, [&](const Event& e) {
    kinds.push_back(e.kind);
    return true;
  }));
  EXPECT_EQ(kinds, std::vector<std::string>{"up"});
  ASSERT_TRUE(c->events(0, true, [&](const Event& e) {
    kinds.push_back(e.kind);
    if (e.kind == "up") (void)r.fabric.set_link_admin("leaf1", "p2", false);
    return e.kind != "link-down";
  }));
  EXPECT_EQ(kinds, (std::vector<std::string>{"up", "up", "link-down"}));
}

TEST(Server, StreamsAreBoundedAndAStuckOneHarmsNobody) {
  ServerOptions options;
  options.streams = 2;
  Running r(std::move(options));
  // Two that never end; the third is refused; calls still work; the end does not hang.
  std::vector<std::unique_ptr<Client>> clients;
  std::vector<std::thread> threads;
  std::atomic<int> running = 0;
  for (int i = 0; i < 2; ++i) {
    clients.push_back(r.client());
    threads.emplace_back([&, c = clients.back().get()] {
      (void)c->events(0, true, [&](const Event&) {
        ++running;
        return true;
      });
    });
  }
  for (int i = 0; i < 500 && running < 2; ++i) usleep(10'000);
  ASSERT_EQ(running, 2);
  auto third = r.client();
  const auto refused = third->events(0, true, [](const Event&) { return true; });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Error::Code::resource_exhausted);
  EXPECT_TRUE(third->info());
  clients[0]->stop();
  threads[0].join();
  r.server.reset();
  threads[1].join();
}

TEST(Server, OtherUsersAreRefused) {
  ServerOptions options;
  options.peer_uid = [](int) { return std::optional<uid_t>(geteuid() + 1); };
  Running r(std::move(options));
  auto c = r.client();
  EXPECT_FALSE(c->info());
  EXPECT_EQ(r.server->refused(), 1U);
}

// Runs f as another user in a child; returns its exit status.
template <class F> int as_nobody(F&& f) {
  const pid_t child = fork();
  if (child == 0) {
    if (setgid(65534) != 0 || setuid(65534) != 0) _exit(99);
    _exit(f());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Server, AnotherUserCannotConnect) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become somebody else";
  Running r;
  struct stat st {};
  ASSERT_EQ(stat((r.directory / "s").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600U);
  chmod(r.directory.path().c_str(), 0755);  // so that it is the socket that refuses
  const std::string path = r.directory / "s";
  const auto connects = [&] { return connect_unix(path) ? 0 : 1; };
  EXPECT_EQ(as_nobody(connects), 1);
  // Even if somebody opened the file's mode: the peer's uid decides. It is hung up on.
  chmod(path.c_str(), 0666);
  EXPECT_EQ(as_nobody([&] {
              auto fd = connect_unix(path);
              if (!fd) return 1;
              fcntl(*fd, F_SETFL, 0);
              char byte = 0;
              return read(*fd, &byte, 1) == 0 ? 2 : 3;
            }),
            2);
  EXPECT_EQ(r.server->refused(), 1U);
}

TEST(Server, AGroupMayConnect) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to become somebody else";
  ServerOptions options;
  options.group = 65534;
  Running r(std::move(options));
  struct stat st {};
  ASSERT_EQ(stat((r.directory / "s").c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0660U);
  chmod(r.directory.path().c_str(), 0755);
  EXPECT_EQ(as_nobody([&] { return connect_unix(r.directory / "s") ? 0 : 1; }), 0);
  for (int i = 0; i < 100 && r.server->refused() == 0; ++i) usleep(1000);
  EXPECT_EQ(r.server->refused(), 0U);
}

TEST(Socket, TakesOnlyWhatIsOurs) {
  Directory d;
  const std::string path = d / "s";
  auto first = listen_unix(path, {});
  ASSERT_TRUE(first) << first.error().message;
  auto second = listen_unix(path, {});
  ASSERT_FALSE(second) << "somebody listens there";
  EXPECT_EQ(second.error().code, Error::Code::already_exists);
  close(*first);
  auto stale = listen_unix(path, {});  // what a crash leaves
  ASSERT_TRUE(stale) << stale.error().message;
  remove_unix(path, *stale);
  EXPECT_NE(access(path.c_str(), F_OK), 0);
  close(*stale);
  std::ofstream(d / "file") << "precious";
  auto file = listen_unix(d / "file", {});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, Error::Code::already_exists);
  EXPECT_EQ(access((d / "file").c_str(), F_OK), 0);
  ASSERT_EQ(symlink("/etc/passwd", (d / "other").c_str()), 0);
  EXPECT_FALSE(listen_unix(d / "other", {}));
  EXPECT_FALSE(listen_unix(d / std::string(200, 'x'), {}));
  EXPECT_FALSE(listen_unix(std::string("\0abstract", 9), {}));
  EXPECT_EQ(connect_unix(d / "nothing").error().code, Error::Code::not_found);
  if (geteuid() == 0) {
    chmod(d.path().c_str(), 0777);
    EXPECT_FALSE(listen_unix(path, {})) << "a directory that everybody may write";
    ASSERT_EQ(chown(d.path().c_str(), 65534, 65534), 0);
    chmod(d.path().c_str(), 0755);
    EXPECT_FALSE(listen_unix(path, {})) << "a directory of somebody else's";
    ASSERT_EQ(chown(d.path().c_str(), 0, 0), 0);
    auto fd = listen_unix(path, {});
    ASSERT_TRUE(fd);
    close(*fd);
    ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
    EXPECT_EQ(listen_unix(path, {}).error().code, Error::Code::permission_denied);
  }
}

TEST(Server, TcpIsReadOnlyAndLoopbackOnly) {
  Directory d;
  FakeFabric fabric;
  ServerOptions options;
  options.socket = d / "s";
  options.tcp = ServerOptions::Tcp{.address = "0.0.0.0:0"};
  const auto open = Server::start(fabric, options);
  ASSERT_FALSE(open);
  EXPECT_NE(open.error().message.find("not loopback"), std::string::npos);
  options.tcp->address = "127.0.0.1:0";
  const auto server = Server::start(fabric, options);
  ASSERT_TRUE(server) << server.error().message;
  EXPECT_GT((*server)->tcp_port(), 0);
  EXPECT_EQ((*server)->warning(), "");

  auto channel = grpc::CreateChannel(fmt::format("127.0.0.1:{}", (*server)->tcp_port()),
                                     grpc::InsecureChannelCredentials());
  auto stub = gnmi::gNMI::NewStub(channel);
  gnmi::CapabilityResponse capabilities;
  grpc::ClientContext reads;
  EXPECT_TRUE(stub->Capabilities(&reads, {}, &capabilities).ok());
  gnmi::SetResponse response;
  grpc::ClientContext writes;
  EXPECT_EQ(stub->Set(&writes, {}, &response).error_code(), grpc::StatusCode::PERMISSION_DENIED);
  auto frond = v1::Fabric::NewStub(channel);
  v1::ShutdownReply ended;
  grpc::ClientContext ends;
  EXPECT_EQ(frond->Shutdown(&ends, {}, &ended).error_code(), grpc::StatusCode::PERMISSION_DENIED);
  EXPECT_FALSE(fabric.stopped);
  v1::CaptureRequest capture;
  capture.set_node("leaf1");
  grpc::ClientContext listens;
  auto reader = frond->Capture(&listens, capture);
  v1::CaptureReply frames;
  EXPECT_FALSE(reader->Read(&frames));
  EXPECT_EQ(reader->Finish().error_code(), grpc::StatusCode::PERMISSION_DENIED);
}

}  // namespace
}  // namespace frond::management
