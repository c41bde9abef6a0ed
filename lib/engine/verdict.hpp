// SPDX-License-Identifier: BSD-3-Clause
// Verdict: what a stage decides about a packet: go on, drop it for a named reason, or hand it to
// the device's control agent.
#pragma once

#include <cstdint>
#include <string_view>

namespace frond {

// Which slow path of the control agent; features/punt.hpp lists them. 0: none.
using PuntCode = std::uint8_t;
inline constexpr PuntCode kNoPunt = 0;

// A drop is declared by the stage (or device) that does it, in its constexpr array kDrops. It is a
// counter, a trace word and a line in the docs.
struct DropInfo {
  std::string_view name;      // <proto>_<reason>
  std::string_view help;      // one sentence, with the clause
  PuntCode answer = kNoPunt;  // the agent may answer the sender (ICMP) before it is freed
};

class Verdict {
 public:
  constexpr Verdict() = default;
  static constexpr Verdict next() { return Verdict(0); }
  // index into the stage's kDrops
  template <class Index> static constexpr Verdict drop(Index index) {
    return Verdict(static_cast<std::uint8_t>(1 + static_cast<unsigned>(index)));
  }
  static constexpr Verdict punt(PuntCode code) {
    return Verdict(static_cast<std::uint8_t>(kPuntBit | code));
  }
  static constexpr Verdict from_code(std::uint8_t code) { return Verdict(code); }

  constexpr bool is_next() const { return code_ == 0; }
  constexpr bool is_punt() const { return (code_ & kPuntBit) != 0; }
  constexpr bool is_drop() const { return code_ != 0 && !is_punt(); }
  constexpr unsigned drop_index() const { return code_ - 1U; }
  constexpr PuntCode punt_code() const { return static_cast<PuntCode>(code_ & ~kPuntBit); }
  constexpr std::uint8_t code() const { return code_; }
  constexpr bool operator==(const Verdict&) const = default;

 private:
  static constexpr std::uint8_t kPuntBit = 0x80;
  explicit constexpr Verdict(std::uint8_t code) : code_(code) {}
  std::uint8_t code_ = 0;
};

}  // namespace frond
