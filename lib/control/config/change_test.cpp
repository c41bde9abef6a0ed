// SPDX-License-Identifier: BSD-3-Clause
#include "control/config/change.hpp"

#include <gtest/gtest.h>

#include "control/config/load.hpp"

namespace frond::config {
namespace {

constexpr std::string_view kBase =
    "version: 1\nname: demo\n"
    "topology: {type: leaf-spine, leaves: 2, spines: 2, hosts_per_leaf: 1}\n";

FabricConfig load(const std::string& text) {
  Loaded loaded = parse_config(text, "demo.yaml");
  EXPECT_TRUE(loaded.config) << loaded.diagnostics.text();
  return *loaded.config;
}

std::string changes(const std::string& before, const std::string& after) {
  const FabricConfig a = load(before);
  const FabricConfig b = load(after);
  return change_text(diff(&a, &b));
}

std::string with(std::string_view more) { return std::string(kBase) + std::string(more); }

TEST(Change, SameIsNothing) {
  EXPECT_EQ(changes(with(""), with("")), "no change\n");
  // Another spelling of the same.
  EXPECT_EQ(changes(with("links: [{a: leaf1:p2, rate: 1G}]\n"),
                    with("links: [{a: spine1:p1, rate: 1000Mb/s}]\n")),
            "no change\n");
}

TEST(Change, OfALink) {
  EXPECT_EQ(changes(with(""), with("links: [{a: leaf1:p2, rate: 10G, impair: {loss: 1%}}]\n")),
            "~ link leaf1:p2-spine1:p1  rate 1G -> 10G\n"
            "~ link leaf1:p2-spine1:p1  impair_a.loss 0% -> 1%\n"
            "~ link leaf1:p2-spine1:p1  impair_b.loss 0% -> 1%\n");
  // Ends keep their side, whichever the file calls a.
  EXPECT_EQ(changes(with(""), with("links: [{a: spine1:p1, impair_a: {delay: 1ms}}]\n")),
            "~ link leaf1:p2-spine1:p1  impair_b.delay 0s -> 1ms\n");
}

TEST(Change, ALeafMoreTouchesNobodyElse) {
  std::string more(kBase);
  more.replace(more.find("leaves: 2"), 9, "leaves: 3");
  EXPECT_EQ(changes(with(""), more),
            "+ node h3  type host\n"
            "+ node leaf3  type leaf\n"
            "+ link leaf3:p1-h3:eth0  rate 1G, delay 500ns, driver wire\n"
            "+ link leaf3:p2-spine1:p3  rate 1G, delay 500ns, driver wire\n"
            "+ link leaf3:p3-spine2:p3  rate 1G, delay 500ns, driver wire\n");
  const std::string back = changes(more, with(""));
  EXPECT_LT(back.find("- link leaf3:p1-h3:eth0"), back.find("- node leaf3")) << "links go first";
  EXPECT_EQ(back.find("~"), std::string::npos);
}

TEST(Change, OfOptionsAndOfTheProcess) {
  const FabricConfig a = load(with(""));
  const FabricConfig b = load(with("switch: {queue: 64KiB, neighbor: {queue_limit: 3}}\n"));
  EXPECT_EQ(change_text(diff(&a, &b)),
            "~ switches  queue 1MiB -> 64KiB\n~ switches  neighbor.queue_limit 16 -> 3\n");
  EXPECT_FALSE(needs_restart(diff(&a, &b)));
  const FabricConfig c = load(with("cpus: [1]\n"));
  EXPECT_TRUE(needs_restart(diff(&a, &c)));
  const FabricConfig d = load(with("duration: 1s\n"));
  EXPECT_EQ(change_text(diff(&a, &d)), "~ simulation  duration 10ms -> 1s\n");
}

TEST(Change, FromAndToNothing) {
  const FabricConfig a = load(with("nodes: {leaf1: {ports: {p9: {driver: tap, device: t0}}}}\n"));
  const auto up = diff(nullptr, &a);
  const auto down = diff(&a, nullptr);
  ASSERT_EQ(up.size(), down.size());
  EXPECT_EQ(up.front().subject, Subject::fabric);
  for (const Change& c : up) EXPECT_EQ(c.kind, ChangeKind::add);
  for (const Change& c : down) EXPECT_EQ(c.kind, ChangeKind::remove);
  EXPECT_NE(change_text(up).find("+ port leaf1:p9  driver tap, device t0"), std::string::npos);
  EXPECT_TRUE(diff(nullptr, nullptr).empty());
  EXPECT_FALSE(needs_restart(up));
}

TEST(Change, AnotherKindOfNodeIsAnotherNode) {
  const std::string ring =
      "version: 1\nnodes: {x: {type: leaf}, y: {type: leaf}}\n"
      "links: [{a: x:p1, b: y:p1}]\n";
  std::string other = ring;
  other.replace(other.find("y: {type: leaf}"), 15, "y: {type: core}");
  const std::string text = changes(ring, other);
  EXPECT_NE(text.find("- node y\n"), std::string::npos) << text;
  EXPECT_NE(text.find("+ node y  type core\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace frond::config
