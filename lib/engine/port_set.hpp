// SPDX-License-Identifier: BSD-3-Clause
// PortSet: which ports of a device have something to do. A bit a port.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace frond {

class PortSet {
 public:
  explicit PortSet(unsigned ports = 0) { resize(ports); }
  void resize(unsigned ports) {
    ports_ = ports;
    words_.assign((ports + 63) / 64, 0);
  }
  unsigned ports() const { return ports_; }

  void set(unsigned port) { words_[port / 64] |= std::uint64_t{1} << (port % 64); }
  void clear(unsigned port) { words_[port / 64] &= ~(std::uint64_t{1} << (port % 64)); }
  bool test(unsigned port) const { return (words_[port / 64] >> (port % 64) & 1) != 0; }
  bool any() const {
    for (std::uint64_t w : words_) {
      if (w != 0) return true;
    }
    return false;
  }
  // Both of the same size.
  void add(const PortSet& other) {
    for (unsigned i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  void set_all() {
    for (unsigned p = 0; p < ports_; ++p) set(p);
  }
  void clear_all() {
    for (auto& w : words_) w = 0;
  }

  // Calls f(port) for each port in the set, in order. f may clear its own port.
  template <class F> void for_each(F&& f) const {
    for (unsigned i = 0; i < words_.size(); ++i) {
      for (std::uint64_t w = words_[i]; w != 0; w &= w - 1) {
        f(i * 64 + static_cast<unsigned>(std::countr_zero(w)));
      }
    }
  }

 private:
  unsigned ports_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace frond
