// SPDX-License-Identifier: BSD-3-Clause
// Result<T>: a value, or an Error with a code and a sentence that says what to do next.
// For control code; nothing fails in a stage.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

namespace frond {

struct Error {
  enum class Code : std::uint8_t {
    invalid_argument,  // the request is wrong; repeating it cannot help
    not_found,
    already_exists,
    unavailable,  // not now: a missing device, a full table, a peer that is gone
    permission_denied,
    resource_exhausted,
    unimplemented,
    internal,
  };
  Code code = Code::internal;
  std::string message;
};

// Can't start: thrown by constructors at start-up and in the control plane only; main prints it.
class StartError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

template <class T> class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <> class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), ok_(false) {}
  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  const Error& error() const { return error_; }

 private:
  Error error_;
  bool ok_ = true;
};

using Status = Result<void>;

}  // namespace frond
