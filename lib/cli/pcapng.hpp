// SPDX-License-Identifier: BSD-3-Clause
// PcapngWriter: captured frames as a pcapng file (draft-ietf-opsawg-pcapng), nanosecond times,
// an interface block the first time an interface is seen, a comment on what was dropped.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>

#include "control/management/fabric.hpp"

namespace frond::cli {

class PcapngWriter {
 public:
  // false: what is written cannot be written (disk full, the reader is gone).
  using Write = std::function<bool(std::span<const std::uint8_t>)>;
  PcapngWriter(Write write, std::string application)
      : write_(std::move(write)), application_(std::move(application)) {}

  bool start();  // the section header
  bool frame(const management::CapturedFrame& frame);

 private:
  class Block;
  bool interface(const std::string& name);

  Write write_;
  std::string application_;
  std::map<std::string, std::uint32_t> interfaces_;
};

}  // namespace frond::cli
