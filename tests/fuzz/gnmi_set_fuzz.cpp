// SPDX-License-Identifier: BSD-3-Clause
// gNMI Set from any bytes, against a fabric in memory that aborts when it is asked for what no
// correct caller asks. A refused request must have changed nothing. The same paths are read too.
//
// Input: 'p' and a SetRequest as protocol buffer; or lines in pairs, an operation (d, r, u) with a
// path, and a JSON value.
#include <google/protobuf/stubs/logging.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "control/management/convert.hpp"
#include "control/management/fake_fabric.hpp"
#include "control/management/gnmi_rpc.hpp"
#include "control/management/subscribe.hpp"

namespace {
using namespace frond::management;

constexpr std::size_t kMaxOperations = 64;

std::string_view line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view first = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return first;
}

bool parse_text(std::string_view text, gnmi::SetRequest& request) {
  for (std::size_t n = 0; n < kMaxOperations && !text.empty(); ++n) {
    const std::string_view operation = line(text);
    const std::string_view value = line(text);
    if (operation.empty()) continue;
    const auto path = Path::parse(operation.substr(1));
    if (!path) continue;
    gnmi::Path message = to_message(path->elems, 0, path->elems.size());
    message.set_origin(path->origin);
    if (operation[0] == 'd') {
      *request.add_delete_() = message;
      continue;
    }
    gnmi::Update* update = operation[0] == 'r' ? request.add_replace() : request.add_update();
    *update->mutable_path() = message;
    update->mutable_val()->set_json_ietf_val(std::string(value));
  }
  return true;
}

// All that Set can change, as text.
std::string state_of(const FakeFabric& fabric) {
  std::string state;
  for (const Node& node : fabric.nodes()) {
    for (const Interface& i : node.interfaces) {
      state += fmt::format("{}:{} {}\n", node.name, i.name, i.admin_up);
    }
  }
  for (const Link& link : fabric.links()) {
    for (const Impairment* i : {&link.a.out, &link.b.out}) {
      state +=
          fmt::format("{} {} {} {} {} {} {} {} {}\n", i->loss, i->corrupt, i->duplicate, i->reorder,
                      i->reorder_delay.ns(), i->delay.ns(), i->jitter.ns(), i->silent, i->seed);
    }
  }
  return state;
}

void read_too(const FakeFabric& fabric, const gnmi::SetRequest& request) {
  gnmi::GetRequest get_request;
  *get_request.mutable_prefix() = request.prefix();
  gnmi::SubscriptionList list;
  list.set_mode(gnmi::SubscriptionList::ONCE);
  *list.mutable_prefix() = request.prefix();
  for (const gnmi::Update& update : request.update()) {
    *get_request.add_path() = update.path();
    *list.add_subscription()->mutable_path() = update.path();
  }
  for (const gnmi::Encoding encoding : {gnmi::JSON, gnmi::JSON_IETF, gnmi::PROTO}) {
    get_request.set_encoding(encoding);
    (void)get(fabric, get_request);
  }
  if (auto subscriber = Subscriber::make(fabric, list)) {
    (*subscriber)->send_all([](const gnmi::SubscribeResponse&) { return true; });
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  google::protobuf::SetLogHandler(nullptr);  // as the server does
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  gnmi::SetRequest request;
  const bool parsed = !input.empty() && input[0] == 'p'
                          ? request.ParseFromArray(data + 1, static_cast<int>(size - 1))
                          : parse_text(input, request);
  if (!parsed) return 0;
  FakeFabric fabric;
  const std::string before = state_of(fabric);
  const auto result = set(fabric, request);
  if (!result) {
    if (result.error().message.empty() || state_of(fabric) != before) std::abort();
  } else if (result->response_size() !=
             request.delete__size() + request.replace_size() + request.update_size()) {
    std::abort();
  }
  read_too(fabric, request);
  return 0;
}
