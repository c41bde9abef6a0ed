// SPDX-License-Identifier: BSD-3-Clause
#include "control/config/nearest.hpp"

#include <gtest/gtest.h>

namespace frond::config {
namespace {

TEST(EditDistance, CountsSlips) {
  EXPECT_EQ(edit_distance("loss", "loss", 3), 0U);
  EXPECT_EQ(edit_distance("los", "loss", 3), 1U);
  EXPECT_EQ(edit_distance("lsos", "loss", 3), 1U) << "a swap is one slip";
  EXPECT_EQ(edit_distance("LOSS", "loss", 3), 0U);
  EXPECT_EQ(edit_distance("fat_tree", "fat-tree", 3), 0U);
  EXPECT_EQ(edit_distance("abc", "xyz", 2), 3U) << "limit + 1";
  EXPECT_EQ(edit_distance(std::string(1000, 'a'), "a", 2), 3U);
}

TEST(Nearest, FindsWhatWasMeant) {
  const std::vector<std::string> keys = {"topology", "nodes", "links", "hosts", "switch", "events"};
  EXPECT_EQ(nearest("topolgy", keys), "topology");
  EXPECT_EQ(nearest("link", keys), "links");
  EXPECT_EQ(nearest("swtich", keys), "switch");
  EXPECT_EQ(nearest("topo", keys), "topology") << "a beginning";
  EXPECT_EQ(nearest("zzz", keys), "");
  EXPECT_EQ(nearest("x", keys), "");
  EXPECT_EQ(nearest("", keys), "");
  EXPECT_EQ(nearest("host3", {"h1", "h3", "leaf3"}), "h3");
}

}  // namespace
}  // namespace frond::config
