// SPDX-License-Identifier: BSD-3-Clause
#include "control/config/nearest.hpp"

#include <algorithm>
#include <array>

namespace frond::config {
namespace {

constexpr std::size_t kLongest = 32;  // longer words are no misspelt names

char fold(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  return c == '-' ? '_' : c;
}

bool begins(std::string_view whole, std::string_view part) {
  if (part.size() < 3 || part.size() > whole.size()) return false;
  return std::equal(part.begin(), part.end(), whole.begin(),
                    [](char a, char b) { return fold(a) == fold(b); });
}

// h1 and host1, sw3 and switch3: the same initial and number.
bool alike(std::string_view a, std::string_view b) {
  const auto digits = [](std::string_view s) {
    return s.substr(std::min(s.size(), s.find_last_not_of("0123456789") + 1));
  };
  return !a.empty() && !b.empty() && fold(a[0]) == fold(b[0]) && !digits(a).empty() &&
         digits(a) == digits(b) && digits(a).size() < a.size();
}

}  // namespace

unsigned edit_distance(std::string_view a, std::string_view b, unsigned limit) {
  if (a.size() > kLongest || b.size() > kLongest) return limit + 1;
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > limit) return limit + 1;
  std::array<std::array<unsigned, kLongest + 1>, 3> rows{};
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = static_cast<unsigned>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i - 1) % 3];
    row[0] = static_cast<unsigned>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const char x = fold(a[i - 1]);
      const char y = fold(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (x == y ? 0U : 1U)});
      if (i > 1 && j > 1 && x == fold(b[j - 2]) && fold(a[i - 2]) == y) {
        row[j] = std::min(row[j], rows[(i - 2) % 3][j - 2] + 1);
      }
    }
  }
  return std::min(rows[a.size() % 3][b.size()], limit + 1);
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  if (word.empty()) return {};
  const auto limit = static_cast<unsigned>(std::max<std::size_t>(1, (word.size() + 1) / 3));
  unsigned best = limit + 1;
  std::string found;
  for (const std::string& c : candidates) {
    unsigned d = edit_distance(word, c, limit);
    if (d > limit && (begins(c, word) || begins(word, c) || alike(word, c))) d = limit;
    if (d < best && d < std::max(word.size(), c.size())) {
      best = d;
      found = c;
    }
  }
  return found;
}

}  // namespace frond::config
