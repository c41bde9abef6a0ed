// SPDX-License-Identifier: BSD-3-Clause
#include "cli/pcapng.hpp"

#include <array>
#include <bit>
#include <cstring>
#include <vector>

namespace frond::cli {
namespace {

// Block types and options, by their sections in the draft.
constexpr std::uint32_t kSectionHeader = 0x0a0d0d0a;  // 4.1
constexpr std::uint32_t kInterface = 1;               // 4.2
constexpr std::uint32_t kEnhancedPacket = 6;          // 4.3
constexpr std::uint16_t kOptEnd = 0, kOptComment = 1;
constexpr std::uint16_t kShbUserAppl = 4;
constexpr std::uint16_t kIfName = 2, kIfTsresol = 9;
constexpr std::uint16_t kEpbFlags = 2;
constexpr std::uint16_t kLinktypeEthernet = 1;

}  // namespace

// A block in the byte order of this machine, which the section header's magic tells.
class PcapngWriter::Block {
 public:
  explicit Block(std::uint32_t type) {
    put(type);
    put(std::uint32_t{0});  // length: filled in when it is known
  }
  template <class T> void put(T value) {
    for (const std::uint8_t byte : std::bit_cast<std::array<std::uint8_t, sizeof(T)>>(value))
      bytes_.push_back(byte);
  }
  void padded(const void* data, std::size_t size) {
    const auto* p = static_cast<const std::uint8_t*>(data);
    bytes_.insert(bytes_.end(), p, p + size);
    while (bytes_.size() % 4 != 0) bytes_.push_back(0);
  }
  void option(std::uint16_t code, const void* data, std::size_t size) {
    put(code);
    put(static_cast<std::uint16_t>(size));
    padded(data, size);
  }
  void option(std::uint16_t code, const std::string& text) {
    option(code, text.data(), std::min<std::size_t>(text.size(), 65535));
  }
  std::span<const std::uint8_t> done() {
    put(kOptEnd);
    put(std::uint16_t{0});
    const auto length = static_cast<std::uint32_t>(bytes_.size() + 4);
    put(length);
    std::memcpy(&bytes_[4], &length, 4);
    return bytes_;
  }

 private:
  std::vector<std::uint8_t> bytes_;
};

bool PcapngWriter::start() {
  Block b(kSectionHeader);
  b.put(std::uint32_t{0x1a2b3c4d});
  b.put(std::uint16_t{1});
  b.put(std::uint16_t{0});
  b.put(std::int64_t{-1});  // how long the section is: not known
  b.option(kShbUserAppl, application_);
  return write_(b.done());
}

bool PcapngWriter::interface(const std::string& name) {
  Block b(kInterface);
  b.put(kLinktypeEthernet);
  b.put(std::uint16_t{0});
  b.put(std::uint32_t{0});  // snap length: none
  b.option(kIfName, name);
  const std::uint8_t nanoseconds = 9;
  b.option(kIfTsresol, &nanoseconds, 1);
  return write_(b.done());
}

bool PcapngWriter::frame(const management::CapturedFrame& f) {
  using Direction = management::CapturedFrame::Direction;
  const auto [it, fresh] =
      interfaces_.emplace(f.interface, static_cast<std::uint32_t>(interfaces_.size()));
  if (fresh && !interface(f.interface)) return false;
  Block b(kEnhancedPacket);
  b.put(it->second);
  const auto time = static_cast<std::uint64_t>(f.time.ns());
  b.put(static_cast<std::uint32_t>(time >> 32));
  b.put(static_cast<std::uint32_t>(time));
  b.put(static_cast<std::uint32_t>(f.bytes.size()));
  b.put(std::max(f.wire_length, static_cast<std::uint32_t>(f.bytes.size())));
  b.padded(f.bytes.data(), f.bytes.size());
  const std::uint32_t direction = f.direction == Direction::in    ? 1
                                  : f.direction == Direction::out ? 2
                                                                  : 0;
  if (direction != 0) b.option(kEpbFlags, &direction, sizeof(direction));
  std::string comment = f.comment;
  if (f.direction == Direction::drop) comment = "dropped: " + comment;
  if (!comment.empty()) b.option(kOptComment, comment);
  return write_(b.done());
}

}  // namespace frond::cli
