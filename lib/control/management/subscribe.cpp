// SPDX-License-Identifier: BSD-3-Clause
#include "control/management/subscribe.hpp"

#include <fmt/format.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>

#include "control/management/convert.hpp"
#include "control/management/json.hpp"

namespace frond::management {
namespace {

constexpr Time kCheckStopped = Time::ms(200);
constexpr Time kTargetDefinedSample = Time::s(10);

Error invalid(std::string message) { return {Error::Code::invalid_argument, std::move(message)}; }

timespec to_timespec(Time t) { return {t.ns() / 1'000'000'000, t.ns() % 1'000'000'000}; }

}  // namespace

// A periodic timer of the kernel's: it keeps the cadence and counts what we missed.
class Subscriber::Timer {
 public:
  explicit Timer(Time interval) : fd_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
    const itimerspec spec{to_timespec(interval), to_timespec(interval)};
    if (fd_ < 0 || timerfd_settime(fd_, 0, &spec, nullptr) != 0) {
      throw StartError("no timer: too many files are open");
    }
  }
  ~Timer() { close(fd_); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  Time remaining() const {
    itimerspec spec{};
    timerfd_gettime(fd_, &spec);
    return Time::s(spec.it_value.tv_sec) + Time::ns(spec.it_value.tv_nsec);
  }
  // How often it was due since the last call.
  std::uint64_t expired() {
    std::uint64_t n = 0;
    return read(fd_, &n, sizeof(n)) == sizeof(n) ? n : 0;
  }

 private:
  int fd_;
};

Subscriber::Subscriber(const Fabric& fabric, const SubscribeLimits& limits)
    : fabric_(fabric), limits_(limits) {}
Subscriber::~Subscriber() = default;

Result<std::unique_ptr<Subscriber>> Subscriber::make(const Fabric& fabric,
                                                     const gnmi::SubscriptionList& list,
                                                     const SubscribeLimits& limits) {
  if (auto s = check_encoding(list.encoding()); !s) return s.error();
  if (list.subscription().empty()) return invalid("the subscription list is empty");
  if (list.subscription_size() > limits.subscriptions) {
    return invalid(fmt::format("{} subscriptions; a list may have {}", list.subscription_size(),
                               limits.subscriptions));
  }
  auto result = std::unique_ptr<Subscriber>(new Subscriber(fabric, limits));
  result->encoding_ = list.encoding();
  result->updates_only_ = list.updates_only();
  result->seen_ = fabric.last_event();  // before the first values, so that no change is missed
  reflect_target(list.prefix(), "", result->prefix_);
  for (const gnmi::Subscription& s : list.subscription()) {
    if (auto status = result->add(list, s); !status) return status.error();
  }
  return result;
}

Status Subscriber::add(const gnmi::SubscriptionList& list, const gnmi::Subscription& subscription) {
  Item item;
  auto path = from_message(list.prefix(), subscription.path());
  if (!path) return path.error();
  item.query.path = std::move(*path);
  auto models = check_models(list.use_models());
  if (!models) return models.error();
  item.query.models = *models;
  auto rows = find_rows(item.query);
  if (!rows) return rows.error();
  const bool stream = list.mode() == gnmi::SubscriptionList::STREAM;
  for (const Row* row : *rows) {
    const bool target_picks_change = subscription.mode() == gnmi::TARGET_DEFINED && row->on_change;
    if (stream && subscription.mode() == gnmi::ON_CHANGE && !row->on_change) {
      return invalid(
          fmt::format("{} is not reported on change; subscribe to it with SAMPLE, or to "
                      "its siblings that change with events",
                      row->path));
    }
    const bool change = stream && (subscription.mode() == gnmi::ON_CHANGE || target_picks_change);
    (change ? item.on_change : item.sampled).push_back(row);
  }
  item.suppress = subscription.suppress_redundant();
  if (stream) {
    const Snapshot snapshot = Snapshot::take(fabric_, parts_of(*rows));
    const std::size_t leaves = select(snapshot, *rows, item.query).size();
    const Time shortest =
        std::max(limits_.shortest, limits_.per_leaf * static_cast<std::int64_t>(leaves));
    auto interval = [&](std::uint64_t ns, const char* name) -> Result<Time> {
      constexpr std::uint64_t kDay = 86'400'000'000'000;
      if (ns >= static_cast<std::uint64_t>(shortest.ns()) && ns <= kDay) {
        return Time::ns(static_cast<std::int64_t>(ns));
      }
      return invalid(fmt::format("{} {} ns is out of range: {} ns (for {} leaves) to a day", name,
                                 ns, shortest.ns(), leaves));
    };
    if (!item.sampled.empty()) {
      Time every = subscription.mode() == gnmi::TARGET_DEFINED
                       ? std::max(kTargetDefinedSample, shortest)
                       : shortest;
      if (subscription.sample_interval() != 0) {
        auto given = interval(subscription.sample_interval(), "sample_interval");
        if (!given) return given.error();
        every = *given;
      }
      item.sample = std::make_unique<Timer>(every);
    }
    if (subscription.heartbeat_interval() != 0) {
      auto given = interval(subscription.heartbeat_interval(), "heartbeat_interval");
      if (!given) return given.error();
      item.heartbeat = std::make_unique<Timer>(*given);
    }
  }
  items_.push_back(std::move(item));
  return {};
}

bool Subscriber::send_item(const Send& send, Item& item, const std::vector<const Row*>& rows,
                           bool changes_only, std::uint32_t missed) {
  if (rows.empty()) return true;
  const Snapshot snapshot = Snapshot::take(fabric_, parts_of(rows) | kInfo);
  const std::vector<Leaf> leaves = select(snapshot, rows, item.query);
  const auto style = encoding_ == gnmi::JSON_IETF ? JsonStyle::ietf : JsonStyle::plain;
  gnmi::SubscribeResponse response;
  auto start = [&] {
    gnmi::Notification* n = response.mutable_update();
    n->Clear();
    n->set_timestamp(snapshot.info.now.ns());
    *n->mutable_prefix() = prefix_;
    if (!item.query.path.origin.empty()) n->mutable_prefix()->set_origin(item.query.path.origin);
  };
  auto full = [&](unsigned limit) {
    const auto& n = response.update();
    return static_cast<unsigned>(n.update_size() + n.delete__size()) >= limit;
  };
  start();
  const bool remember = item.suppress || !item.on_change.empty();
  std::map<std::string, Value> now;
  for (const Leaf& leaf : leaves) {
    if (remember) {
      std::string key = Path{"", leaf.path}.to_string();
      const auto last = item.last.find(key);
      const bool same = last != item.last.end() && last->second == leaf.value;
      now.emplace(std::move(key), leaf.value);
      if (changes_only && same) continue;
    }
    gnmi::Update* update = response.mutable_update()->add_update();
    *update->mutable_path() = to_message(leaf.path, 0, leaf.path.size());
    update->set_duplicates(missed);
    if (encoding_ == gnmi::PROTO) {
      to_message(leaf.value, *update->mutable_val());
    } else {
      std::string text =
          to_json(leaf.value, style).dump(-1, ' ', false, Json::error_handler_t::replace);
      if (encoding_ == gnmi::JSON)
        update->mutable_val()->set_json_val(std::move(text));
      else
        update->mutable_val()->set_json_ietf_val(std::move(text));
    }
    if (full(limits_.bundle)) {
      if (!send(response)) return false;
      start();
    }
  }
  if (remember) {
    // Only rows of this call: the item's other rows keep what they had.
    for (auto it = item.last.begin(); it != item.last.end();) {
      const Path path = *Path::parse(it->first);
      const bool ours = std::any_of(rows.begin(), rows.end(), [&](const Row* row) {
        return schema_path(*row).size() == path.elems.size() &&
               names_match(path.elems, schema_path(*row));
      });
      if (!ours) {
        ++it;
        continue;
      }
      if (!now.contains(it->first)) {
        *response.mutable_update()->add_delete_() = to_message(path.elems, 0, path.elems.size());
        if (full(limits_.bundle)) {
          if (!send(response)) return false;
          start();
        }
      }
      it = item.last.erase(it);
    }
    item.last.merge(now);
  }
  return !full(1) || send(response);
}

bool Subscriber::send_all(const Send& send) {
  for (Item& item : items_) {
    if (updates_only_) {
      // Only what changes from here on: learn the present values without sending them.
      const Send discard = [](const gnmi::SubscribeResponse&) { return true; };
      send_item(discard, item, item.on_change, false, 0);
      if (item.suppress) send_item(discard, item, item.sampled, false, 0);
      continue;
    }
    if (!send_item(send, item, item.on_change, false, 0)) return false;
    if (!send_item(send, item, item.sampled, false, 0)) return false;
  }
  gnmi::SubscribeResponse sync;
  sync.set_sync_response(true);
  return send(sync);
}

void Subscriber::stream(const Send& send, const std::function<bool()>& stopped) {
  while (!stopped()) {
    Time wait = kCheckStopped;
    for (const Item& item : items_) {
      if (item.sample) wait = std::min(wait, item.sample->remaining());
      if (item.heartbeat) wait = std::min(wait, item.heartbeat->remaining());
    }
    const std::vector<Event> events = fabric_.events(seen_, wait);
    if (!events.empty()) seen_ = events.back().sequence;
    for (Item& item : items_) {
      if (!events.empty() && !send_item(send, item, item.on_change, true, 0)) return;
      if (item.heartbeat && item.heartbeat->expired() > 0) {
        if (!send_item(send, item, item.on_change, false, 0)) return;
        if (item.suppress && !send_item(send, item, item.sampled, false, 0)) return;
      }
      if (!item.sample) continue;
      if (const std::uint64_t due = item.sample->expired(); due > 0) {
        const auto missed = static_cast<std::uint32_t>(std::min<std::uint64_t>(due - 1, 1'000'000));
        if (!send_item(send, item, item.sampled, item.suppress, missed)) return;
      }
    }
  }
}

}  // namespace frond::management
