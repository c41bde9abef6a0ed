// SPDX-License-Identifier: BSD-3-Clause
// Finding what belongs to this installation: fabricd, and the configurations that are shipped.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace frond::cli {

// FROND_FABRICD, else beside this program, in ../libexec/frond, or in the build tree.
Result<std::string> find_fabricd();

// A file, or the name of a shipped configuration ("demo"): an absolute path.
Result<std::string> find_config(const std::string& file);
std::vector<std::string> shipped_configs();  // names, sorted

// Replaces this process by fabricd with these arguments; returns only an error.
Error become_fabricd(const std::vector<std::string>& arguments);

}  // namespace frond::cli
