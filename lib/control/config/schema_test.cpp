// SPDX-License-Identifier: BSD-3-Clause
#include "control/config/schema.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace frond::config {
namespace {

TEST(Schema, TheFileIsWhatTheFieldsSay) {
  std::ifstream in(FROND_SOURCE_DIR "/configs/frond.schema.json");
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_TRUE(text.str() == json_schema()) << "run: frond-schema > configs/frond.schema.json";
}

}  // namespace
}  // namespace frond::config
