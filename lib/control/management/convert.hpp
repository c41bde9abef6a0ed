// SPDX-License-Identifier: BSD-3-Clause
// Between gNMI's messages and our values.
#pragma once

#include <google/protobuf/repeated_field.h>

#include "control/management/tree.hpp"
#include "gnmi.pb.h"

namespace frond::management {

// prefix + path (specification 2.4.1), within the bounds of path.hpp. The origin may be in either.
Result<Path> from_message(const gnmi::Path& prefix, const gnmi::Path& path);
gnmi::Path to_message(const std::vector<PathElem>& elems, std::size_t first, std::size_t end);

void to_message(const Value& value, gnmi::TypedValue& message);  // as a scalar

// What a response's prefix must repeat of the request's (2.2.2.1).
void reflect_target(const gnmi::Path& request, const std::string& origin, gnmi::Path& response);

Status check_encoding(gnmi::Encoding encoding);
// Those that change what the request means are refused: we serve none.
Status check_extensions(const google::protobuf::RepeatedPtrField<gnmi_ext::Extension>& extensions);
Result<std::vector<std::string>> check_models(
    const google::protobuf::RepeatedPtrField<gnmi::ModelData>& models);
std::vector<std::string> supported_models();

}  // namespace frond::management
