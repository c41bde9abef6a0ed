// SPDX-License-Identifier: BSD-3-Clause
#include "features/icmp/fragment.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "features/slow_path_fixture.hpp"
#include "wire/checksum.hpp"

namespace frond::icmp {
namespace {

class FragmentTest : public SlowPathTest {
 protected:
  // Fragments it, checks each piece, and puts the payload together again.
  Bytes8 reassembled(const Bytes8& frame, std::uint32_t mtu, bool more_at_the_end = false) {
    Packet* p = packet(0, frame);
    std::vector<Packet*> pieces;
    EXPECT_EQ(fragment(pool, *p, mtu, pieces), Fragmented::done);
    const auto& original = p->at<wire::Ipv4>(14);
    Bytes8 payload;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const auto& h = pieces[i]->at<wire::Ipv4>(14);
      EXPECT_TRUE(wire::header_valid(h));
      EXPECT_LE(h.total_length.host(), mtu);
      EXPECT_EQ(pieces[i]->length(), 14U + h.total_length.host());
      EXPECT_EQ(h.id, original.id);
      EXPECT_EQ(h.fragment_offset(), original.fragment_offset() + payload.size());
      const bool last = i + 1 == pieces.size();
      EXPECT_EQ(h.more_fragments(), !last || more_at_the_end);
      EXPECT_TRUE(last || (h.total_length.host() - h.header_bytes()) % 8 == 0);
      EXPECT_EQ(std::memcmp(pieces[i]->data(), frame.data(), 14), 0);
      const std::uint32_t header = 14 + h.header_bytes();
      Bytes8 part(pieces[i]->length() - header);
      const void* bytes = rte_pktmbuf_read(pieces[i]->mbuf(), header,
                                           static_cast<std::uint32_t>(part.size()), part.data());
      if (bytes != part.data()) std::memcpy(part.data(), bytes, part.size());
      payload.insert(payload.end(), part.begin(), part.end());
    }
    count = pieces.size();
    for (Packet* piece : pieces) piece->free();
    p->free();
    return payload;
  }
  static Bytes8 frame(std::size_t data, wire::FrameSpec spec = {}) {
    spec.src = ip("10.0.0.9");
    spec.dst = ip("10.0.2.9");
    spec.id = 77;
    spec.proto = 200;
    for (std::size_t i = 0; i < data; ++i) {
      spec.payload.push_back(static_cast<std::uint8_t>(i * 7 + i / 256));
    }
    return wire::build(spec);
  }
  std::size_t count = 0;
};

TEST_F(FragmentTest, EveryLengthAndMtu) {
  for (std::size_t data : {1U, 7U, 8U, 9U, 555U, 556U, 557U, 1480U, 1481U, 4000U, 8000U}) {
    for (std::uint32_t mtu : {68U, 576U, 577U, 583U, 1280U, 1500U}) {
      const Bytes8 f = frame(data);
      EXPECT_EQ(reassembled(f, mtu), Bytes8(f.begin() + 34, f.end())) << data << " " << mtu;
      if (data + 20 <= mtu) {
        EXPECT_EQ(count, 1U);
      } else {
        EXPECT_EQ(count, (data + (mtu - 20) / 8 * 8 - 1) / ((mtu - 20) / 8 * 8)) << data << mtu;
      }
    }
  }
}

TEST_F(FragmentTest, OfAFragment) {
  const Bytes8 middle = frame(1600, {.more_fragments = false, .fragment_offset = 800});
  EXPECT_EQ(reassembled(middle, 600).size(), 1600U);
  Bytes8 first = frame(1600);
  auto& h = header_at<wire::Ipv4>(first, 14);
  h.fragment = wire::be16(wire::Ipv4::kMoreFragments);
  wire::fill_header_checksum(h);
  EXPECT_EQ(reassembled(first, 600, true).size(), 1600U);
}

TEST_F(FragmentTest, OptionsGoWhereTheirFlagSays) {
  // Record route (7): first only. Loose source route (0x83): copied.
  Packet* p = packet(0, frame(1400, {.options = {1, 7, 3, 4, 0x83, 4, 4, 9, 0, 0, 0, 0}}));
  std::vector<Packet*> pieces;
  ASSERT_EQ(fragment(pool, *p, 600, pieces), Fragmented::done);
  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_EQ(pieces[0]->at<wire::Ipv4>(14).header_bytes(), 32U);
  for (unsigned i = 1; i < 3; ++i) {
    EXPECT_EQ(pieces[i]->at<wire::Ipv4>(14).header_bytes(), 24U);
    const std::uint8_t copied[] = {0x83, 4, 4, 9};
    EXPECT_EQ(std::memcmp(pieces[i]->data() + 34, copied, 4), 0);
  }
  for (Packet* piece : pieces) piece->free();
  p->free();
}

TEST_F(FragmentTest, HostileOptionsAreNoLoop) {
  for (Bytes8 options : {Bytes8{0x83, 0, 0, 0}, Bytes8{0x83, 1, 0, 0}, Bytes8{0x83, 255, 0, 0},
                         Bytes8{1, 1, 1, 0x83}, Bytes8(40, 1), Bytes8(40, 0x83)}) {
    Packet* p = packet(0, frame(1400, {.options = options}));
    std::vector<Packet*> pieces;
    EXPECT_EQ(fragment(pool, *p, 600, pieces), Fragmented::done);
    for (Packet* piece : pieces) {
      EXPECT_TRUE(wire::header_valid(piece->at<wire::Ipv4>(14)));
      piece->free();
    }
    p->free();
  }
}

TEST_F(FragmentTest, ElidedPayloadStaysElided) {
  Packet* p = packet(0, wire::build({.src = ip("10.0.0.9"),
                                     .dst = ip("10.0.2.9"),
                                     .payload = Bytes8(100),
                                     .zeros = 3000,
                                     .elide_zeros = true}));
  p->meta().elided = 3000;
  std::vector<Packet*> pieces;
  ASSERT_EQ(fragment(pool, *p, 1500, pieces), Fragmented::done);
  ASSERT_EQ(pieces.size(), 3U);
  for (Packet* piece : pieces) {
    EXPECT_EQ(piece->frame_length(), 14U + piece->at<wire::Ipv4>(14).total_length.host());
    piece->free();
  }
  p->free();
}

TEST_F(FragmentTest, RefusesWhatContradictsItself) {
  const auto refused = [&](Bytes8 f, std::uint32_t mtu) {
    Packet* p = packet(0, f);
    std::vector<Packet*> pieces;
    EXPECT_EQ(fragment(pool, *p, mtu, pieces), Fragmented::malformed);
    EXPECT_TRUE(pieces.empty());
    p->free();
  };
  refused(frame(1400), 27);  // no room for eight bytes
  Bytes8 f = frame(1400);
  f[14] = 0x44;
  refused(f, 600);
  f = frame(1400);
  f[14] = 0x4f;  // a longer header than there is: its end lies beyond the datagram
  header_at<wire::Ipv4>(f, 14).total_length = wire::be16(60);
  refused(f, 600);
  f = frame(1400);
  f.resize(500);
  refused(f, 600);
  f = frame(1400, {.fragment_offset = 65528});
  refused(f, 600);
}

TEST_F(FragmentTest, AnEmptyPoolLeavesNothingBehind) {
  Packet* p = packet(0, frame(1400));
  std::vector<Packet*> all;
  while (Packet* one = pool.allocate()) all.push_back(one);
  for (int i = 0; i < 3; ++i) {
    std::vector<Packet*> pieces;
    EXPECT_EQ(fragment(pool, *p, 400, pieces), Fragmented::no_buffer);
    EXPECT_TRUE(pieces.empty());
    all.back()->free();
    all.pop_back();
  }
  for (Packet* one : all) one->free();
  p->free();
}

}  // namespace
}  // namespace frond::icmp
