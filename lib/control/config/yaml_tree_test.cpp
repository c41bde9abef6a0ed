// SPDX-License-Identifier: BSD-3-Clause
#include "control/config/yaml_tree.hpp"

#include <gtest/gtest.h>

namespace frond::config::yaml {
namespace {

TEST(Tree, KeepsWhereKeysAndValuesStand) {
  Diagnostics out("x.yaml");
  const auto root = parse("a: 1\nb:\n  - x\n  - {c: 'd', e: }\n", out);
  ASSERT_TRUE(root);
  EXPECT_EQ(out.errors(), 0U);
  EXPECT_EQ(root->find("a")->mark, (Mark{1, 1}));
  EXPECT_EQ(root->find("a")->value.mark, (Mark{1, 4}));
  const Node& list = root->find("b")->value;
  ASSERT_EQ(list.items.size(), 2U);
  EXPECT_EQ(list.items[0].mark, (Mark{3, 5}));
  const Node& d = list.items[1].find("c")->value;
  EXPECT_EQ(d.mark, (Mark{4, 9}));
  EXPECT_TRUE(d.quoted);
  EXPECT_FALSE(list.items[0].quoted);
  EXPECT_TRUE(list.items[1].find("e")->value.is_null());
  EXPECT_EQ(root->find("z"), nullptr);
}

TEST(Tree, TellsNullFromNothing) {
  Diagnostics out("x.yaml");
  const auto root = parse(
      "\xef\xbb\xbf"
      "a: null\nb: ~\nc:\n\xc3\xa4: null\n",
      out);
  ASSERT_TRUE(root);
  EXPECT_EQ(root->find("a")->value.text, "null");
  EXPECT_EQ(root->find("b")->value.text, "~");
  EXPECT_EQ(root->find("c")->value.text, "");
  EXPECT_EQ(root->find("\xc3\xa4")->value.text, "null");
}

TEST(Tree, RefusesTextThatIsNotUtf8) {
  for (const char* bad : {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82",
                          "\x80", "\xf5\x80\x80\x80", "\xe0\x80\x80", "\xf0\x8f\xbf\xbf"}) {
    Diagnostics out("x.yaml");
    EXPECT_FALSE(parse(std::string("a: ") + bad, out));
    ASSERT_EQ(out.list().size(), 1U);
    EXPECT_EQ(out.list()[0].rule, "not-utf8");
    EXPECT_EQ(out.list()[0].mark, (Mark{1, 4}));
  }
  Diagnostics out("x.yaml");
  EXPECT_TRUE(parse("a: \xf4\x8f\xbf\xbf\xe2\x82\xac\xc3\xa9\n", out));
}

TEST(Tree, DepthIsBounded) {
  for (unsigned depth : {kMaxDepth, kMaxDepth + 1}) {
    Diagnostics out("x.yaml");
    const auto root = parse(std::string(depth, '[') + std::string(depth, ']'), out);
    EXPECT_EQ(root.has_value(), depth == kMaxDepth);
  }
}

TEST(Tree, SizeIsBounded) {
  const std::string line = "# 8 byte\n";
  std::string text = "a: 1\n";
  while (text.size() + line.size() <= kMaxBytes) text += line;
  Diagnostics good("x.yaml");
  EXPECT_TRUE(parse(text, good));
  Diagnostics bad("x.yaml");
  EXPECT_FALSE(parse(text + line, bad));
}

}  // namespace
}  // namespace frond::config::yaml
