// SPDX-License-Identifier: BSD-3-Clause
// gNMI's unary calls on a Fabric, as functions from request to response: no gRPC, so that tests and
// fuzzers call them as the server does. Errors carry the code that the specification asks for.
#pragma once

#include <string>

#include "base/result.hpp"
#include "control/management/fabric.hpp"
#include "gnmi.pb.h"

namespace frond::management {

gnmi::CapabilityResponse capabilities();
Result<gnmi::GetResponse> get(const Fabric& fabric, const gnmi::GetRequest& request);

// A transaction (3.4.3): all of it happens, or none. Not to be called by two threads at once.
Result<gnmi::SetResponse> set(Fabric& fabric, const gnmi::SetRequest& request);

}  // namespace frond::management
