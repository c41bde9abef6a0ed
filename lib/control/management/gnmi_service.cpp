// SPDX-License-Identifier: BSD-3-Clause
#include <thread>

#include "control/management/convert.hpp"
#include "control/management/gnmi_rpc.hpp"
#include "control/management/services.hpp"
#include "control/management/status.hpp"
#include "control/management/subscribe.hpp"

namespace frond::management {
namespace {

grpc::Status invalid(const char* message) { return {grpc::StatusCode::INVALID_ARGUMENT, message}; }

}  // namespace

grpc::Status Gate::may_change(const grpc::ServerContext& context) const {
  const std::string peer = context.peer();
  const bool tcp = peer.rfind("ipv4:", 0) == 0 || peer.rfind("ipv6:", 0) == 0;
  if (!tcp) return grpc::Status::OK;  // the Unix socket: its peer was checked when it connected
  const auto auth = context.auth_context();
  if (auth && auth->IsPeerAuthenticated()) return grpc::Status::OK;
  return {grpc::StatusCode::PERMISSION_DENIED,
          "over TCP without a client certificate everything is read-only; use the Unix socket"};
}

grpc::Status GnmiService::Capabilities(grpc::ServerContext*, const gnmi::CapabilityRequest*,
                                       gnmi::CapabilityResponse* response) {
  *response = capabilities();
  return grpc::Status::OK;
}

grpc::Status GnmiService::Get(grpc::ServerContext*, const gnmi::GetRequest* request,
                              gnmi::GetResponse* response) {
  auto result = get(fabric_, *request);
  if (!result) return to_status(result.error());
  *response = std::move(*result);
  return grpc::Status::OK;
}

grpc::Status GnmiService::Set(grpc::ServerContext* context, const gnmi::SetRequest* request,
                              gnmi::SetResponse* response) {
  if (auto s = gate_.may_change(*context); !s.ok()) return s;
  std::lock_guard lock(set_mutex_);
  auto result = set(fabric_, *request);
  if (!result) return to_status(result.error());
  *response = std::move(*result);
  return grpc::Status::OK;
}

grpc::Status GnmiService::Subscribe(grpc::ServerContext* context, Stream* stream) {
  const Gate::Stream held(gate_);
  if (!held.ok()) return held.refusal();
  gnmi::SubscribeRequest first;
  if (!stream->Read(&first)) return grpc::Status::OK;
  if (!first.has_subscribe()) {
    return invalid("the first request must have a subscription list; there is nothing to poll yet");
  }
  if (auto s = check_extensions(first.extension()); !s) return to_status(s.error());
  auto made = Subscriber::make(fabric_, first.subscribe());
  if (!made) return to_status(made.error());
  Subscriber& subscriber = **made;
  const Subscriber::Send send = [&](const gnmi::SubscribeResponse& r) { return stream->Write(r); };
  if (!subscriber.send_all(send)) return grpc::Status::OK;

  switch (first.subscribe().mode()) {
    case gnmi::SubscriptionList::ONCE:
      return grpc::Status::OK;
    case gnmi::SubscriptionList::POLL: {
      gnmi::SubscribeRequest next;
      while (stream->Read(&next)) {
        if (!next.has_poll())
          return invalid("a subscription cannot be changed; open another stream");
        if (!subscriber.send_all(send)) break;
      }
      return grpc::Status::OK;
    }
    default:
      break;
  }
  // A request on a running stream is an error (3.5.1.1); somebody must read to notice. The reader
  // ends with the request, the client, or the server's shutdown.
  std::atomic<bool> extra = false;
  std::thread reader([&] {
    gnmi::SubscribeRequest next;
    if (stream->Read(&next)) extra = true;
  });
  subscriber.stream(send, [&] { return extra || context->IsCancelled() || gate_.stopping(); });
  if (!extra) context->TryCancel();
  reader.join();
  if (extra)
    return invalid("a streaming subscription takes no further requests; open another stream");
  return grpc::Status::OK;
}

}  // namespace frond::management
