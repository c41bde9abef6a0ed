// SPDX-License-Identifier: BSD-3-Clause
// SpscRing: a queue from one thread to one other. Bounded, unless both ends are one thread (a
// World), where it may grow. Indices only count up; slots are index modulo capacity.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

namespace frond::link {

template <class T> class SpscRing {
 public:
  // grows: push doubles the ring rather than fail; then both ends must be the same thread.
  SpscRing(std::size_t capacity, bool grows) : slots_(std::bit_ceil(capacity)), grows_(grows) {}
  SpscRing(const SpscRing&) = delete;
  SpscRing& operator=(const SpscRing&) = delete;

  std::size_t capacity() const { return slots_.size(); }

  // --- Producer ---
  // False when full. Not seen by the consumer before publish().
  bool push(const T& value) {
    if (next_tail_ - seen_head_ == slots_.size()) {
      // acquire: the consumer is done with the slots it gave back before we write to them.
      seen_head_ = head_.load(std::memory_order_acquire);
      if (next_tail_ - seen_head_ == slots_.size()) {
        if (!grows_) return false;
        grow();
      }
    }
    slots_[next_tail_++ & (slots_.size() - 1)] = value;
    return true;
  }
  // release: with the index, the consumer sees what was written to the slots before it.
  void publish() { tail_.store(next_tail_, std::memory_order_release); }

  // --- Consumer ---
  // The oldest, or nullptr. Stays valid until pop().
  const T* front() {
    if (next_head_ == seen_tail_) {
      // acquire: pairs with publish().
      seen_tail_ = tail_.load(std::memory_order_acquire);
      if (next_head_ == seen_tail_) return nullptr;
    }
    return &slots_[next_head_ & (slots_.size() - 1)];
  }
  void pop() { ++next_head_; }
  // release: the producer may reuse the slots that were popped, which we have read before.
  void give_back() { head_.store(next_head_, std::memory_order_release); }

 private:
  void grow() {
    std::vector<T> larger(slots_.size() * 2);
    for (std::size_t i = seen_head_; i != next_tail_; ++i) {
      larger[i & (larger.size() - 1)] = std::move(slots_[i & (slots_.size() - 1)]);
    }
    slots_.swap(larger);
  }

  std::vector<T> slots_;  // written by the producer; both read
  const bool grows_;
  // Each side's own line, so that neither waits for the other's stores to indices it has seen.
  alignas(64) std::atomic<std::size_t> tail_ = 0;  // producer writes
  std::size_t next_tail_ = 0, seen_head_ = 0;      // producer only
  alignas(64) std::atomic<std::size_t> head_ = 0;  // consumer writes
  std::size_t next_head_ = 0, seen_tail_ = 0;      // consumer only
};

}  // namespace frond::link
