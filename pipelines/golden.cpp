// SPDX-License-Identifier: BSD-3-Clause
#include "pipelines/golden.hpp"

#include "wire/checksum.hpp"

namespace frond::golden {
namespace {

using F = wire::FrameSpec;

// The identification that gives the header this checksum.
F with_checksum(std::uint16_t wanted) {
  F f = base();
  for (unsigned id = 0; id <= 0xffff; ++id) {
    f.id = static_cast<std::uint16_t>(id);
    const Frame frame = wire::build(f);
    if ((frame[24] << 8 | frame[25]) == wanted) return f;
  }
  throw StartError("no such checksum");
}

Frame edited(Frame frame, std::size_t at, std::uint8_t value) {
  frame[at] = value;
  return frame;
}

void forwarding(std::vector<Case>& all) {
  all.push_back(forwarded("IPv4 over a group of one", base()));
  all.push_back(forwarded("IPv6 over a group of one", base(true)));
  for (std::uint16_t port = 1000; port < 1004; ++port) {
    // Which way each flow goes is the hash's business, and fixed by the seed.
    all.push_back(forwarded("from the spine to our host", with([&](F& f) {
                              f.dst_mac = our_mac(2);
                              f.src_mac = peer_mac(2);
                              f.src = ip("10.0.2.1");
                              f.dst = ip("10.0.1.1");
                              f.src_port = port;
                            }),
                            0, 2));
  }
  all.push_back(forwarded("IPv6 from the spine to our host",
                          with(
                              [](F& f) {
                                f.dst_mac = our_mac(2);
                                f.src_mac = peer_mac(2);
                                f.src = ip("fd00:0:0:2::1");
                                f.dst = ip("fd00:0:0:1::1");
                              },
                              true),
                          0, 2));
  for (bool v6 : {false, true}) {
    all.push_back(forwarded("a VLAN tag stays", with([](F& f) { f.tags = {0x6064}; }, v6)));
    all.push_back(forwarded("a priority tag stays", with([](F& f) { f.tags = {0xe000}; }, v6)));
    all.push_back(forwarded("stacked tags stay", with([](F& f) { f.tags = {100, 0x2005}; }, v6)));
    all.push_back(forwarded("TCP", with([](F& f) { f.proto = wire::kProtoTcp; }, v6)));
    all.push_back(forwarded("a protocol without ports", with([](F& f) { f.proto = 47; }, v6)));
    all.push_back(forwarded("the last hop that TTL allows", with([](F& f) { f.ttl = 2; }, v6)));
    all.push_back(forwarded("ECN and DSCP stay", with([](F& f) { f.tos = 0xbb; }, v6)));
    all.push_back(forwarded("a first fragment", with(
                                                    [](F& f) {
                                                      f.more_fragments = true;
                                                      f.zeros = 40;
                                                    },
                                                    v6)));
    all.push_back(forwarded("a last fragment", with(
                                                   [](F& f) {
                                                     f.fragment_offset = 1480;
                                                     f.zeros = 40;
                                                   },
                                                   v6)));
    all.push_back(
        forwarded("a jumbo frame to a jumbo link", with([](F& f) { f.zeros = 8900; }, v6)));
  }
  all.push_back(forwarded("Ethernet padding stays", with([](F& f) { f.zeros = 0; })));
  all.push_back(forwarded("IPv4 options", with([](F& f) { f.options = {1, 1, 1, 0}; })));
  all.push_back(forwarded("IPv6 extension headers", with(
                                                        [](F& f) {
                                                          f.first_extension = wire::kProtoHopByHop;
                                                          f.options = {
                                                              wire::kProtoUdp, 0, 1, 4, 0, 0, 0, 0};
                                                        },
                                                        true)));
  all.push_back(forwarded("checksum 0xfeff becomes 0, not 0xffff", with_checksum(0xfeff)));
  all.push_back(forwarded("checksum 0", with_checksum(0)));
  Case other_zero = forwarded("checksum 0xffff, the other zero, is taken", with_checksum(0));
  other_zero.in[24] = other_zero.in[25] = 0xff;
  all.push_back(other_zero);
}

void punting(std::vector<Case>& all) {
  for (bool v6 : {false, true}) {
    const char* own = v6 ? "fd00:0:0:1::" : "10.0.1.0";
    all.push_back(punted("to us", with([&](F& f) { f.dst = ip(own); }, v6), kPuntLocal));
    all.push_back(punted("to us with TTL 0",
                         with(
                             [&](F& f) {
                               f.dst = ip(own);
                               f.ttl = 0;
                             },
                             v6),
                         kPuntLocal));
    all.push_back(punted("to another port's address",
                         with([&](F& f) { f.dst = ip(v6 ? "fd00:ffff::2" : "10.254.0.2"); }, v6),
                         kPuntLocal));
    all.push_back(punted(
        "to the loopback",
        with([&](F& f) { f.dst = ip(v6 ? "fd00:ffff:0:1::1" : "10.253.0.1"); }, v6), kPuntLocal));
    all.push_back(punted("BFD",
                         with(
                             [&](F& f) {
                               f.dst = ip(own);
                               f.dst_port = 3784;
                               f.ttl = 255;
                             },
                             v6),
                         kPuntBfd));
    all.push_back(punted("a neighbour that has not answered",
                         with([&](F& f) { f.dst = ip(v6 ? "fd00:0:0:1::3" : "10.0.1.3"); }, v6),
                         kPuntNoNeighbor));
  }
  const F solicitation = with(
      [](F& f) {
        f.proto = wire::kProtoIcmp6;
        f.dst = *IpAddress::parse("ff02::1:ff00:0");
        f.dst_mac = *MacAddress::parse("33:33:ff:00:00:00");
        f.payload = {135, 0, 0, 0};
        f.ttl = 255;
      },
      true);
  all.push_back(punted("a neighbour solicitation to our group", solicitation, kPuntNd));
  F probe = solicitation;
  probe.src = ip("::");
  all.push_back(punted("duplicate address detection of ours", probe, kPuntNd));
  all.push_back(punted("a link-local source asks for our address",
                       with(
                           [](F& f) {
                             f.proto = wire::kProtoIcmp6;
                             f.src = ip("fe80::1");
                             f.dst = ip("fd00:0:0:1::");
                             f.payload = {135, 0, 0, 0};
                           },
                           true),
                       kPuntNd));
  all.push_back(punted("to our link-local address",
                       with(
                           [](F& f) {
                             f.src = ip("fe80::1");
                             f.dst = Ip6::link_local(our_mac(0));
                           },
                           true),
                       kPuntLocal));
  all.push_back(punted("too big, to be fragmented", with([](F& f) {
                         f.dst = ip("10.9.0.7");
                         f.zeros = 1500;
                       }),
                       kPuntFragment));
  Frame arp(60);
  std::fill_n(arp.begin(), 6, 0xff);
  arp[6] = 2;
  arp[12] = 8;
  arp[13] = 6;
  all.push_back({.description = "ARP", .in = arp, .punt = kPuntArp});
}

void dropping(std::vector<Case>& all) {
  const auto to = [](const char* dst, bool v6 = false) {
    return with([&](F& f) { f.dst = ip(dst); }, v6);
  };
  const auto from = [](const char* src, bool v6 = false) {
    return with([&](F& f) { f.src = ip(src); }, v6);
  };
  const Frame plain = wire::build(base());
  const Frame plain6 = wire::build(base(true));
  all.push_back(dropped("13 bytes", Frame(13), "parse_runt"));
  all.push_back(dropped("an empty frame", Frame(), "parse_runt"));
  all.push_back(dropped("a tag that is cut off",
                        edited(edited(Frame(plain.begin(), plain.begin() + 15), 12, 0x81), 13, 0),
                        "parse_runt"));
  all.push_back(dropped("five tags", with([](F& f) {
                          f.tags = {1, 2, 3, 4, 5};
                        }),
                        "parse_too_many_tags"));
  all.push_back(
      dropped("half an IPv4 header", Frame(plain.begin(), plain.begin() + 30), "parse_truncated"));
  all.push_back(dropped("fewer bytes than total length", edited(plain, 16, 1), "parse_truncated"));
  all.push_back(
      dropped("fewer bytes than payload length", edited(plain6, 18, 1), "parse_truncated"));
  all.push_back(dropped("IPv4 version 6", edited(plain, 14, 0x65), "parse_ipv4_malformed"));
  all.push_back(dropped("IHL 4", edited(plain, 14, 0x44), "parse_ipv4_malformed"));
  all.push_back(dropped("IPv6 version 4", edited(plain6, 14, 0x40), "parse_ipv6_malformed"));
  all.push_back(
      dropped("another station's", with([](F& f) { f.dst_mac = our_mac(1); }), "l2_not_for_us"));
  all.push_back(dropped("a group as source", with([](F& f) { f.src_mac = wire::kBroadcastMac; }),
                        "l2_group_source"));
  Frame pause = edited(edited(plain, 12, 0x88), 13, 0x08);
  const std::uint8_t group[] = {0x01, 0x80, 0xc2, 0, 0, 1};
  std::copy(group, group + 6, pause.begin());
  all.push_back(dropped("a pause frame", pause, "l2_reserved_group"));
  all.push_back(dropped("an unknown type", edited(plain, 12, 0x77), "l2_unknown_type"));
  all.push_back(dropped("a wrong checksum", edited(plain, 24, plain[24] ^ 1), "ipv4_checksum"));
  for (const char* src :
       {"0.0.0.0", "0.1.2.3", "127.0.0.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"}) {
    all.push_back(dropped("a source that cannot be", from(src), "ipv4_martian_source"));
  }
  for (const char* dst : {"0.0.0.0", "127.0.0.1", "240.0.0.1"}) {
    all.push_back(dropped("a destination that cannot be", to(dst), "ipv4_martian_destination"));
  }
  for (const char* dst : {"224.0.0.5", "239.1.1.1", "255.255.255.255"}) {
    all.push_back(dropped("multicast and broadcast", to(dst), "ipv4_multicast"));
  }
  for (const char* src : {"::", "::1", "ff02::1", "::ffff:10.0.0.1"}) {
    all.push_back(dropped("a source that cannot be", from(src, true), "ipv6_martian_source"));
  }
  for (const char* dst : {"::", "::1", "::ffff:10.0.0.1"}) {
    all.push_back(
        dropped("a destination that cannot be", to(dst, true), "ipv6_martian_destination"));
  }
  all.push_back(dropped("a group that we don't listen to", to("ff02::5", true), "ipv6_multicast"));
  all.push_back(dropped("a link-local source", from("fe80::1", true), "ipv6_beyond_scope"));
  all.push_back(dropped("a link-local destination", to("fe80::7", true), "ipv6_beyond_scope"));
  all.push_back(dropped("unicast in a broadcast frame",
                        with([](F& f) { f.dst_mac = wire::kBroadcastMac; }), "ip_link_group"));
  all.push_back(dropped("no route", to("192.0.2.1"), "ip_no_route"));
  all.push_back(dropped("no IPv6 route", to("2001:db8::1", true), "ip_no_route"));
  all.push_back(dropped("a blackhole", to("10.0.3.1"), "ip_blackhole"));
  all.push_back(dropped("a directed broadcast", to("10.9.0.255"), "ip_blackhole"));
  for (bool v6 : {false, true}) {
    all.push_back(dropped("TTL 1", with([](F& f) { f.ttl = 1; }, v6), "ip_ttl_expired"));
    all.push_back(dropped("TTL 0", with([](F& f) { f.ttl = 0; }, v6), "ip_ttl_expired"));
  }
  all.push_back(dropped("a group whose members are dead", to("10.0.5.1"), "ecmp_no_member"));
  all.push_back(dropped("too big, with DF", with([](F& f) {
                          f.dst = ip("10.9.0.7");
                          f.dont_fragment = true;
                          f.zeros = 1500;
                        }),
                        "ipv4_too_big"));
  all.push_back(dropped("IPv6, too big",
                        with(
                            [](F& f) {
                              f.dst = ip("fd00:0:0:1::3");
                              f.zeros = 1500;
                            },
                            true),
                        "ipv6_too_big"));
}

}  // namespace

std::vector<Case> cases() {
  std::vector<Case> all;
  forwarding(all);
  punting(all);
  dropping(all);
  return all;
}

}  // namespace frond::golden
