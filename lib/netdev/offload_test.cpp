// SPDX-License-Identifier: BSD-3-Clause
#include "netdev/offload.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include <rte_ip.h>

#include "base/rng.hpp"

namespace frond::netdev {
namespace {

using Bytes8 = std::vector<std::uint8_t>;

// How a frame is put together; the truth about its checksum comes from DPDK's own functions.
struct Shape {
  const char* what;
  bool v6;
  unsigned tags;
  std::uint8_t protocol;
  Bytes8 extension;    // IPv4 options, or IPv6 extension headers (the first is of type `first`)
  std::uint8_t first;  // IPv6: type of the first extension header
};

Bytes8 build(const Shape& s, std::size_t payload, unsigned padding = 0) {
  Bytes8 f = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1};
  for (unsigned i = 0; i < s.tags; ++i)
    f.insert(f.end(), {0x81, 0, 0x60, static_cast<std::uint8_t>(i + 1)});
  f.insert(f.end(), {s.v6 ? std::uint8_t{0x86} : std::uint8_t{0x08},
                     s.v6 ? std::uint8_t{0xdd} : std::uint8_t{0}});
  Bytes8 l4 = {0x12, 0x34, 0x56, 0x78};
  if (s.protocol == IPPROTO_TCP) {
    l4.insert(l4.end(), {0xff, 0xff, 0xff, 0, 0, 0, 0, 9, 0x80, 0x99, 0x10, 0, 0, 0, 0, 0});
    l4.insert(l4.end(),
              {1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8});  // flags: CWR ACK PSH FIN; timestamps
  } else {
    const auto n = static_cast<std::uint16_t>(8 + payload);
    l4.insert(l4.end(), {static_cast<std::uint8_t>(n >> 8), static_cast<std::uint8_t>(n), 0, 0});
  }
  Rng rng(payload + s.tags);
  for (std::size_t i = 0; i < payload; ++i) l4.push_back(static_cast<std::uint8_t>(rng.next()));
  const std::size_t rest = s.extension.size() + l4.size();
  if (s.v6) {
    const auto n = static_cast<std::uint16_t>(rest);
    f.insert(f.end(),
             {0x60, 0, 0, 0, static_cast<std::uint8_t>(n >> 8), static_cast<std::uint8_t>(n),
              s.extension.empty() ? s.protocol : s.first, 64});
    for (int i = 0; i < 32; ++i) f.push_back(static_cast<std::uint8_t>(i < 16 ? 0xfd : 0xfc - i));
  } else {
    const auto n = static_cast<std::uint16_t>(20 + rest);
    const auto ihl = static_cast<std::uint8_t>(0x45 + s.extension.size() / 4);
    f.insert(f.end(), {ihl,
                       0,
                       static_cast<std::uint8_t>(n >> 8),
                       static_cast<std::uint8_t>(n),
                       0xff,
                       0xfe,
                       0x40,
                       0,
                       64,
                       s.protocol,
                       0,
                       0,
                       10,
                       0,
                       0,
                       1,
                       10,
                       200,
                       3,
                       4});
  }
  f.insert(f.end(), s.extension.begin(), s.extension.end());
  f.insert(f.end(), l4.begin(), l4.end());
  f.insert(f.end(), padding, 0xee);
  return f;
}

std::uint16_t& field(Bytes8& f, const Transport& t) {
  return *reinterpret_cast<std::uint16_t*>(f.data() + t.l4 + (t.protocol == IPPROTO_TCP ? 16 : 6));
}

// DPDK's opinion of the checksum, for frames where it has one (no routing header).
bool valid(Bytes8 f, const Transport& t) {
  const std::uint16_t stored = field(f, t);
  field(f, t) = 0;
  std::uint16_t right = 0;
  if (!t.v6) {
    right = rte_ipv4_udptcp_cksum(reinterpret_cast<const rte_ipv4_hdr*>(f.data() + t.l3),
                                  f.data() + t.l4);
  } else {
    rte_ipv6_hdr ip;  // it doesn't know extension headers
    std::memcpy(&ip, f.data() + t.l3, sizeof ip);
    ip.proto = t.protocol;
    ip.payload_len = rte_cpu_to_be_16(static_cast<std::uint16_t>(t.end - t.l4));
    right = rte_ipv6_udptcp_cksum(&ip, f.data() + t.l4);
  }
  return stored == right || (t.protocol == IPPROTO_TCP && stored == 0 && right == 0xffff);
}

const std::uint8_t kTcp = IPPROTO_TCP, kUdp = IPPROTO_UDP;
const Shape kShapes[] = {
    {"v4 tcp", false, 0, kTcp, {}, 0},
    {"v4 udp", false, 0, kUdp, {}, 0},
    {"v6 tcp", true, 0, kTcp, {}, 0},
    {"v6 udp", true, 0, kUdp, {}, 0},
    {"v4 tcp, tagged", false, 1, kTcp, {}, 0},
    {"v6 udp, two tags", true, 2, kUdp, {}, 0},
    {"v4 udp, options", false, 0, kUdp, {7, 7, 4, 0, 0, 0, 0, 0}, 0},
    {"v6 tcp, hop-by-hop and destination options",
     true,
     1,
     kTcp,
     {60, 0, 1, 4, 0, 0, 0, 0, kTcp, 0, 1, 4, 0, 0, 0, 0},
     0},
    {"v6 udp, atomic fragment", true, 0, kUdp, {kUdp, 0, 0, 0, 1, 2, 3, 4}, 44},
    {"v6 tcp, routing header that is used up",
     true,
     0,
     kTcp,
     {kTcp, 2, 4, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
     43},
};

TEST(Offload, FinishesPartialChecksums) {
  for (const Shape& s : kShapes) {
    for (std::size_t payload : {0, 1, 2, 3, 100, 1399}) {
      for (unsigned padding : {0U, 1U, 6U}) {
        Bytes8 f = build(s, payload, padding);
        const auto t = find_transport(f);
        ASSERT_TRUE(t) << s.what;
        EXPECT_EQ(t->end + padding, f.size()) << s.what;
        field(f, *t) = pseudo_header_sum(f, *t);
        EXPECT_TRUE(finish_partial_checksum(f)) << s.what << " " << payload;
        EXPECT_TRUE(valid(f, *t)) << s.what << " " << payload << " padding " << padding;
        EXPECT_FALSE(finish_partial_checksum(f)) << "once";
      }
    }
  }
}

TEST(Offload, LeavesOtherChecksumsAlone) {
  for (const Shape& s : kShapes) {
    Bytes8 f = build(s, 64);
    const auto t = find_transport(f);
    ASSERT_TRUE(t);
    write_transport_checksum(f, *t);
    const Bytes8 good = f;
    EXPECT_FALSE(finish_partial_checksum(f));
    EXPECT_EQ(f, good) << s.what;
    field(f, *t) = static_cast<std::uint16_t>(field(f, *t) ^ 0x5a5a);
    const Bytes8 bad = f;
    EXPECT_FALSE(finish_partial_checksum(f)) << "a wrong one must stay wrong";
    EXPECT_EQ(f, bad);
    field(f, *t) = 0;
    EXPECT_FALSE(finish_partial_checksum(f)) << "none (UDP) is not partial";
  }
}

TEST(Offload, NeverTouchesFragments) {
  Bytes8 f = build(kShapes[1], 64);
  auto t = *find_transport(f);
  field(f, t) = pseudo_header_sum(f, t);
  for (std::uint16_t offset :
       {std::uint16_t{0x2000}, std::uint16_t{0x0010}, std::uint16_t{0x2010}}) {
    Bytes8 g = f;
    g[t.l3 + 6] = static_cast<std::uint8_t>(offset >> 8);
    g[t.l3 + 7] = static_cast<std::uint8_t>(offset);
    const Bytes8 before = g;
    EXPECT_FALSE(finish_partial_checksum(g));
    EXPECT_EQ(g, before);
  }
  const Shape more{"v6 first fragment", true, 0, kUdp, {kUdp, 0, 0, 1, 1, 2, 3, 4}, 44};
  Bytes8 g = build(more, 64);
  EXPECT_TRUE(find_transport(g)->fragment);
  EXPECT_FALSE(finish_partial_checksum(g));
}

TEST(Offload, SegmentRoutingTakesTheFinalDestination) {
  // Type 4, one segment left; the list's first entry is the last to be visited (RFC 8754 2).
  Bytes8 routing = {kTcp, 2, 4, 1, 0, 0, 0, 0};
  for (int i = 0; i < 16; ++i) routing.push_back(static_cast<std::uint8_t>(0xa0 + i));
  Bytes8 f = build({"srv6", true, 0, kTcp, routing, 43}, 33);
  auto t = *find_transport(f);
  field(f, t) = pseudo_header_sum(f, t);
  ASSERT_TRUE(finish_partial_checksum(f));
  // What the last hop sees: the list's entry in the destination address.
  std::memcpy(f.data() + t.l3 + 24, routing.data() + 8, 16);
  EXPECT_TRUE(valid(f, t));
}

TEST(Offload, AnyPrefixOfAFrameIsSafe) {
  for (const Shape& s : kShapes) {
    const Bytes8 whole = build(s, 40);
    for (std::size_t n = 0; n < whole.size(); ++n) {
      Bytes8 f(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
      f.shrink_to_fit();
      EXPECT_FALSE(find_transport(f)) << s.what << " " << n;
      EXPECT_FALSE(finish_partial_checksum(f));
    }
    for (std::size_t i = 12; i < whole.size(); ++i) {  // nor does any changed byte lead outside
      Bytes8 f = whole;
      for (unsigned v = 0; v < 256; v += 5) {
        f[i] = static_cast<std::uint8_t>(v);
        if (const auto t = find_transport(f)) {
          EXPECT_LE(t->l4, t->end);
        }
        finish_partial_checksum(f);
      }
    }
  }
}

TEST(Offload, FinishesWhereTold) {
  Bytes8 f = build(kShapes[4], 77);
  const auto t = *find_transport(f);
  field(f, t) = pseudo_header_sum(f, t);
  EXPECT_TRUE(finish_checksum_at(f, t.l4, 16));
  EXPECT_TRUE(valid(f, t));
  const auto size = static_cast<std::uint32_t>(f.size());
  EXPECT_FALSE(finish_checksum_at(f, size - 1, 0));
  EXPECT_FALSE(finish_checksum_at(f, 0xffff, 0xffff));
  EXPECT_TRUE(finish_checksum_at(f, size - 2, 0));
}

class SegmentTest : public testing::TestWithParam<unsigned> {
 protected:
  SegmentTest() : pool_("segment", {.packets = 511, .data_room = 2048, .cache = 0}) {}
  ~SegmentTest() override {
    for (Packet* p : out_) p->free();
    out_.clear();
    EXPECT_EQ(pool_.in_use(), 0U);
  }
  static Bytes8 flat(const Packet& p) {
    Bytes8 all;
    for (const rte_mbuf* m = p.mbuf(); m != nullptr; m = m->next) {
      const auto* d = rte_pktmbuf_mtod(m, const std::uint8_t*);
      all.insert(all.end(), d, d + m->data_len);
    }
    EXPECT_EQ(all.size(), p.length());
    EXPECT_EQ(rte_mbuf_check(p.mbuf(), 1, nullptr), 0);
    return all;
  }
  PacketPool pool_;
  std::vector<Packet*> out_;
};

TEST_P(SegmentTest, PiecesAreWhatTheSenderWouldHaveSent) {
  for (const Shape& s : kShapes) {
    for (std::size_t payload : {0, 1, 1447, 1448, 1449, 14480, 20001}) {
      for (unsigned padding : {0U, 3U}) {
        for (Packet* p : out_) p->free();
        out_.clear();
        const unsigned mss = GetParam();
        const Bytes8 whole = build(s, payload, padding);
        const auto t = *find_transport(whole);
        ASSERT_EQ(segment(whole, mss, pool_, out_), Cut::done) << s.what;
        EXPECT_EQ(out_.size(), std::max<std::size_t>(1, (payload + mss - 1) / mss));
        const std::uint32_t header = t.l4 + (s.protocol == kTcp ? 32 : 8);
        std::size_t at = 0;
        for (std::size_t i = 0; i < out_.size(); ++i) {
          const Bytes8 f = flat(*out_[i]);
          const bool last = i + 1 == out_.size();
          const auto part = find_transport(f);
          ASSERT_TRUE(part) << s.what << " piece " << i;
          EXPECT_EQ(part->end, f.size()) << "no padding is left";
          EXPECT_EQ(part->l4, t.l4);
          EXPECT_EQ(f.size() - header, last ? payload - at : mss);
          EXPECT_TRUE(std::equal(f.begin() + header, f.end(),
                                 whole.begin() + static_cast<std::ptrdiff_t>(header + at)));
          EXPECT_TRUE(std::equal(f.begin(), f.begin() + t.l3, whole.begin())) << "MACs and tags";
          EXPECT_TRUE(valid(f, *part)) << s.what << " piece " << i;
          if (!s.v6) {
            const auto* ip = reinterpret_cast<const rte_ipv4_hdr*>(f.data() + t.l3);
            EXPECT_EQ(rte_be_to_cpu_16(ip->packet_id), static_cast<std::uint16_t>(0xfffe + i));
            EXPECT_EQ(checksum_sum({f.data() + t.l3, t.l4 - t.l3}), 0xffff) << "header checksum";
          }
          if (s.protocol == kTcp) {
            const std::uint8_t* tcp = f.data() + t.l4;
            std::uint32_t seq;
            std::memcpy(&seq, tcp + 4, 4);
            EXPECT_EQ(rte_be_to_cpu_32(seq), static_cast<std::uint32_t>(0xffffff00 + at))
                << "wraps";
            std::uint8_t flags = 0x10;  // ACK
            if (i == 0) flags |= 0x80;  // CWR
            if (last) flags |= 0x09;    // PSH, FIN
            EXPECT_EQ(tcp[13], flags) << s.what << " piece " << i << " of " << out_.size();
            EXPECT_TRUE(std::equal(tcp + 20, tcp + 32, whole.data() + t.l4 + 20)) << "options";
          } else {
            EXPECT_EQ(f[t.l4 + 4] << 8 | f[t.l4 + 5], static_cast<int>(f.size() - t.l4));
          }
          at += mss;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, SegmentTest, testing::Values(1448U, 8948U, 333U));

class SegmentLimits : public SegmentTest {};
TEST_F(SegmentLimits, AllOrNothing) {
  std::vector<Packet*> taken;
  while (pool_.available() > 5) taken.push_back(pool_.allocate());
  EXPECT_EQ(segment(build(kShapes[0], 14480), 1448, pool_, out_), Cut::no_buffer);
  EXPECT_TRUE(out_.empty());
  EXPECT_EQ(pool_.available(), 5U);
  for (Packet* p : taken) p->free();
}

TEST_F(SegmentLimits, RefusesWhatItCannotCut) {
  Bytes8 f = build(kShapes[0], 3000);
  EXPECT_EQ(segment(f, 0, pool_, out_), Cut::malformed);
  f[23] = 132;  // SCTP
  EXPECT_EQ(segment(f, 1448, pool_, out_), Cut::unsupported);
  f = build(kShapes[0], 3000);
  f[20] = 0x20;  // a fragment
  EXPECT_EQ(segment(f, 1448, pool_, out_), Cut::malformed);
  f = build(kShapes[0], 3000);
  f[14 + 20 + 12] = 0x40;  // a TCP header of 16 bytes
  EXPECT_EQ(segment(f, 1448, pool_, out_), Cut::malformed);
  EXPECT_EQ(segment(Bytes8(f.begin(), f.begin() + 100), 1448, pool_, out_), Cut::malformed);
  EXPECT_TRUE(out_.empty());
}

}  // namespace
}  // namespace frond::netdev
