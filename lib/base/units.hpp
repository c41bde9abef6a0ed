// SPDX-License-Identifier: BSD-3-Clause
// Quantities as people write them: `10us`, `100G`, `25Gb/s`, `64KiB`, `0.1%`. Exact: decimals are
// scaled as integers, and what is finer than the type's unit is refused, not rounded (except
// probabilities, which are parts of 2^32). format() writes what parse() reads back to the same
// value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/probability.hpp"
#include "base/rate.hpp"
#include "base/time.hpp"

namespace frond {

std::optional<Time> parse_time(std::string_view text);  // ns us ms s min h; 0; never negative
std::optional<Rate> parse_rate(std::string_view text);  // b K M G T, then nothing, b/s, bps, bit/s
std::optional<Bytes> parse_bytes(std::string_view text);  // none or B, K..T, KB..TB, KiB..TiB
std::optional<Probability> parse_probability(
    std::string_view text);  // 0.1% or 0.001, within [0, 1]

std::string format(Time value);         // 500ns, 1.5us, 3s
std::string format(Rate value);         // 100G, 2.5G, 1K
std::string format(Bytes value);        // 64KiB, 1500B
std::string format(Probability value);  // 0.1%

}  // namespace frond
