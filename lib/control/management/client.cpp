// SPDX-License-Identifier: BSD-3-Clause
#include "control/management/client.hpp"

#include <fmt/format.h>
#include <grpcpp/create_channel_posix.h>
#include <grpcpp/grpcpp.h>
#include <unistd.h>

#include <mutex>

#include "control/management/client_state.hpp"
#include "control/management/convert.hpp"
#include "control/management/status.hpp"
#include "control/management/unix_socket.hpp"
#include "frond.grpc.pb.h"
#include "gnmi.grpc.pb.h"

namespace frond::management {
namespace {

constexpr std::int32_t kTimeoutMs = 10'000;  // of a call that is not a stream

// One call, with its deadline.
class Call {
 public:
  Call() {
    const gpr_timespec in = gpr_time_from_millis(kTimeoutMs, GPR_TIMESPAN);
    context.set_deadline(in);
  }
  grpc::ClientContext context;
};

gnmi::Path path_message(const std::string& text) {
  const Path path = *Path::parse(text);  // ours: always valid
  gnmi::Path m = to_message(path.elems, 0, path.elems.size());
  m.set_origin(path.origin);
  return m;
}

gnmi::Path interface_message(const std::string& node, const std::string& port) {
  std::vector<PathElem> elems = {{"nodes", {}},
                                 {"node", {{"name", node}}},
                                 {"interfaces", {}},
                                 {"interface", {{"name", port}}}};
  gnmi::Path m = to_message(elems, 0, elems.size());
  m.set_origin("frond");
  return m;
}

class GrpcClient final : public Client {
 public:
  explicit GrpcClient(std::shared_ptr<grpc::Channel> channel)
      : gnmi_(gnmi::gNMI::NewStub(channel)), frond_(v1::Fabric::NewStub(channel)) {}

  Result<FabricInfo> info() override {
    auto json = get_json("frond:/fabric");
    if (!json) return json.error();
    return info_from_json(*json);
  }
  Result<std::vector<Node>> nodes() override {
    auto json = get_json("frond:/nodes");
    if (!json) return json.error();
    return nodes_from_json(*json);
  }
  Result<std::vector<Link>> links() override {
    auto links = get_json("frond:/links");
    if (!links) return links.error();
    auto nodes = get_json("frond:/nodes/node/interfaces/interface/impairment", "frond:/nodes");
    if (!nodes) return nodes.error();
    return links_from_json(*links, *nodes);
  }
  Result<std::vector<Neighbor>> neighbors() override {
    auto nodes = get_json("frond:/nodes/node/neighbors", "frond:/nodes");
    if (!nodes) return nodes.error();
    return neighbors_from_json(*nodes);
  }
  Result<std::vector<std::string>> ports() override {
    auto updates = get_updates("/interfaces/interface/config/name");
    if (!updates) return updates.error();
    std::vector<std::string> names;
    for (const auto& [path, value] : *updates) {
      if (value.is_string()) names.push_back(value.get<std::string>());
    }
    return names;
  }

  Result<std::string> get(const std::string& path) override {
    if (auto parsed = Path::parse(path); !parsed) return parsed.error();
    auto updates = get_updates(path);
    if (!updates) return updates.error();
    if (updates->size() == 1) return (*updates)[0].second.dump(2);
    Json all = Json::object();
    for (auto& [where, value] : *updates) all[where] = std::move(value);
    return all.dump(2);
  }

  Status set_link_admin(const std::string& node, const std::string& port, bool up) override {
    gnmi::SetRequest request;
    gnmi::Update* update = request.add_update();
    *update->mutable_path() = interface_message(node, port);
    update->mutable_path()->add_elem()->set_name("config");
    update->mutable_path()->add_elem()->set_name("enabled");
    update->mutable_val()->set_bool_val(up);
    return set(request);
  }

  Status set_impairments(const std::vector<ImpairmentChange>& changes) override {
    gnmi::SetRequest request;
    for (const ImpairmentChange& change : changes) {
      const Impairment& i = change.impairment;
      gnmi::Update* update = request.add_replace();
      *update->mutable_path() = interface_message(change.node, change.port);
      update->mutable_path()->add_elem()->set_name("impairment");
      update->mutable_path()->add_elem()->set_name("config");
      const Json json = {{"loss", i.loss},
                         {"corrupt", i.corrupt},
                         {"duplicate", i.duplicate},
                         {"reorder", i.reorder},
                         {"reorder-delay", ns(i.reorder_delay)},
                         {"delay", ns(i.delay)},
                         {"jitter", ns(i.jitter)},
                         {"silent", i.silent},
                         {"seed", i.seed}};
      update->mutable_val()->set_json_val(json.dump());
    }
    return set(request);
  }

  Result<ApplyReport> apply(const std::string& yaml, const std::string& file,
                            bool dry_run) override {
    grpc::ClientContext context;  // may take long: it ends when the fabric is done, or gone
    v1::ApplyRequest request;
    request.set_yaml(yaml);
    request.set_file(file);
    request.set_dry_run(dry_run);
    v1::ApplyReply reply;
    if (auto s = frond_->Apply(&context, request, &reply); !s.ok()) return to_error(s);
    ApplyReport report{
        reply.valid(), reply.applied(), {reply.changes().begin(), reply.changes().end()}, {}};
    for (const auto& d : reply.diagnostics()) {
      report.diagnostics.push_back(
          {d.warning() ? Diagnostic::Severity::warning : Diagnostic::Severity::error, d.file(),
           d.line(), d.column(), d.message()});
    }
    return report;
  }

  Result<TraceReport> trace(const TraceRequest& r) override {
    Call call;
    v1::TraceRequest request;
    request.set_from(r.from);
    request.set_to(r.to);
    if (r.src) request.set_src(r.src->to_string());
    if (r.dst) request.set_dst(r.dst->to_string());
    request.set_ipv6(r.ipv6);
    request.set_protocol(r.protocol);
    request.set_sport(r.sport);
    request.set_dport(r.dport);
    request.set_dscp(r.dscp);
    request.set_ttl(r.ttl);
    request.set_size(r.size);
    request.set_frame(r.frame.data(), r.frame.size());
    v1::TraceReply reply;
    if (auto s = frond_->Trace(&call.context, request, &reply); !s.ok()) return to_error(s);
    TraceReport report{reply.delivered(), reply.outcome(), {}};
    for (const auto& h : reply.hops()) {
      TraceHop& hop = report.hops.emplace_back(
          TraceHop{h.node(), h.in_port(), h.out_port(), h.verdict(), h.stage(), {}});
      for (const auto& l : h.lines()) hop.lines.push_back({l.stage(), l.text()});
    }
    return report;
  }

  Result<std::string> graph(const std::string& format) override {
    Call call;
    v1::GraphRequest request;
    request.set_format(format);
    v1::GraphReply reply;
    if (auto s = frond_->Graph(&call.context, request, &reply); !s.ok()) return to_error(s);
    return reply.text();
  }

  Status shutdown() override {
    Call call;
    v1::ShutdownReply reply;
    if (auto s = frond_->Shutdown(&call.context, v1::ShutdownRequest(), &reply); !s.ok())
      return to_error(s);
    return {};
  }

  Status capture(
      const CaptureRequest& r,
      const std::function<bool(std::vector<CapturedFrame>&, std::uint64_t)>& f) override {
    v1::CaptureRequest request;
    request.set_node(r.node);
    request.set_port(r.port);
    request.set_snap(r.snap);
    request.set_drops(r.drops);
    return stream<v1::CaptureReply>(
        [&](grpc::ClientContext* c) { return frond_->Capture(c, request); },
        [&](v1::CaptureReply& reply) {
          std::vector<CapturedFrame> frames;
          for (auto& m : *reply.mutable_frames()) {
            frames.push_back({Time::ns(m.time()),
                              m.interface(),
                              static_cast<CapturedFrame::Direction>(m.direction()),
                              m.wire_length(),
                              m.comment(),
                              {m.data().begin(), m.data().end()}});
          }
          return f(frames, reply.lost());
        });
  }

  Status events(std::uint64_t after, bool follow,
                const std::function<bool(const Event&)>& f) override {
    v1::EventsRequest request;
    request.set_after(after);
    request.set_follow(follow);
    return stream<v1::Event>(
        [&](grpc::ClientContext* c) { return frond_->Events(c, request); },
        [&](v1::Event& m) {
          return f({m.sequence(), Time::ns(m.time()), m.kind(), m.node(), m.port(), m.mechanism(),
                    Time::ns(m.detection()), m.text()});
        });
  }

  void stop() override {
    std::lock_guard lock(mutex_);
    stopped_ = true;
    if (running_ != nullptr) running_->TryCancel();
  }

 private:
  static std::uint64_t ns(Time t) { return static_cast<std::uint64_t>(t.ns()); }

  template <class Message, class Open, class F> Status stream(Open&& open, F&& f) {
    grpc::ClientContext context;
    {
      std::lock_guard lock(mutex_);
      if (stopped_) return {};
      running_ = &context;
    }
    auto reader = open(&context);
    bool wanted = true;
    Message message;
    while (reader->Read(&message)) {
      if (!f(message)) {
        wanted = false;
        context.TryCancel();
        break;
      }
    }
    const grpc::Status s = reader->Finish();
    std::lock_guard lock(mutex_);
    running_ = nullptr;
    if (s.ok() || !wanted || stopped_) return {};
    return to_error(s);
  }

  Status set(const gnmi::SetRequest& request) {
    Call call;
    gnmi::SetResponse response;
    if (auto s = gnmi_->Set(&call.context, request, &response); !s.ok()) return to_error(s);
    return {};
  }

  using Updates = std::vector<std::pair<std::string, Json>>;
  Result<Updates> get_updates(const std::string& path) {
    Call call;
    gnmi::GetRequest request;
    *request.add_path() = path_message(path);
    request.set_encoding(gnmi::JSON);
    gnmi::GetResponse response;
    if (auto s = gnmi_->Get(&call.context, request, &response); !s.ok()) return to_error(s);
    Updates updates;
    for (const gnmi::Notification& n : response.notification()) {
      for (const gnmi::Update& u : n.update()) {
        auto where = from_message(n.prefix(), u.path());
        Json json = Json::parse(u.val().json_val(), nullptr, false);
        if (!where || json.is_discarded()) {
          return Error{Error::Code::internal,
                       "the fabric's answer is not JSON; are both of one version?"};
        }
        updates.emplace_back(where->to_string(), std::move(json));
      }
    }
    return updates;
  }

  // The one subtree at `path`; the answer to a query with wildcards is put together under `root`.
  Result<Json> get_json(const std::string& path, const std::string& root = "") {
    auto updates = get_updates(path);
    if (!updates) return updates.error();
    if (root.empty()) {
      if (updates->empty()) return Json(Json::object());
      return std::move((*updates)[0].second);
    }
    Json all = {{"node", Json::array()}};
    std::map<std::string, std::size_t> places;
    for (auto& [where, value] : *updates) merge(all, *Path::parse(where), std::move(value), places);
    return all;
  }

  // Puts /nodes/node[name=A]/interfaces/interface[name=B]/... where it belongs.
  static void merge(Json& nodes, const Path& where, Json value,
                    std::map<std::string, std::size_t>& places) {
    Json* at = &nodes;
    std::string so_far;
    for (std::size_t i = 1; i < where.elems.size(); ++i) {
      const PathElem& elem = where.elems[i];
      Json& child = (*at)[elem.name];
      so_far += "/" + elem.name;
      if (elem.keys.empty()) {
        at = &child;
        continue;
      }
      if (child.is_null()) child = Json::array();
      for (const auto& [key, v] : elem.keys) so_far += "[" + key + "=" + v + "]";
      const auto [it, fresh] = places.emplace(so_far, child.size());
      if (fresh) {
        Json entry = Json::object();
        for (const auto& [key, v] : elem.keys) entry[key] = v;
        child.push_back(std::move(entry));
      }
      at = &child[it->second];
    }
    *at = std::move(value);
  }

  std::unique_ptr<gnmi::gNMI::Stub> gnmi_;
  std::unique_ptr<v1::Fabric::Stub> frond_;
  std::mutex mutex_;
  grpc::ClientContext* running_ = nullptr;
  bool stopped_ = false;
};

}  // namespace

Result<std::unique_ptr<Client>> Client::connect(const std::string& socket) {
  auto fd = connect_unix(socket);
  if (!fd) return fd.error();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(64 << 20);  // the whole tree of a large fabric
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  auto channel = grpc::CreateCustomInsecureChannelFromFd("frond", *fd, arguments);
  return std::unique_ptr<Client>(std::make_unique<GrpcClient>(std::move(channel)));
}

}  // namespace frond::management
