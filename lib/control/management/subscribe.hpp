// SPDX-License-Identifier: BSD-3-Clause
// Subscriber: one gNMI subscription list (3.5) on a Fabric, without gRPC. Owned and run by the one
// thread that serves the stream; a client that does not read stops only that thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "control/management/tree.hpp"
#include "gnmi.pb.h"

namespace frond::management {

struct SubscribeLimits {
  int subscriptions = 64;         // in one list
  Time shortest = Time::ms(100);  // sample and heartbeat intervals
  Time per_leaf = Time::us(5);    // and at least this much for each leaf: 200,000 updates a second
  unsigned bundle = 64;           // updates in one notification; 1 turns bundling off (3.5.2.1)
};

class Subscriber {
 public:
  using Send = std::function<bool(const gnmi::SubscribeResponse&)>;  // false: the client is gone

  static Result<std::unique_ptr<Subscriber>> make(const Fabric& fabric,
                                                  const gnmi::SubscriptionList& list,
                                                  const SubscribeLimits& limits = {});
  ~Subscriber();

  // All present values (unless updates_only), then sync_response.
  bool send_all(const Send& send);

  // STREAM, after send_all(): until stopped() or the client is gone. stopped() is asked at least
  // five times a second.
  void stream(const Send& send, const std::function<bool()>& stopped);

 private:
  class Timer;
  struct Item {  // one Subscription
    Query query;
    std::vector<const Row*> on_change;
    std::vector<const Row*> sampled;
    bool suppress = false;
    std::unique_ptr<Timer> sample;
    std::unique_ptr<Timer> heartbeat;
    std::map<std::string, Value> last;  // by path, where only differences are sent
  };

  Subscriber(const Fabric& fabric, const SubscribeLimits& limits);
  Status add(const gnmi::SubscriptionList& list, const gnmi::Subscription& subscription);
  // changes_only: leaves whose value is the last one sent are left out, vanished ones are deleted.
  bool send_item(const Send& send, Item& item, const std::vector<const Row*>& rows,
                 bool changes_only, std::uint32_t missed);

  const Fabric& fabric_;
  SubscribeLimits limits_;
  std::vector<Item> items_;
  gnmi::Path prefix_;
  gnmi::Encoding encoding_ = gnmi::JSON;
  bool updates_only_ = false;
  std::uint64_t seen_ = 0;  // the last event
};

}  // namespace frond::management
