// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "control/management/services.hpp"
#include "control/management/status.hpp"

namespace frond::management {
namespace {

constexpr Time kPoll = Time::ms(100);  // how soon a stream notices that its client is gone
constexpr std::size_t kReplyBytes = 1 << 20;

Error invalid(std::string message) { return {Error::Code::invalid_argument, std::move(message)}; }

template <class T> Status bounded(const char* name, std::uint32_t value, std::uint32_t max, T& to) {
  if (value > max) return invalid(fmt::format("{} {} is more than {}", name, value, max));
  to = static_cast<T>(value);
  return {};
}

Result<TraceRequest> from_message(const v1::TraceRequest& m) {
  TraceRequest r;
  r.from = m.from();
  r.to = m.to();
  for (auto [text, field] : {std::pair(&m.src(), &r.src), std::pair(&m.dst(), &r.dst)}) {
    if (text->empty()) continue;
    *field = IpAddress::parse(*text);
    if (!*field) return invalid(fmt::format("'{}' is no IP address", *text));
  }
  r.ipv6 = m.ipv6();
  if (auto s = bounded("protocol", m.protocol(), 255, r.protocol); !s) return s.error();
  if (auto s = bounded("sport", m.sport(), 65535, r.sport); !s) return s.error();
  if (auto s = bounded("dport", m.dport(), 65535, r.dport); !s) return s.error();
  if (auto s = bounded("dscp", m.dscp(), 63, r.dscp); !s) return s.error();
  if (auto s = bounded("ttl", m.ttl(), 255, r.ttl); !s) return s.error();
  if (auto s = bounded("size", m.size(), 65535, r.size); !s) return s.error();
  if (m.frame().size() > 65535) return invalid("the frame is longer than 65535 bytes");
  r.frame.assign(m.frame().begin(), m.frame().end());
  return r;
}

void to_message(const TraceReport& report, v1::TraceReply& m) {
  m.set_delivered(report.delivered);
  m.set_outcome(report.outcome);
  for (const TraceHop& hop : report.hops) {
    auto* h = m.add_hops();
    h->set_node(hop.node);
    h->set_in_port(hop.in_port);
    h->set_out_port(hop.out_port);
    h->set_verdict(hop.verdict);
    h->set_stage(hop.stage);
    for (const TraceLine& line : hop.lines) {
      auto* l = h->add_lines();
      l->set_stage(line.stage);
      l->set_text(line.text);
    }
  }
}

void to_message(const Event& event, v1::Event& m) {
  m.set_sequence(event.sequence);
  m.set_time(event.time.ns());
  m.set_kind(event.kind);
  m.set_node(event.node);
  m.set_port(event.port);
  m.set_mechanism(event.mechanism);
  m.set_detection(event.detection.ns());
  m.set_text(event.text);
}

void to_message(CapturedFrame&& frame, v1::CaptureReply::Frame& m) {
  m.set_time(frame.time.ns());
  m.set_interface(std::move(frame.interface));
  m.set_direction(static_cast<v1::CaptureReply::Direction>(frame.direction));
  m.set_wire_length(frame.wire_length);
  m.set_comment(std::move(frame.comment));
  m.set_data(frame.bytes.data(), frame.bytes.size());
}

}  // namespace

grpc::Status FrondService::Apply(grpc::ServerContext* context, const v1::ApplyRequest* request,
                                 v1::ApplyReply* reply) {
  if (!request->dry_run()) {
    if (auto s = gate_.may_change(*context); !s.ok()) return s;
  }
  std::lock_guard lock(apply_mutex_);
  auto report = fabric_.apply(request->yaml(), request->file(), request->dry_run());
  if (!report) return to_status(report.error());
  reply->set_valid(report->valid);
  reply->set_applied(report->applied);
  for (std::string& change : report->changes) reply->add_changes(std::move(change));
  for (const Diagnostic& d : report->diagnostics) {
    auto* m = reply->add_diagnostics();
    m->set_warning(d.severity == Diagnostic::Severity::warning);
    m->set_file(d.file);
    m->set_line(d.line);
    m->set_column(d.column);
    m->set_message(d.message);
  }
  return grpc::Status::OK;
}

grpc::Status FrondService::Trace(grpc::ServerContext*, const v1::TraceRequest* request,
                                 v1::TraceReply* reply) {
  auto parsed = from_message(*request);
  if (!parsed) return to_status(parsed.error());
  auto report = fabric_.trace(*parsed);
  if (!report) return to_status(report.error());
  to_message(*report, *reply);
  return grpc::Status::OK;
}

grpc::Status FrondService::Capture(grpc::ServerContext* context, const v1::CaptureRequest* request,
                                   grpc::ServerWriter<v1::CaptureReply>* writer) {
  // Frames may hold anybody's data: not for whoever happens to reach the TCP port.
  if (auto s = gate_.may_change(*context); !s.ok()) return s;
  const Gate::Stream held(gate_);
  if (!held.ok()) return held.refusal();
  if (request->snap() > 65535) return to_status(invalid("snap is more than 65535"));
  CaptureRequest wanted{request->node(), request->port(),
                        request->snap() == 0 ? 65535 : request->snap(), request->drops()};
  auto capture = fabric_.capture(wanted);
  if (!capture) return to_status(capture.error());
  if (!writer->Write(v1::CaptureReply())) return grpc::Status::OK;
  std::uint64_t told = 0;
  std::vector<CapturedFrame> frames;
  while (!context->IsCancelled() && !gate_.stopping()) {
    frames.clear();
    if (auto s = (*capture)->read(frames, kPoll); !s) return to_status(s.error());
    const std::uint64_t lost = (*capture)->lost();
    if (frames.empty() && lost == told) continue;
    told = lost;
    v1::CaptureReply reply;
    std::size_t bytes = 0;
    for (CapturedFrame& frame : frames) {
      bytes += frame.bytes.size() + 64;
      to_message(std::move(frame), *reply.add_frames());
      if (bytes < kReplyBytes) continue;
      if (!writer->Write(reply)) return grpc::Status::OK;
      reply.Clear();
      bytes = 0;
    }
    reply.set_lost(lost);
    if (!writer->Write(reply)) return grpc::Status::OK;
  }
  return grpc::Status::OK;
}

grpc::Status FrondService::Events(grpc::ServerContext* context, const v1::EventsRequest* request,
                                  grpc::ServerWriter<v1::Event>* writer) {
  const Gate::Stream held(gate_);
  if (!held.ok()) return held.refusal();
  std::uint64_t after = request->after();
  while (!context->IsCancelled() && !gate_.stopping()) {
    const auto events = fabric_.events(after, request->follow() ? kPoll : Time());
    for (const Event& event : events) {
      v1::Event message;
      to_message(event, message);
      if (!writer->Write(message)) return grpc::Status::OK;
      after = event.sequence;
    }
    if (!request->follow()) break;
  }
  return grpc::Status::OK;
}

grpc::Status FrondService::Graph(grpc::ServerContext*, const v1::GraphRequest* request,
                                 v1::GraphReply* reply) {
  auto text = fabric_.graph(request->format());
  if (!text) return to_status(text.error());
  reply->set_text(std::move(*text));
  return grpc::Status::OK;
}

grpc::Status FrondService::Shutdown(grpc::ServerContext* context, const v1::ShutdownRequest*,
                                    v1::ShutdownReply*) {
  if (auto s = gate_.may_change(*context); !s.ok()) return s;
  fabric_.shutdown();
  return grpc::Status::OK;
}

}  // namespace frond::management
