// SPDX-License-Identifier: BSD-3-Clause
// Inbox: what other threads ask a device's owner to do, run by the owner between bursts.
#pragma once

#include <atomic>
#include <functional>
#include <utility>

namespace frond {

class Inbox {
 public:
  using Message = std::function<void()>;

  Inbox() = default;
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;
  ~Inbox() {
    take_all([](Message&) {});
  }

  // Any thread. Messages of one thread run in the order in which it posted them.
  void post(Message message) {
    Node* node = new Node{std::move(message), head_.load(std::memory_order_relaxed)};
    // release: the owner's acquire in run() sees the whole message.
    while (!head_.compare_exchange_weak(node->next, node, std::memory_order_release,
                                        std::memory_order_relaxed)) {
    }
  }

  // The owner. Costs one load when nothing is there.
  void run() {
    if (head_.load(std::memory_order_relaxed) == nullptr) return;
    take_all([](Message& message) { message(); });
  }

 private:
  struct Node {
    Message message;
    Node* next;
  };

  template <class F> void take_all(F&& f) {
    Node* node = head_.exchange(nullptr, std::memory_order_acquire);
    Node* oldest = nullptr;
    while (node != nullptr) {
      Node* next = node->next;
      node->next = oldest;
      oldest = node;
      node = next;
    }
    while (oldest != nullptr) {
      Node* next = oldest->next;
      f(oldest->message);
      delete oldest;
      oldest = next;
    }
  }

  std::atomic<Node*> head_ = nullptr;
};

}  // namespace frond
