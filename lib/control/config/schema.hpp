// SPDX-License-Identifier: BSD-3-Clause
// The JSON schema of the file (draft 2020-12), for editors: from the same fields() as the loader.
#pragma once

#include <string>

namespace frond::config {

std::string json_schema();

}  // namespace frond::config
