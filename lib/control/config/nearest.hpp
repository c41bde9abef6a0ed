// SPDX-License-Identifier: BSD-3-Clause
// The word that was probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace frond::config {

// Insertions, deletions, substitutions and swaps of neighbours (Damerau; optimal string
// alignment), without regard to case, and with '-' as '_'. At most `limit`, else limit + 1.
unsigned edit_distance(std::string_view a, std::string_view b, unsigned limit);

// The nearest candidate that is near enough: a third of the word, or where the word begins the
// candidate or the other way round. "" when none is. The first of equals.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace frond::config
