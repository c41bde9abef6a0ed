// SPDX-License-Identifier: BSD-3-Clause
#include "base/units.hpp"

#include <array>
#include <cstdint>
#include <limits>

namespace frond {
namespace {

struct Suffix {
  std::string_view text;
  std::int64_t scale;
};

// digits[.digits], as an integer and the number of decimals; at most 18 digits in all.
struct Decimal {
  std::int64_t digits = 0;
  int decimals = 0;
};

constexpr std::int64_t power10(int n) {
  std::int64_t p = 1;
  for (int i = 0; i < n; ++i) p *= 10;
  return p;
}

std::optional<Decimal> take_decimal(std::string_view& text) {
  Decimal d;
  int count = 0;
  bool point = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && !point && count > 0) {
      point = true;
      continue;
    }
    if (c < '0' || c > '9') break;
    if (++count > 18) return std::nullopt;
    d.digits = d.digits * 10 + (c - '0');
    d.decimals += point ? 1 : 0;
  }
  if (count == 0 || text[i - 1] == '.') return std::nullopt;
  text.remove_prefix(i);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  return d;
}

// The value in base units, or nothing when it is not whole or does not fit.
std::optional<std::int64_t> scaled(Decimal d, std::int64_t scale) {
  const auto wide = static_cast<__int128>(d.digits) * scale;
  const std::int64_t divisor = power10(d.decimals);
  if (wide % divisor != 0) return std::nullopt;
  const auto value = wide / divisor;
  if (value > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

template <std::size_t N>
std::optional<std::int64_t> parse_quantity(std::string_view text,
                                           const std::array<Suffix, N>& suffixes) {
  const auto number = take_decimal(text);
  if (!number) return std::nullopt;
  for (const Suffix& s : suffixes) {
    if (text == s.text) return scaled(*number, s.scale);
  }
  if (text.empty() && number->digits == 0) return 0;
  return std::nullopt;
}

constexpr std::array<Suffix, 6> kTimes = {{{"ns", 1},
                                           {"us", 1'000},
                                           {"ms", 1'000'000},
                                           {"s", 1'000'000'000},
                                           {"min", 60'000'000'000},
                                           {"h", 3'600'000'000'000}}};

constexpr std::array<Suffix, 6> kRates = {{{"b", 1},
                                           {"K", 1'000},
                                           {"k", 1'000},
                                           {"M", 1'000'000},
                                           {"G", 1'000'000'000},
                                           {"T", 1'000'000'000'000}}};

constexpr std::array<Suffix, 17> kBytes = {{{"", 1},
                                            {"B", 1},
                                            {"K", 1'000},
                                            {"k", 1'000},
                                            {"M", 1'000'000},
                                            {"G", 1'000'000'000},
                                            {"T", 1'000'000'000'000},
                                            {"KB", 1'000},
                                            {"kB", 1'000},
                                            {"MB", 1'000'000},
                                            {"GB", 1'000'000'000},
                                            {"TB", 1'000'000'000'000},
                                            {"KiB", std::int64_t{1} << 10},
                                            {"kiB", std::int64_t{1} << 10},
                                            {"MiB", std::int64_t{1} << 20},
                                            {"GiB", std::int64_t{1} << 30},
                                            {"TiB", std::int64_t{1} << 40}}};

// value / scale with up to `decimals` decimals when that is exact.
std::optional<std::string> exact(std::int64_t value, std::int64_t scale, int decimals) {
  const auto wide = static_cast<__int128>(value) * power10(decimals);
  if (wide % scale != 0) return std::nullopt;
  const std::int64_t whole = value / scale;
  std::string text = std::to_string(whole);
  const auto rest =
      static_cast<std::int64_t>(wide / scale - static_cast<__int128>(whole) * power10(decimals));
  if (rest == 0) return text;
  std::string digits = std::to_string(rest);
  digits.insert(0, static_cast<std::size_t>(decimals) - digits.size(), '0');
  while (digits.back() == '0') digits.pop_back();
  return text + "." + digits;
}

// The largest unit (listed first) that the value reaches and states exactly.
template <std::size_t N>
std::string format_quantity(std::int64_t value, const std::array<Suffix, N>& units, int decimals) {
  for (const Suffix& u : units) {
    if (value < u.scale) continue;
    if (const auto text = exact(value, u.scale, u.scale == 1 ? 0 : decimals)) {
      return *text + std::string(u.text);
    }
  }
  return std::to_string(value) + std::string(units.back().text);
}

}  // namespace

std::optional<Time> parse_time(std::string_view text) {
  const auto n = parse_quantity(text, kTimes);
  return n ? std::optional(Time::ns(*n)) : std::nullopt;
}

std::optional<Rate> parse_rate(std::string_view text) {
  for (std::string_view tail : {"bit/s", "bps", "b/s"}) {
    if (!text.ends_with(tail)) continue;
    text.remove_suffix(tail.size());
    if (!text.empty() && (text.back() == ' ' || (text.back() >= '0' && text.back() <= '9'))) {
      const auto n = parse_quantity(std::string(text) + "b", kRates);
      return n ? std::optional(Rate::bps(static_cast<std::uint64_t>(*n))) : std::nullopt;
    }
    break;
  }
  const auto n = parse_quantity(text, kRates);
  return n ? std::optional(Rate::bps(static_cast<std::uint64_t>(*n))) : std::nullopt;
}

std::optional<Bytes> parse_bytes(std::string_view text) {
  const auto n = parse_quantity(text, kBytes);
  return n ? std::optional(Bytes(static_cast<std::uint64_t>(*n))) : std::nullopt;
}

std::optional<Probability> parse_probability(std::string_view text) {
  const auto d = take_decimal(text);
  if (!d || (!text.empty() && text != "%")) return std::nullopt;
  const bool percent = text == "%";
  const auto whole = static_cast<__int128>(power10(d->decimals)) * (percent ? 100 : 1);
  if (d->digits > whole) return std::nullopt;
  const auto parts =
      (static_cast<__int128>(d->digits) * static_cast<__int128>(Probability::kOne) + whole / 2) /
      whole;
  return Probability::parts(static_cast<std::uint64_t>(parts));
}

std::string format(Time value) {
  static constexpr std::array<Suffix, 4> kUnits = {
      {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}}};
  if (value == Time()) return "0s";
  return format_quantity(value.ns(), kUnits, 3);
}

std::string format(Rate value) {
  static constexpr std::array<Suffix, 5> kUnits = {
      {{"T", 1'000'000'000'000}, {"G", 1'000'000'000}, {"M", 1'000'000}, {"K", 1'000}, {"b/s", 1}}};
  return format_quantity(static_cast<std::int64_t>(value.bps()), kUnits, 3);
}

std::string format(Bytes value) {
  static constexpr std::array<Suffix, 5> kUnits = {{{"TiB", std::int64_t{1} << 40},
                                                    {"GiB", std::int64_t{1} << 30},
                                                    {"MiB", std::int64_t{1} << 20},
                                                    {"KiB", std::int64_t{1} << 10},
                                                    {"B", 1}}};
  return format_quantity(static_cast<std::int64_t>(value.count()), kUnits, 0);
}

// The shortest decimal percentage that reads back as the same parts: 10 decimals always do, since
// a part is 2.3e-8 %.
std::string format(Probability value) {
  for (int decimals = 0;; ++decimals) {
    const auto scale = static_cast<unsigned __int128>(power10(decimals)) * 100;
    const auto digits = (scale * value.parts() + Probability::kOne / 2) / Probability::kOne;
    std::string text = std::to_string(static_cast<std::uint64_t>(digits));
    if (decimals > 0) {
      if (text.size() <= static_cast<std::size_t>(decimals)) {
        text.insert(0, static_cast<std::size_t>(decimals) + 1 - text.size(), '0');
      }
      text.insert(text.size() - static_cast<std::size_t>(decimals), 1, '.');
    }
    text += '%';
    if (parse_probability(text) == value || decimals == 12) return text;
  }
}

}  // namespace frond
