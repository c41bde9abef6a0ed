// SPDX-License-Identifier: BSD-3-Clause
// Errors as gRPC statuses, and back. Includes gRPC: for .cpp files of the server and client only.
#pragma once

#include <grpcpp/support/status.h>

#include "base/result.hpp"

namespace frond::management {

inline grpc::Status to_status(const Error& error) {
  using Code = Error::Code;
  grpc::StatusCode code = grpc::StatusCode::INTERNAL;
  switch (error.code) {
    case Code::invalid_argument:
      code = grpc::StatusCode::INVALID_ARGUMENT;
      break;
    case Code::not_found:
      code = grpc::StatusCode::NOT_FOUND;
      break;
    case Code::already_exists:
      code = grpc::StatusCode::ALREADY_EXISTS;
      break;
    case Code::unavailable:
      code = grpc::StatusCode::UNAVAILABLE;
      break;
    case Code::permission_denied:
      code = grpc::StatusCode::PERMISSION_DENIED;
      break;
    case Code::resource_exhausted:
      code = grpc::StatusCode::RESOURCE_EXHAUSTED;
      break;
    case Code::unimplemented:
      code = grpc::StatusCode::UNIMPLEMENTED;
      break;
    case Code::internal:
      break;
  }
  return {code, error.message};
}

inline Error to_error(const grpc::Status& status) {
  using Code = Error::Code;
  switch (status.error_code()) {
    case grpc::StatusCode::INVALID_ARGUMENT:
      return {Code::invalid_argument, status.error_message()};
    case grpc::StatusCode::NOT_FOUND:
      return {Code::not_found, status.error_message()};
    case grpc::StatusCode::ALREADY_EXISTS:
      return {Code::already_exists, status.error_message()};
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
      return {Code::permission_denied, status.error_message()};
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return {Code::resource_exhausted, status.error_message()};
    case grpc::StatusCode::UNIMPLEMENTED:
      return {Code::unimplemented, status.error_message()};
    case grpc::StatusCode::UNAVAILABLE:
      return {Code::unavailable, "the fabric does not answer: " + status.error_message()};
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      return {Code::unavailable,
              "the fabric did not answer in time; it may be overloaded or stopped"};
    default:
      return {Code::internal, status.error_message()};
  }
}

}  // namespace frond::management
