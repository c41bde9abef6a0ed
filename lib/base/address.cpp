// SPDX-License-Identifier: BSD-3-Clause
#include "base/address.hpp"

#include <arpa/inet.h>

#include <charconv>
#include <cstdio>
#include <cstring>

namespace frond {

std::optional<MacAddress> MacAddress::parse(std::string_view text) {
  if (text.size() != 17) return std::nullopt;
  MacAddress mac;
  for (unsigned i = 0; i < 6; ++i) {
    const char* first = text.data() + i * 3;
    if (i > 0 && first[-1] != ':') return std::nullopt;
    const auto [end, error] = std::from_chars(first, first + 2, mac.bytes[i], 16);
    if (error != std::errc{} || end != first + 2) return std::nullopt;
  }
  return mac;
}

std::string MacAddress::to_string() const {
  char text[18];
  std::snprintf(text, sizeof text, "%02x:%02x:%02x:%02x:%02x:%02x", bytes[0], bytes[1], bytes[2],
                bytes[3], bytes[4], bytes[5]);
  return text;
}

std::optional<Ip4> Ip4::parse(std::string_view text) {
  in_addr a;
  if (inet_pton(AF_INET, std::string(text).c_str(), &a) != 1) return std::nullopt;
  return Ip4{ntohl(a.s_addr)};
}

std::string Ip4::to_string() const {
  char text[16];
  std::snprintf(text, sizeof text, "%u.%u.%u.%u", value >> 24, value >> 16 & 255, value >> 8 & 255,
                value & 255);
  return text;
}

std::optional<Ip6> Ip6::parse(std::string_view text) {
  Ip6 a;
  if (inet_pton(AF_INET6, std::string(text).c_str(), a.bytes.data()) != 1) return std::nullopt;
  return a;
}

std::string Ip6::to_string() const {
  char text[INET6_ADDRSTRLEN];
  inet_ntop(AF_INET6, bytes.data(), text, sizeof text);
  return text;
}

Ip6 Ip6::link_local(const MacAddress& mac) {
  const auto& m = mac.bytes;
  return {{0xfe, 0x80, 0, 0, 0, 0, 0, 0, static_cast<std::uint8_t>(m[0] ^ 2), m[1], m[2], 0xff,
           0xfe, m[3], m[4], m[5]}};
}

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  if (auto a = Ip4::parse(text)) return IpAddress(*a);
  if (auto a = Ip6::parse(text)) return IpAddress(*a);
  return std::nullopt;
}

std::string IpAddress::to_string() const {
  return v6 ? v6_address.to_string() : v4_address.to_string();
}

std::optional<IpPrefix> IpPrefix::parse(std::string_view text) {
  const auto slash = text.find('/');
  const auto address = IpAddress::parse(text.substr(0, slash));
  if (!address) return std::nullopt;
  unsigned length = address->bits();
  if (slash != std::string_view::npos) {
    const std::string_view digits = text.substr(slash + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
    if (error != std::errc{} || end != digits.data() + digits.size() || digits.empty() ||
        length > address->bits()) {
      return std::nullopt;
    }
  }
  return IpPrefix{*address, static_cast<std::uint8_t>(length)};
}

std::string IpPrefix::to_string() const {
  return address.to_string() + "/" + std::to_string(length);
}

namespace {

Ip4 masked(Ip4 a, unsigned length) {
  return {length == 0 ? 0 : a.value & ~std::uint32_t{0} << (32 - length)};
}

Ip6 masked(Ip6 a, unsigned length) {
  for (unsigned i = 0; i < 16; ++i) {
    const unsigned kept = length > i * 8 ? length - i * 8 : 0;
    if (kept < 8) a.bytes[i] = static_cast<std::uint8_t>(a.bytes[i] & (0xff00 >> kept));
  }
  return a;
}

}  // namespace

IpPrefix IpPrefix::network() const {
  if (address.v6) return {masked(address.v6_address, length), length};
  return {masked(address.v4_address, length), length};
}

bool IpPrefix::contains(const IpAddress& a) const {
  if (a.v6 != address.v6) return false;
  return IpPrefix{a, length}.network() == network();
}

}  // namespace frond
