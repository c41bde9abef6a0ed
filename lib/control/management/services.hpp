// SPDX-License-Identifier: BSD-3-Clause
// The gRPC services. Includes gRPC: for services' and the server's .cpp only.
#pragma once

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <mutex>

#include "control/management/fabric.hpp"
#include "frond.grpc.pb.h"
#include "gnmi.grpc.pb.h"

namespace frond::management {

// What both services share: who may do what, and how much at the same time.
class Gate {
 public:
  explicit Gate(int streams) : left_(streams) {}

  // Through the Unix socket, or with a client certificate that our CA signed.
  grpc::Status may_change(const grpc::ServerContext& context) const;

  // Held while a stream runs.
  class Stream {
   public:
    explicit Stream(Gate& gate) : gate_(gate), ok_(gate.left_.fetch_sub(1) > 0) {}
    ~Stream() { gate_.left_.fetch_add(1); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    bool ok() const { return ok_; }
    grpc::Status refusal() const {
      return {grpc::StatusCode::RESOURCE_EXHAUSTED,
              "too many streams are open; end one and try again"};
    }

   private:
    Gate& gate_;
    bool ok_;
  };

  void stop() { stopping_ = true; }
  bool stopping() const { return stopping_; }

 private:
  std::atomic<int> left_;
  std::atomic<bool> stopping_ = false;
};

class GnmiService final : public gnmi::gNMI::Service {
 public:
  GnmiService(Fabric& fabric, Gate& gate) : fabric_(fabric), gate_(gate) {}

  grpc::Status Capabilities(grpc::ServerContext* context, const gnmi::CapabilityRequest* request,
                            gnmi::CapabilityResponse* response) override;
  grpc::Status Get(grpc::ServerContext* context, const gnmi::GetRequest* request,
                   gnmi::GetResponse* response) override;
  grpc::Status Set(grpc::ServerContext* context, const gnmi::SetRequest* request,
                   gnmi::SetResponse* response) override;
  using Stream = grpc::ServerReaderWriter<gnmi::SubscribeResponse, gnmi::SubscribeRequest>;
  grpc::Status Subscribe(grpc::ServerContext* context, Stream* stream) override;

 private:
  Fabric& fabric_;
  Gate& gate_;
  std::mutex set_mutex_;  // one transaction at a time
};

class FrondService final : public frond::v1::Fabric::Service {
 public:
  FrondService(Fabric& fabric, Gate& gate) : fabric_(fabric), gate_(gate) {}

  grpc::Status Apply(grpc::ServerContext* context, const v1::ApplyRequest* request,
                     v1::ApplyReply* reply) override;
  grpc::Status Trace(grpc::ServerContext* context, const v1::TraceRequest* request,
                     v1::TraceReply* reply) override;
  grpc::Status Capture(grpc::ServerContext* context, const v1::CaptureRequest* request,
                       grpc::ServerWriter<v1::CaptureReply>* writer) override;
  grpc::Status Events(grpc::ServerContext* context, const v1::EventsRequest* request,
                      grpc::ServerWriter<v1::Event>* writer) override;
  grpc::Status Graph(grpc::ServerContext* context, const v1::GraphRequest* request,
                     v1::GraphReply* reply) override;
  grpc::Status Shutdown(grpc::ServerContext* context, const v1::ShutdownRequest* request,
                        v1::ShutdownReply* reply) override;

 private:
  Fabric& fabric_;
  Gate& gate_;
  std::mutex apply_mutex_;
};

}  // namespace frond::management
