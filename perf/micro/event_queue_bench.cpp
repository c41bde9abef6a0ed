// SPDX-License-Identifier: BSD-3-Clause
// The World's event queue against the usual ones. Each iteration is a packet hop's share: pop the
// earliest event and push another, `pending` being there all the time ("hold" model). Delays are
// those of a fabric: mostly a wire's 500 ns and a frame's serialisation, some timers of 10 ms.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <queue>
#include <vector>

#include "base/rng.hpp"
#include "sim/event_queue.hpp"

namespace {

using frond::Rng;
using frond::Time;
using frond::sim::Event;

struct Numbered {
  Event event;
  std::uint64_t sequence;
  bool before(const Numbered& o) const {
    return event.time != o.event.time ? event.time < o.event.time : sequence < o.sequence;
  }
};

class BinaryHeap {
 public:
  void push(Time time, std::uint32_t target, std::uint16_t port, Event::Kind kind) {
    heap_.push({{time, target, port, kind}, next_++});
  }
  bool pop(Time until, Event& e) {
    if (heap_.empty() || heap_.top().event.time > until) return false;
    e = heap_.top().event;
    heap_.pop();
    return true;
  }

 private:
  struct Later {
    bool operator()(const Numbered& a, const Numbered& b) const { return b.before(a); }
  };
  std::priority_queue<Numbered, std::vector<Numbered>, Later> heap_;
  std::uint64_t next_ = 0;
};

class QuaternaryHeap {
 public:
  void push(Time time, std::uint32_t target, std::uint16_t port, Event::Kind kind) {
    const Numbered item{{time, target, port, kind}, next_++};
    std::size_t i = heap_.size();
    heap_.push_back(item);
    while (i > 0) {
      const std::size_t parent = (i - 1) / 4;
      if (!item.before(heap_[parent])) break;
      heap_[i] = heap_[parent];
      i = parent;
    }
    heap_[i] = item;
  }
  bool pop(Time until, Event& e) {
    if (heap_.empty() || heap_[0].event.time > until) return false;
    e = heap_[0].event;
    const Numbered item = heap_.back();
    heap_.pop_back();
    const std::size_t n = heap_.size();
    if (n == 0) return true;
    std::size_t i = 0;
    for (;;) {
      const std::size_t first = 4 * i + 1;
      if (first >= n) break;
      std::size_t least = first;
      for (std::size_t c = first + 1; c < std::min(first + 4, n); ++c) {
        if (heap_[c].before(heap_[least])) least = c;
      }
      if (!heap_[least].before(item)) break;
      heap_[i] = heap_[least];
      i = least;
    }
    heap_[i] = item;
    return true;
  }

 private:
  std::vector<Numbered> heap_;
  std::uint64_t next_ = 0;
};

Time delay(Rng& rng) {
  const std::uint64_t draw = rng.next();
  if (draw % 64 == 0) return Time::ms(10);
  return Time::ns(static_cast<std::int64_t>(500 + (draw >> 32) % 1200));
}

template <class Queue> void hold(benchmark::State& state) {
  Queue queue;
  Rng rng(7);
  const auto pending = static_cast<std::uint64_t>(state.range(0));
  for (std::uint64_t i = 0; i < pending; ++i) {
    queue.push(delay(rng), static_cast<std::uint32_t>(i), 0, Event::Kind::arrival);
  }
  // Until the timers are spread as they will be, a queue is not in its steady state.
  Event event;
  for (std::uint64_t i = 0; i < 20 * pending; ++i) {
    queue.pop(Time::max(), event);
    queue.push(event.time + delay(rng), event.target, event.port, event.kind);
  }
  for (auto _ : state) {
    queue.pop(Time::max(), event);
    queue.push(event.time + delay(rng), event.target, event.port, event.kind);
    benchmark::DoNotOptimize(event);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
}

// What the loop costs without a queue.
class NoQueue {
 public:
  void push(Time time, std::uint32_t target, std::uint16_t port, Event::Kind kind) {
    event_ = {time, target, port, kind};
  }
  bool pop(Time, Event& e) {
    e = event_;
    return true;
  }

 private:
  Event event_;
};

void sizes(benchmark::internal::Benchmark* b) {
  for (std::int64_t n : {100, 1'000, 10'000, 100'000}) b->Arg(n);
}
BENCHMARK(hold<NoQueue>)->Name("event_queue/none")->Arg(100);
BENCHMARK(hold<BinaryHeap>)->Name("event_queue/binary_heap")->Apply(sizes);
BENCHMARK(hold<QuaternaryHeap>)->Name("event_queue/quaternary_heap")->Apply(sizes);
BENCHMARK(hold<frond::sim::BasicEventQueue<6>>)->Name("event_queue/radix_64")->Apply(sizes);
BENCHMARK(hold<frond::sim::BasicEventQueue<8>>)->Name("event_queue/radix_256")->Apply(sizes);
BENCHMARK(hold<frond::sim::BasicEventQueue<10>>)->Name("event_queue/radix_1024")->Apply(sizes);
BENCHMARK(hold<frond::sim::BasicEventQueue<12>>)->Name("event_queue/radix_4096")->Apply(sizes);

}  // namespace

BENCHMARK_MAIN();
