// SPDX-License-Identifier: BSD-3-Clause
#include "cli/impairment.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/units.hpp"
#include "cli/picture.hpp"
#include "cli/session.hpp"
#include "cli/text.hpp"

namespace frond::cli {
namespace {
using management::Impairment;

constexpr std::pair<const char*, double Impairment::*> kShares[] = {
    {"loss", &Impairment::loss},
    {"corrupt", &Impairment::corrupt},
    {"duplicate", &Impairment::duplicate},
    {"reorder", &Impairment::reorder},
};
constexpr std::pair<const char*, Time Impairment::*> kTimes[] = {
    {"delay", &Impairment::delay},
    {"jitter", &Impairment::jitter},
    {"reorder-delay", &Impairment::reorder_delay},
};

Error invalid(std::string message) { return {Error::Code::invalid_argument, std::move(message)}; }

}  // namespace

Status parse_impairment(const std::vector<std::string>& words, Impairment& to) {
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value = equals == word.npos ? "" : word.substr(equals + 1);
    bool known = false;
    for (const auto& [share, field] : kShares) {
      if (name != share) continue;
      known = true;
      const auto p = parse_probability(value);
      if (!p)
        return invalid(fmt::format("'{}': {} is a share of the frames, like {}=0.1% or {}=0.001",
                                   word, name, name, name));
      // Through parts of 2^32 and back, so that it reads as it was written.
      to.*field = static_cast<double>(p->parts()) / static_cast<double>(Probability::kOne);
    }
    for (const auto& [time, field] : kTimes) {
      if (name != time) continue;
      known = true;
      const auto t = parse_time(value);
      if (!t || *t > Time::s(60))
        return invalid(
            fmt::format("'{}': {} is a time of at most a minute, like {}=1ms", word, name, name));
      to.*field = *t;
    }
    if (name == "silent") {
      known = true;
      if (!value.empty() && value != "yes" && value != "no")
        return invalid(fmt::format("'{}': silent is yes or no", word));
      to.silent = value != "no";
    }
    if (name == "seed") {
      known = true;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), to.seed);
      if (error != std::errc() || end != value.data() + value.size())
        return invalid(fmt::format("'{}': seed is a number", word));
    }
    if (known) continue;
    const std::vector<std::string> names = {"loss",    "corrupt",       "duplicate",
                                            "reorder", "reorder-delay", "delay",
                                            "jitter",  "silent",        "seed"};
    const std::string near = nearest(name, names);
    return invalid(
        near.empty()
            ? fmt::format("unknown impairment '{}'; there are {}", name, fmt::join(names, " "))
            : fmt::format("unknown impairment '{}'; did you mean {}?", name, near));
  }
  return {};
}

std::string impairment_text(const Impairment& i) {
  std::string text;
  auto add = [&](const std::string& word) { text += (text.empty() ? "" : " ") + word; };
  if (i.silent) add("silent");
  for (const auto& [name, field] : kShares) {
    if (i.*field != 0) add(fmt::format("{}={}", name, percent(i.*field)));
  }
  for (const auto& [name, field] : kTimes) {
    if (i.*field == Impairment().*field) continue;
    add(fmt::format("{}={}", name, format(i.*field)));
  }
  if (i.seed != 0) add(fmt::format("seed={}", i.seed));
  return text.empty() ? "none" : text;
}

}  // namespace frond::cli
