// SPDX-License-Identifier: BSD-3-Clause
// Value: what a leaf holds.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace frond::management {

// std::uint32_t and std::uint64_t are told apart: RFC 7951 6.1 writes 64-bit numbers as strings.
using Value =
    std::variant<bool, std::uint32_t, std::uint64_t, double, std::string, std::vector<std::string>>;

}  // namespace frond::management
