// SPDX-License-Identifier: BSD-3-Clause
#include "topology/graph.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace frond::topology {
namespace {

std::size_t occurrences(const std::string& text, std::string_view what) {
  std::size_t n = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(Text, LeafSpine) {
  EXPECT_EQ(graph_text(leaf_spine("demo", {.leaves = 4, .spines = 2, .hosts_per_leaf = 2})),
            "demo: 2 spines, 4 leaves, 8 hosts\n"
            "  spine1 spine2 ─┬── leaf1 ── h1 h2\n"
            "                 ├── leaf2 ── h3 h4\n"
            "                 ├── leaf3 ── h5 h6\n"
            "                 └── leaf4 ── h7 h8\n");
}

TEST(Text, FatTreeShowsItsPods) {
  const std::string text = graph_text(fat_tree("ft", {.k = 4}));
  EXPECT_TRUE(
      text.starts_with("ft: 4 cores, 8 spines, 8 leaves, 16 hosts\n"
                       "  core1 core2 ──── spine1 spine3 spine5 spine7\n"
                       "  core3 core4 ──── spine2 spine4 spine6 spine8\n"
                       "  spine1 spine2 ─┬── leaf1 ── h1 h2\n"
                       "                 └── leaf2 ── h3 h4\n"
                       "  spine3 spine4 ─┬── leaf3 ── h5 h6\n"))
      << text;
}

TEST(Text, StaysWithinTheWidthAndTellsWhatIsDown) {
  const Topology t = leaf_spine("big", {.leaves = 3, .spines = 32, .hosts_per_leaf = 64});
  Picture p;
  p.links.resize(t.links.size());
  p.links[0].up = false;
  p.links[70].load = 0.93;
  const std::string text = graph_text(t, p);
  EXPECT_NE(text.find("spine1..spine32 ─┬── leaf1 ── h1..h64\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  leaf1:p1 ── h1:eth0  down\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  93%\n"), std::string::npos) << text;
  std::istringstream lines(graph_text(t, p, 60));
  for (std::string line; std::getline(lines, line);) {
    std::size_t columns = 0;
    for (char c : line) columns += (c & 0xc0) != 0x80;
    EXPECT_LE(columns, 60U) << line;
  }
}

TEST(Text, RunsOfNames) {
  EXPECT_EQ(detail::compressed({"h1", "h2", "h3", "h4", "h5", "x", "h7", "h08", "h9"}),
            (std::vector<std::string>{"h1..h5", "x", "h7", "h08", "h9"}));
  EXPECT_EQ(detail::compressed({"h1", "h2"}, 1), (std::vector<std::string>{"h1..h2"}));
  EXPECT_EQ(detail::compressed({"a", "a"}, 1), (std::vector<std::string>{"a", "a"}));
}

TEST(Dot, HasEachNodeAndLink) {
  const Topology t = fat_tree("ft", {.k = 4});
  Picture p;
  p.links.resize(t.links.size());
  p.links[5].up = false;
  const std::string dot = graph_dot(t, p);
  EXPECT_EQ(occurrences(dot, " -- "), t.links.size());
  EXPECT_EQ(occurrences(dot, "shape=box"), 20U);
  EXPECT_EQ(occurrences(dot, "shape=ellipse"), 16U);
  EXPECT_EQ(occurrences(dot, "style=dashed"), 1U);
}

TEST(Mermaid, HasEachLinkAndColoursByIndex) {
  const Topology t = leaf_spine("t", {});
  Picture p;
  p.links.resize(t.links.size());
  p.links[2].up = false;
  const std::string text = graph_mermaid(t, p);
  EXPECT_EQ(occurrences(text, " --- "), t.links.size() - 1);
  EXPECT_EQ(occurrences(text, " -.- |down| "), 1U);
  EXPECT_EQ(occurrences(text, "linkStyle 2 stroke:#c0392b"), 1U);
}

TEST(Svg, DrawsAllAndMarksState) {
  const Topology t = leaf_spine("t", {.leaves = 4, .spines = 2, .hosts_per_leaf = 6});
  Picture p;
  p.links.resize(t.links.size());
  p.links[0].up = false;
  p.links[1].paused = true;
  p.links[2].load = 0.9;
  p.subtitle = "a < b";
  const std::string svg = graph_svg(t, p);
  EXPECT_EQ(occurrences(svg, "<path class=\"link"), t.links.size());
  EXPECT_EQ(occurrences(svg, "<g class=\"node"), t.nodes.size());
  EXPECT_EQ(occurrences(svg, "class=\"link down\""), 1U);
  EXPECT_EQ(occurrences(svg, "class=\"link paused\""), 1U);
  EXPECT_EQ(occurrences(svg, "class=\"link hot\""), 1U);
  EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
}

TEST(Svg, ManyHostsAreABoxEachLeaf) {
  const Topology t = leaf_spine("t", {.leaves = 64, .spines = 8, .hosts_per_leaf = 32});
  const std::string svg = graph_svg(t);
  EXPECT_EQ(occurrences(svg, "<g class=\"node host\""), 64U);
  EXPECT_EQ(occurrences(svg, "<path class=\"link"), 64U * 8 + 64);
  EXPECT_LT(svg.size(), 200'000U);
}

TEST(Html, IsSelfContained) {
  const Topology t = leaf_spine("t", {});
  const std::string html = graph_html(t);
  EXPECT_EQ(occurrences(html, "<tr class="), t.links.size());
  EXPECT_EQ(occurrences(html, "http"), 1U) << "the namespace of SVG, nothing to fetch";
  EXPECT_TRUE(html.ends_with("</html>\n"));
}

}  // namespace
}  // namespace frond::topology
