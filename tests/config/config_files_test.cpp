// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "control/config/build.hpp"
#include "control/config/load.hpp"
#include "topology/addressing.hpp"

namespace frond::config {
namespace {

namespace fs = std::filesystem;

const fs::path kHere = fs::path(FROND_SOURCE_DIR) / "tests/config";

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<fs::path> files(const fs::path& folder) {
  std::vector<fs::path> list;
  for (const auto& e : fs::directory_iterator(folder)) {
    if (e.path().extension() == ".yaml") list.push_back(e.path());
  }
  std::sort(list.begin(), list.end());
  return list;
}

TEST(BadConfigs, EachSaysExactlyWhatIsWrong) {
  const auto bad = files(kHere / "bad-configs");
  EXPECT_GE(bad.size(), 100U);
  for (const fs::path& path : bad) {
    SCOPED_TRACE(path);
    const Loaded loaded = parse_config(read(path), path.filename().string());
    fs::path expect = path;
    EXPECT_EQ(loaded.diagnostics.text(), read(expect.replace_extension(".expect")));
    EXPECT_EQ(loaded.config.has_value(), loaded.diagnostics.errors() == 0);
    EXPECT_EQ(loaded.exit_code(true), loaded.diagnostics.errors() > 0 ? 1 : 3);
    std::istringstream lines(loaded.diagnostics.text());
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
    // The same, for programs.
    const auto sarif = nlohmann::json::parse(loaded.diagnostics.sarif());
    EXPECT_EQ(sarif["version"], "2.1.0");
    EXPECT_EQ(sarif["runs"][0]["results"].size(), loaded.diagnostics.list().size());
  }
}

TEST(GoodConfigs, EachLoadsWithoutAWord) {
  auto good = files(kHere / "good");
  const auto shipped = files(fs::path(FROND_SOURCE_DIR) / "configs");
  EXPECT_GE(shipped.size(), 7U);
  good.insert(good.end(), shipped.begin(), shipped.end());
  for (const fs::path& path : good) {
    SCOPED_TRACE(path);
    const Loaded loaded = load_config(path.string());
    ASSERT_EQ(loaded.diagnostics.errors(), 0U) << loaded.diagnostics.text();
    EXPECT_EQ(loaded.diagnostics.warnings(), 0U) << loaded.diagnostics.text();
    ASSERT_TRUE(loaded.config);
    const Plan plan = build(*loaded.config);
    EXPECT_EQ(plan.link_config.size(), plan.topology.links.size());
    EXPECT_TRUE(topology::assign_addresses(plan.topology).ok());
  }
}

TEST(GoodConfigs, AllOptionsArriveWhereTheyBelong) {
  const Loaded loaded = load_config((kHere / "good/all-options.yaml").string());
  ASSERT_TRUE(loaded.config) << loaded.diagnostics.text();
  const FabricConfig& c = *loaded.config;
  const Plan plan = build(c);
  const auto& t = plan.topology;
  EXPECT_EQ(c.name, "all.options-1");
  EXPECT_EQ(c.seed, ~std::uint64_t{0});
  EXPECT_EQ(t.nodes.size(), 10U);
  EXPECT_EQ(t.nodes[t.find("leaf9")].id, 9U);
  EXPECT_EQ(switch_ecmp_seed(c, "leaf1"), 7U);
  EXPECT_NE(switch_ecmp_seed(c, "leaf2"), switch_ecmp_seed(c, "spine1"));
  const auto link_at = [&](const char* end) { return t.port(*t.find_end(end)).link; };
  const std::uint32_t uplink = link_at("leaf1:p3");
  EXPECT_EQ(t.links[uplink].mtu, 9000U);
  EXPECT_EQ(t.links[uplink].rate, Rate::gbps(100));
  EXPECT_EQ(t.end_name(t.links[uplink].a), "spine1:p1") << "a is what the file calls a";
  EXPECT_EQ(link_impairment(c, plan, uplink, true).loss, Probability::ratio(5, 1000));
  EXPECT_EQ(link_impairment(c, plan, uplink, false).delay, Time::ms(1));
  EXPECT_EQ(link_state(c, plan, link_at("h2")), LinkState::down);
  EXPECT_EQ(link_state(c, plan, link_at("h1")), LinkState::up);
  EXPECT_EQ(t.links[link_at("h1")].delay, Time::ns(1500));
  EXPECT_EQ(link_driver(c, plan, link_at("leaf9:p3")), LinkDriver::memif);
  EXPECT_EQ(link_driver(c, plan, link_at("leaf9:p2")), LinkDriver::wire);
  EXPECT_EQ(port_config(c, t, *t.find_end("leaf1:p10"))->driver, Driver::null);
  EXPECT_EQ(c.switches.queue, Bytes::kib(512));
  EXPECT_EQ(c.switches.fib.kind, l3::FibKind::large);
  EXPECT_EQ(c.switches.fib.v4_routes, 1'000'000U);
  EXPECT_EQ(c.switches.neighbor.queue_limit, 3U);
  EXPECT_EQ(c.switches.ecmp_seed, std::nullopt);
  EXPECT_EQ(c.cpus, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(c.traffic[0].stop, Time::ms(5));
  EXPECT_EQ(c.traffic[1].rate, Rate::mbps(100));
  EXPECT_EQ(c.events[1].impair->corruption, Probability::ratio(1, 1000));
}

TEST(GoodConfigs, NameIsTheFilesWhenItHasNone) {
  EXPECT_EQ(parse_config("version: 1\ntopology: fat-tree\n", "x/my lab.yaml").config->name,
            "my-lab");
  EXPECT_EQ(parse_config("version: 1\ntopology: fat-tree\n", "7.yaml").config->name, "fabric");
}

TEST(Files, WhatCannotBeRead) {
  for (const char* path : {"/nonexistent/x.yaml", "/", "/dev/null"}) {
    const Loaded loaded = load_config(path);
    EXPECT_EQ(loaded.exit_code(), 2) << path;
    EXPECT_EQ(loaded.diagnostics.errors(), 1U);
    EXPECT_TRUE(loaded.diagnostics.text().starts_with(std::string(path) + ": error: cannot read"));
  }
}

// Too big or too many to keep. Each must end with an error, and soon; what is said is bounded.
TEST(Hostile, IsRefused) {
  const auto repeat = [](std::string_view text, std::size_t n) {
    std::string s;
    for (std::size_t i = 0; i < n; ++i) s += text;
    return s;
  };
  const auto numbered = [](std::string_view before, std::string_view after, std::size_t n) {
    std::string s;
    for (std::size_t i = 0; i < n; ++i)
      s += std::string(before) + std::to_string(i) + std::string(after);
    return s;
  };
  const std::string head = "version: 1\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"huge", repeat("# nothing\n", 200'000)},
      {"brackets", repeat("[", 900'000)},
      {"braces", repeat("{", 900'000)},
      {"dashes", repeat("- ", 500'000)},
      {"unknown keys", head + numbered("k", ": 1\n", 90'000)},
      {"nodes", head + "nodes:\n" + numbered(" n", ": {type: leaf}\n", 40'000)},
      {"port twice", head + "nodes: {a: {type: leaf}, b: {type: leaf}}\nlinks:\n" +
                         repeat(" - {a: a:p1, b: b:p1}\n", 40'000)},
      {"dangling", head + "nodes:\n" + numbered(" n", ": {type: leaf}\n", 9'000) + "links:\n" +
                       repeat(" - {a: nx:p1, b: ny:p1}\n", 30'000)},
      {"duplicates", repeat("hosts: {mtu: 1500}\n", 50'000)},
      {"anchors", numbered("k", ": &a [*a, *a]\n", 50'000)},
      {"long name", head + "name: " + repeat("x", 900'000)},
      {"values", head + "cpus: [" + repeat(",", 900'000) + "]"},
      {"directives", repeat("%a b\n", 200'000)},
      {"quotes", repeat("\"", 900'000)},
  };
  for (const auto& [what, text] : cases) {
    const Loaded loaded = parse_config(text, "hostile.yaml");
    EXPECT_GT(loaded.diagnostics.errors(), 0U) << what;
    EXPECT_FALSE(loaded.config) << what;
    EXPECT_LE(loaded.diagnostics.list().size(), Diagnostics::kLimit) << what;
    EXPECT_LT(loaded.diagnostics.text().size(), 100'000U) << what;
  }
}

TEST(Diagnostics, SaysHowManyMoreThereAre) {
  std::string text = "version: 1\ntopology: fat-tree\n";
  for (int i = 0; i < 300; ++i) text += "k" + std::to_string(i) + ": 1\n";
  const Loaded loaded = parse_config(text, "x.yaml");
  EXPECT_TRUE(loaded.diagnostics.text().ends_with("300 errors; the first 200 are shown\n"));
}

}  // namespace
}  // namespace frond::config
