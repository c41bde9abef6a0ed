// SPDX-License-Identifier: BSD-3-Clause
// MAC and IP addresses as values: configuration, tables and text. Frames hold wire types instead
// (wire/), which convert explicitly.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace frond {

struct MacAddress {
  std::array<std::uint8_t, 6> bytes{};
  constexpr auto operator<=>(const MacAddress&) const = default;
  constexpr bool is_group() const { return (bytes[0] & 1) != 0; }
  static std::optional<MacAddress> parse(std::string_view text);  // aa:bb:cc:dd:ee:ff
  std::string to_string() const;
};

// Host order.
struct Ip4 {
  std::uint32_t value = 0;
  constexpr auto operator<=>(const Ip4&) const = default;
  static std::optional<Ip4> parse(std::string_view text);  // dotted quad, no leading zeros
  std::string to_string() const;
};

// Network order, as on the wire.
struct Ip6 {
  std::array<std::uint8_t, 16> bytes{};
  constexpr auto operator<=>(const Ip6&) const = default;
  constexpr bool is_multicast() const { return bytes[0] == 0xff; }
  constexpr bool is_link_local() const { return bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80; }
  static std::optional<Ip6> parse(std::string_view text);
  std::string to_string() const;                 // RFC 5952
  static Ip6 link_local(const MacAddress& mac);  // fe80:: with modified EUI-64 (RFC 4291 2.5.1)
  constexpr Ip6 solicited_node() const {         // RFC 4291 2.7.1
    return {{0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, bytes[13], bytes[14], bytes[15]}};
  }
};

struct IpAddress {
  bool v6 = false;
  Ip4 v4_address;  // when !v6
  Ip6 v6_address;  // when v6
  IpAddress() = default;
  IpAddress(Ip4 a) : v4_address(a) {}
  IpAddress(Ip6 a) : v6(true), v6_address(a) {}
  auto operator<=>(const IpAddress&) const = default;
  static std::optional<IpAddress> parse(std::string_view text);
  std::string to_string() const;
  unsigned bits() const { return v6 ? 128 : 32; }
};

struct IpPrefix {
  IpAddress address;  // the host bits may be set: an interface's address with its length
  std::uint8_t length = 0;
  auto operator<=>(const IpPrefix&) const = default;
  static std::optional<IpPrefix> parse(std::string_view text);  // 10.0.1.0/31; without /: a host
  std::string to_string() const;
  IpPrefix network() const;  // host bits cleared
  bool contains(const IpAddress& a) const;
};

}  // namespace frond
