// SPDX-License-Identifier: BSD-3-Clause
// The commands against a fake fabric behind a real socket; starting and ending with a fake fabricd.
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/command.hpp"
#include "cli/completion.hpp"
#include "cli/doctor.hpp"
#include "cli/impairment.hpp"
#include "cli/json.hpp"
#include "cli/pcapng.hpp"
#include "cli/session.hpp"
#include "cli/state.hpp"
#include "cli/text.hpp"
#include "cli/top.hpp"
#include "control/management/fake_fabric.hpp"
#include "control/management/server.hpp"

namespace frond::cli {
namespace {
namespace fs = std::filesystem;

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Outcome {
  int status = 0;
  std::string out, err;
};

Outcome frond(const std::vector<std::string>& words) {
  std::vector<const char*> argv = {"frond"};
  for (const std::string& w : words) argv.push_back(w.c_str());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Outcome o;
  {
    Application app;
    o.status = app.run(static_cast<int>(argv.size()), argv.data());
  }
  fflush(stdout);
  fflush(stderr);
  o.out = testing::internal::GetCapturedStdout();
  o.err = testing::internal::GetCapturedStderr();
  return o;
}

// What JSON Schema says that our schemas use. Returns where it does not hold, "" when it does.
std::string violation(const Json& schema, const Json& value, const std::string& where = "") {
  const std::string type = schema.value("type", "");
  const bool fits =
      (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
      (type == "string" && value.is_string()) || (type == "boolean" && value.is_boolean()) ||
      (type == "integer" && value.is_number_integer()) || (type == "number" && value.is_number());
  if (!fits) return where + ": not " + type;
  if (schema.contains("const") && value != schema["const"])
    return where + ": not " + schema["const"].dump();
  if (schema.contains("minimum") && value < schema["minimum"]) return where + ": too small";
  if (schema.contains("enum")) {
    const Json& all = schema["enum"];
    if (std::find(all.begin(), all.end(), value) == all.end()) return where + ": " + value.dump();
  }
  for (const Json& name : schema.value("required", Json::array())) {
    if (!value.contains(name)) return where + ": no " + name.dump();
  }
  if (type == "object") {
    for (const auto& [name, member] : value.items()) {
      if (!schema["properties"].contains(name)) return where + ": undocumented " + name;
      const std::string inner = violation(schema["properties"][name], member, where + "/" + name);
      if (!inner.empty()) return inner;
    }
  }
  if (type == "array") {
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string inner =
          violation(schema["items"], value[i], fmt::format("{}/{}", where, i));
      if (!inner.empty()) return inner;
    }
  }
  return "";
}

Json valid_json(const std::string& text, const std::string& name) {
  const Json json = Json::parse(text, nullptr, false);
  EXPECT_FALSE(json.is_discarded()) << text;
  const Json schema = Json::parse(slurp(FROND_SCHEMAS "/" + name + ".json"));
  EXPECT_EQ(violation(schema, json), "") << name;
  return json;
}

void expect_narrow(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(columns(line), kWidth) << line;
}

// A run directory of our own.
class RunDirectory : public testing::Test {
 protected:
  RunDirectory() {
    char name[] = "/tmp/frond-cli-XXXXXX";
    root_ = mkdtemp(name);
    setenv("FROND_RUN_DIR", root_.c_str(), 1);
    unsetenv("FROND_FABRICD");
  }
  ~RunDirectory() override {
    fs::remove_all(root_);
    unsetenv("FROND_RUN_DIR");
  }
  void add(const std::string& name, const Process& process) {
    mkdir(state_dir(name).c_str(), 0700);
    ASSERT_TRUE(write_record({name, "/etc/demo.yaml", process}));
  }
  std::string root_;
};

class Commands : public RunDirectory {
 protected:
  Commands() {
    add("demo", *look_at(getpid()));
    auto started = management::Server::start(fabric_, {.socket = socket_path("demo")});
    if (!started) throw std::runtime_error(started.error().message);
    server_ = std::move(*started);
  }
  management::FakeFabric fabric_;
  std::unique_ptr<management::Server> server_;
};

TEST_F(Commands, StatusShowsTheFabric) {
  const Outcome o = frond({"status"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.err, "");
  expect_narrow(o.out);
  EXPECT_NE(o.out.find("demo: 2 spines, 2 leaves, 2 hosts   emulated at 10 Gb/s, not CPU-bound\n"),
            o.out.npos)
      << o.out;
  EXPECT_NE(o.out.find("  spine1 spine2 ── leaf1 ── h1\n"), o.out.npos) << o.out;
  EXPECT_NE(o.out.find("queue_tail_drop"), o.out.npos);
  const Json j = valid_json(frond({"status", "--json"}).out, "status");
  EXPECT_EQ(j["nodes"].size(), 6U);
  EXPECT_EQ(j["links"].size(), 6U);
  const Json one = valid_json(frond({"status", "leaf1:p2", "--json"}).out, "status");
  ASSERT_EQ(one["nodes"].size(), 1U);
  EXPECT_EQ(one["nodes"][0]["interfaces"].size(), 1U);
  EXPECT_EQ(one["links"].size(), 1U);
  EXPECT_NE(frond({"status", "leaf3"}).err.find("did you mean leaf1?"), std::string::npos);
}

TEST_F(Commands, LinkAndImpair) {
  Outcome o = frond({"link", "leaf1:p2", "down"});
  EXPECT_EQ(o.out, "leaf1:p2: down\n") << o.err;
  EXPECT_FALSE(fabric_.nodes()[0].interfaces[1].oper_up);
  valid_json(frond({"link", "demo/leaf1:p2", "up", "--json"}).out, "link");
  EXPECT_TRUE(fabric_.nodes()[0].interfaces[1].oper_up);
  o = frond({"link", "leaf1:p7", "down"});
  EXPECT_EQ(o.status, kFailed);
  EXPECT_EQ(o.err, "frond: there is no port 'leaf1:p7'; its ports: leaf1:p1 leaf1:p2 leaf1:p3\n");

  o = frond({"impair", "leaf1:p2", "loss=25%", "delay=1ms"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.out,
            "leaf1:p2 -> spine1:p1  loss=25% delay=1ms\n"
            "spine1:p1 -> leaf1:p2  loss=25% delay=1ms\n");
  EXPECT_EQ(fabric_.links()[2].b.out.loss, 0.25);
  o = frond({"impair", "leaf1:p2", "jitter=10us", "--direction", "in"});  // the rest stays
  EXPECT_EQ(o.out, "spine1:p1 -> leaf1:p2  loss=25% delay=1ms jitter=10us\n");
  EXPECT_EQ(fabric_.links()[2].a.out.jitter, Time());
  valid_json(frond({"impair", "leaf1:p2", "--json"}).out, "impair");
  o = frond({"impair", "h1", "silent", "--direction", "out"});  // a host's only port
  EXPECT_EQ(o.out, "h1:eth0 -> leaf1:p1  silent\n");
  o = frond({"impair", "leaf1:p2", "--clear"});
  EXPECT_EQ(fabric_.links()[2].a.out, management::Impairment());
  EXPECT_EQ(fabric_.links()[2].b.out, management::Impairment());
  o = frond({"impair", "leaf1:p2", "loose=1%"});
  EXPECT_EQ(o.status, kFailed);
  EXPECT_EQ(o.err, "frond: unknown impairment 'loose'; did you mean loss?\n");
}

TEST_F(Commands, TraceApplyGraphEvents) {
  Outcome o = frond({"trace", "h1", "h2", "--dscp", "26"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(o.out,
            "leaf1   in       p1\n"
            "        parse    dscp 26\n"
            "        route    10.0.2.0/24 ecmp 2 -> spine1\n"
            "        out      p2\n"
            "spine1  in       p1\n"
            "        route    10.0.2.0/24 -> leaf2\n"
            "        out      p2\n"
            "leaf2   in       p2\n"
            "        route    connected\n"
            "        out      p1\n"
            "delivered to h2\n");
  valid_json(frond({"trace", "h1", "h2", "--json"}).out, "trace");
  EXPECT_EQ(frond({"trace", "h1"}).status, kFailed);
  const Json error = valid_json(frond({"trace", "h7", "h2", "--json"}).out, "error");
  EXPECT_EQ(error["code"], "not_found");
  EXPECT_EQ(frond({"trace", "h1", "h2", "--frame", "abc"}).status, kFailed);

  const std::string file = root_ + "/new.yaml";
  std::ofstream(file) << "name: demo\n";
  o = frond({"apply", file, "--dry-run"});
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_NE(o.out.find("+ link leaf1:p4 -- spine1:p3\n1 change not applied"), o.out.npos) << o.out;
  EXPECT_TRUE(valid_json(frond({"apply", file, "--json"}).out, "apply")["applied"]);
  std::ofstream(file) << "bad\n";
  o = frond({"apply", file});
  EXPECT_EQ(o.status, kFailed);
  EXPECT_EQ(o.err, file + ":14:9: error: unknown key 'bad'\n1 error; nothing was changed\n");
  valid_json(frond({"apply", file, "--json"}).out, "apply");
  EXPECT_EQ(frond({"apply", root_ + "/none"}).status, kCannot);

  EXPECT_EQ(frond({"graph", "--format", "dot"}).out, "graph demo {}\n");
  o = frond({"events", "--json"});
  std::istringstream lines(o.out);
  unsigned n = 0;
  for (std::string line; std::getline(lines, line); ++n) valid_json(line, "event");
  EXPECT_EQ(n, 1U);
}

TEST_F(Commands, TopAndList) {
  const Outcome o = frond({"top", "--once", "--interval", "100"});
  EXPECT_EQ(o.status, 0) << o.err;
  expect_narrow(o.out);
  EXPECT_NE(o.out.find("leaf1:p1"), o.out.npos);
  const Json j = valid_json(frond({"top", "--once", "--json", "--interval", "100"}).out, "top");
  EXPECT_EQ(j["ports"].size(), 12U);
  const Json list = valid_json(frond({"list", "--json"}).out, "list");
  EXPECT_EQ(list["fabrics"][0]["state"], "running");
  valid_json(frond({"version", "--json"}).out, "version");
}

TEST_F(Commands, CaptureWritesPcapng) {
  const std::string file = root_ + "/out.pcapng";
  using Direction = management::CapturedFrame::Direction;
  fabric_.push_frame({Time::ns(1'700'000'000'123'456'789), "leaf1:p1", Direction::drop, 60,
                      "route route_no_route", std::vector<std::uint8_t>(60, 7)});
  const Outcome o = frond({"capture", "leaf1:p1", "-w", file, "-c", "1"});
  EXPECT_EQ(o.status, 0) << o.err;
  const std::string bytes = slurp(file);
  ASSERT_GT(bytes.size(), 100U);
  EXPECT_EQ(bytes.substr(0, 4), "\x0a\x0d\x0d\x0a");
  EXPECT_NE(bytes.find("leaf1:p1"), bytes.npos);
  EXPECT_NE(bytes.find("dropped: route route_no_route"), bytes.npos);
  struct stat st {};
  ASSERT_EQ(stat(file.c_str(), &st), 0);
  EXPECT_EQ(st.st_mode & 0777, 0600U);
}

TEST_F(Commands, ErrorsSayWhatToDoNext) {
  EXPECT_EQ(frond({"status", "--name", "lab"}).err,
            "frond: no fabric named 'lab' is running; frond up FILE starts one; running: demo\n");
  add("gone", {999'999'999, 1, "x"});
  EXPECT_NE(frond({"status", "--name", "gone"}).err.find("has crashed; frond down gone"),
            std::string::npos);
  add("other", *look_at(getpid()));
  EXPECT_NE(frond({"status"}).err.find("2 fabrics are running: demo, other; say which with --name"),
            std::string::npos);
  const Outcome o = frond({"status", "--name", "other"});
  EXPECT_NE(o.err.find("does not answer"), o.err.npos) << o.err;
}

TEST_F(Commands, CompletionKnowsLiveNames) {
  auto lines = [](const std::vector<std::string>& words) { return frond(words).out; };
  EXPECT_EQ(lines({"__complete", "--", "link", "leaf1:"}), "leaf1:p1\nleaf1:p2\nleaf1:p3\n");
  EXPECT_EQ(lines({"__complete", "--", "exec", "h"}), "h1\nh2\n");
  EXPECT_EQ(lines({"__complete", "--", "link", "leaf1:p1", ""}), "down\nup\n");
  EXPECT_EQ(lines({"__complete", "--", "impair", "leaf1:p1", "loss=1%", "d"}),
            "delay=\nduplicate=\n");
  EXPECT_EQ(lines({"__complete", "--", "impair", "leaf1:p1", "--direction", ""}),
            "both\nin\nout\n");
  EXPECT_EQ(lines({"__complete", "--", "st"}), "status\n");
  EXPECT_EQ(lines({"__complete", "--", "status", "--na"}), "--name\n");
  EXPECT_EQ(lines({"__complete", "--", "down", ""}), "demo\n");
  EXPECT_EQ(lines({"__complete", "--", "nonsense", ""}), "");
}

// --- Starting and ending, with a fabricd that is a script ---

class Lifecycle : public RunDirectory {
 protected:
  void fabricd(const std::string& body) {
    const std::string path = root_ + "/../" + fs::path(root_).filename().string() + ".sh";
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    chmod(path.c_str(), 0755);
    setenv("FROND_FABRICD", path.c_str(), 1);
    script_ = path;
  }
  ~Lifecycle() override {
    if (!script_.empty()) unlink(script_.c_str());
    unsetenv("FROND_FABRICD");
  }
  std::string config() {
    const std::string path = root_ + ".yaml";
    std::ofstream(path) << "# a fabric\nname: lab  # as it is called\n";
    config_ = path;
    return path;
  }
  void TearDown() override {
    if (!config_.empty()) unlink(config_.c_str());
  }
  std::string script_, config_;
};

TEST_F(Lifecycle, WhatFailsLeavesNothing) {
  fabricd("echo progress starting >&3; echo error no memory >&3; exit 1");
  Outcome o = frond({"up", config()});
  EXPECT_EQ(o.status, kFailed);
  EXPECT_EQ(o.err, "frond: no memory\n");
  EXPECT_FALSE(fs::exists(state_dir("lab")));
  fabricd("echo about to fail; exit 3");  // without a word: its log is shown
  o = frond({"up", config(), "--json"});
  const Json error = valid_json(o.out, "error");
  EXPECT_NE(error["message"].get<std::string>().find("about to fail"), std::string::npos) << o.out;
  EXPECT_EQ(o.err, "");
  EXPECT_FALSE(fs::exists(state_dir("lab")));
  EXPECT_EQ(frond({"up", root_ + "/none.yaml"}).status, kCannot);
  EXPECT_EQ(frond({"up", config(), "--name", "../x"}).status, kFailed);
  setenv("FROND_FABRICD", "/nonexistent", 1);
  EXPECT_EQ(frond({"up", config()}).status, kFailed);
  EXPECT_FALSE(fs::exists(state_dir("lab")));
}

TEST_F(Lifecycle, UpRecordsWhoItStartedBeforeItRuns) {
  // It is up, but serves nothing: `up` says so; the record names it, and down ends it.
  fabricd("cp \"$6/fabric.json\" \"$6/seen\" && echo ready >&3; exec 3>&-; exec sleep 100");
  const Outcome o = frond({"up", config()});
  EXPECT_EQ(o.status, kFailed);
  const auto record = read_record("lab");
  ASSERT_TRUE(record);
  EXPECT_TRUE(alive(record->process));
  EXPECT_TRUE(fs::exists(state_dir("lab") + "/seen"));
  EXPECT_NE(frond({"up", config()})
                .err.find("already up; frond apply changes it, frond down lab ends it"),
            std::string::npos);
  const Json down = valid_json(frond({"down", "--json"}).out, "down");
  EXPECT_TRUE(down["fabrics"][0]["was_running"]);
  EXPECT_FALSE(alive(record->process));
  EXPECT_FALSE(fs::exists(state_dir("lab")));
}

TEST_F(Lifecycle, DownEndsOnlyWhoIsRecorded) {
  const pid_t child = fork();
  if (child == 0) {
    execlp("sleep", "sleep", "100", nullptr);
    _exit(1);
  }
  auto process = look_at(child);
  ASSERT_TRUE(process);
  process->start_ticks += 1;  // the number now belongs to somebody else
  add("lab", *process);
  const Outcome o = frond({"down", "lab"});
  EXPECT_EQ(o.out, "lab: cleaned up: it had crashed\n") << o.err;
  EXPECT_EQ(kill(child, 0), 0) << "not ours to end";
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_NE(frond({"down", "lab"}).err.find("there is no fabric 'lab'"), std::string::npos);
  EXPECT_EQ(frond({"down", "--all"}).status, 0);
}

TEST_F(Lifecycle, DownTrustsOnlyNamesOfItsOwn) {
  add("lab", {999'999'999, 1, "x"});
  std::ofstream(state_dir("lab") + "/namespaces")
      << "frond-lab\nlab-h1\nother-h1\nlab-../../etc\nlab-h1\n";
  EXPECT_EQ(recorded_namespaces("lab"), (std::vector<std::string>{"frond-lab", "lab-h1"}));
}

TEST_F(Lifecycle, UsageErrors) {
  Outcome o = frond({"statsu"});
  EXPECT_EQ(o.status, kCannot);
  EXPECT_EQ(o.err,
            "frond: there is no command 'statsu'; did you mean frond status?; see frond --help\n");
  o = frond({"link", "leaf1:p1"});
  EXPECT_EQ(o.status, kCannot);
  EXPECT_NE(o.err.find("see frond link --help"), o.err.npos);
  valid_json(frond({"link", "--json"}).out, "error");
  o = frond({"impair", "--help"});
  EXPECT_EQ(o.status, 0);
  EXPECT_NE(o.out.find("--direction"), o.out.npos);
}

// --- Parts ---

TEST(Text, TablesLineUpAndAreCut) {
  Table t({{"A", Table::Align::left}, {"N", Table::Align::right}});
  t.add({"ääää", "1"});
  t.add({"b", "1000"});
  EXPECT_EQ(t.text(), "A        N\nääää     1\nb     1000\n");
  EXPECT_EQ(t.text(7), "A   ...\nääää...\nb   ...\n");
  EXPECT_EQ(cut("0123456789", 6), "012...");
  EXPECT_EQ(cut("ä123456", 7), "ä123456");
  EXPECT_EQ(count(99'999), "99999");
  EXPECT_EQ(count(1'234'567), "1.23M");
  EXPECT_EQ(count(999'999), "1.00M");
  EXPECT_EQ(count(~std::uint64_t{0}), "18.4E");
  EXPECT_EQ(printable("a\033[2Jb"), "a?[2Jb");
}

TEST(Top, RatesAndReplacedPorts) {
  management::Node n;
  n.name = "leaf1";
  n.interfaces.resize(2);
  n.interfaces[0].name = "p1";
  n.interfaces[1].name = "p2";
  for (auto& i : n.interfaces) i.speed = Rate::mbps(1);
  auto after = n;
  after.interfaces[0].counters.in_octets = 12'500;
  after.interfaces[0].counters.in_pkts = 100;
  n.interfaces[1].counters.in_pkts = 1000;  // it was replaced: counts from 0
  after.interfaces[1].counters.in_pkts = 50;
  auto rates = port_rates({n}, Time(), {after}, Time::s(2));
  EXPECT_EQ(rates[0].in_bps, 50'000);
  EXPECT_EQ(rates[0].in_pps, 50);
  EXPECT_EQ(rates[0].load, 0.05);
  EXPECT_EQ(rates[1].in_pps, 25);
  std::vector<PortRates> many(100, rates[0]);
  const std::string screen = top_text({.name = "demo"}, many, 80, 24);
  EXPECT_LE(std::count(screen.begin(), screen.end(), '\n'), 24);
  std::istringstream lines(screen);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(columns(line), 80U);
}

TEST(Impairment, ReadsBackAsItWasWritten) {
  management::Impairment i;
  ASSERT_TRUE(parse_impairment({"loss=0.1%", "delay=1500us", "silent", "seed=7"}, i));
  EXPECT_EQ(impairment_text(i), "silent loss=0.1% delay=1.5ms seed=7");
  EXPECT_EQ(impairment_text({}), "none");
  for (const char* bad : {"loss", "loss=", "loss=101%", "loss=-1%", "delay=1", "delay=2min",
                          "seed=x", "silent=maybe", "=1"}) {
    EXPECT_FALSE(parse_impairment({bad}, i)) << bad;
  }
}

TEST(Pcapng, BlocksAreWhole) {
  std::string file;
  PcapngWriter w(
      [&](std::span<const std::uint8_t> b) {
        file.append(reinterpret_cast<const char*>(b.data()), b.size());
        return true;
      },
      "frond");
  using Direction = management::CapturedFrame::Direction;
  ASSERT_TRUE(w.start());
  ASSERT_TRUE(
      w.frame({Time::ns(1), "a:p1", Direction::in, 61, "", std::vector<std::uint8_t>(61, 1)}));
  ASSERT_TRUE(
      w.frame({Time::ns(2), "a:p1", Direction::out, 1500, "", std::vector<std::uint8_t>(64, 2)}));
  std::vector<std::uint32_t> types;
  for (std::size_t at = 0; at < file.size();) {
    std::uint32_t type = 0, length = 0, trailer = 0;
    memcpy(&type, &file[at], 4);
    memcpy(&length, &file[at + 4], 4);
    ASSERT_EQ(length % 4, 0U);
    ASSERT_LE(at + length, file.size());
    memcpy(&trailer, &file[at + length - 4], 4);
    EXPECT_EQ(trailer, length);
    types.push_back(type);
    at += length;
  }
  EXPECT_EQ(types, (std::vector<std::uint32_t>{0x0a0d0d0a, 1, 6, 6}));
}

Facts good_machine() {
  Facts f;
  f.root = f.cap_net_admin = f.cap_sys_admin = f.fabricd = f.af_xdp = f.iommu = f.vfio = true;
  f.memory_available = 8ULL << 30;
  f.cpus = 4;
  f.files = 1 << 20;
  f.memlock = 1ULL << 40;
  f.run_root = "/run/frond";
  return f;
}

TEST(Doctor, NamesEachWallAndItsCure) {
  for (const Check& c : judge(good_machine())) EXPECT_EQ(c.level, Check::Level::good) << c.name;
  const std::tuple<const char*, std::function<void(Facts&)>, const char*, const char*> kBroken[] = {
      {"no root", [](Facts& f) { f.root = f.cap_net_admin = f.cap_sys_admin = false; }, "privilege",
       "sudo"},
      {"poor container", [](Facts& f) { f.cap_net_admin = false; }, "privilege",
       "--cap-add NET_ADMIN"},
      {"no user namespaces",
       [](Facts& f) {
         f.root = f.cap_net_admin = false;
         f.userns_restricted = true;
       },
       "user namespaces", "sysctl"},
      {"no tun", [](Facts& f) { f.tun = "cannot be opened"; }, "/dev/net/tun", "modprobe tun"},
      {"no netns", [](Facts& f) { f.netns = "No space left"; }, "namespaces", "max_net_namespaces"},
      {"no AF_XDP", [](Facts& f) { f.af_xdp = false; }, "AF_XDP", "af_packet"},
      {"little memory", [](Facts& f) { f.memory_available = 100 << 20; }, "memory", "free -m"},
      {"one processor", [](Facts& f) { f.cpus = 1; }, "processors", "frond sim"},
      {"hugepages taken", [](Facts& f) { f.hugepages_total = 64; }, "hugepages", "numa_maps"},
      {"few files", [](Facts& f) { f.files = 1024; }, "open files", "ulimit -n"},
      {"memlock",
       [](Facts& f) {
         f.root = false;
         f.memlock = 65536;
       },
       "locked memory", "ulimit -l"},
      {"run directory", [](Facts& f) { f.run_dir = "/run/frond: Permission denied"; },
       "run directory", "FROND_RUN_DIR"},
      {"run full", [](Facts& f) { f.run_free = 0; }, "run directory", "df -h"},
      {"no fabricd", [](Facts& f) { f.fabricd = false; }, "fabricd", "FROND_FABRICD"},
      {"driver", [](Facts& f) { f.missing_drivers = {"net_af_xdp"}; }, "driver net_af_xdp",
       "librte-net-af-xdp"},
      {"port taken", [](Facts& f) { f.management_port_taken = true; }, "port 9339", "ss -ltnp"},
      {"crashed", [](Facts& f) { f.crashed = {"lab"}; }, "leftovers", "frond down lab"},
      {"stray", [](Facts& f) { f.stray = {"frond-x"}; }, "leftovers", "ip netns delete frond-x"},
      {"no interface", [](Facts& f) { f.interfaces = {{.name = "eth9"}}; }, "port eth9",
       "ip -br link"},
      {"vlan offload",
       [](Facts& f) { f.interfaces = {{.name = "eth0", .exists = true, .tx_vlan_offload = true}}; },
       "port eth0", "tx-vlan-offload off"},
      {"address",
       [](Facts& f) { f.interfaces = {{.name = "eth0", .exists = true, .has_address = true}}; },
       "port eth0", "flush dev eth0"},
      {"jumbo", [](Facts& f) { f.interfaces = {{.name = "eth0", .exists = true, .mtu = 9000}}; },
       "port eth0", "mtu 3072"},
      {"kernel driver",
       [](Facts& f) {
         f.hugepages_total = f.hugepages_free = 8;
         f.interfaces = {{.name = "0000:01:00.0", .exists = true, .pci = true, .driver = "ixgbe"}};
       },
       "port 0000:01:00.0", "devbind"},
      {"no IOMMU",
       [](Facts& f) {
         f.iommu = false;
         f.hugepages_total = f.hugepages_free = 8;
         f.interfaces = {
             {.name = "0000:01:00.0", .exists = true, .pci = true, .driver = "vfio-pci"}};
       },
       "port 0000:01:00.0", "intel_iommu=on"},
      {"no VFIO",
       [](Facts& f) {
         f.vfio = false;
         f.hugepages_total = f.hugepages_free = 8;
         f.interfaces = {
             {.name = "0000:01:00.0", .exists = true, .pci = true, .driver = "vfio-pci"}};
       },
       "port 0000:01:00.0", "modprobe vfio-pci"},
  };
  for (const auto& [what, breaks, name, cure] : kBroken) {
    Facts f = good_machine();
    breaks(f);
    unsigned named = 0;
    for (const Check& c : judge(f)) {
      if (c.level == Check::Level::good) continue;
      named += c.name == name && c.cure.find(cure) != c.cure.npos;
    }
    EXPECT_EQ(named, 1U) << what;
  }
  // This machine can be looked at, and the answer has its schema.
  valid_json(frond({"doctor", "--json", "lo", "none9"}).out, "doctor");
}

TEST(Man, EachCommandHasAPage) {
  char name[] = "/tmp/frond-man-XXXXXX";
  const std::string directory = mkdtemp(name);
  ASSERT_EQ(frond({"__man", directory}).status, 0);
  unsigned pages = 0;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string page = slurp(entry.path());
    EXPECT_EQ(page.rfind(".TH FROND", 0), 0U) << entry.path();
    EXPECT_NE(page.find(".SH SYNOPSIS"), page.npos);
    ++pages;
  }
  EXPECT_GE(pages, 18U);
  EXPECT_NE(slurp(directory + "/frond-impair.1").find("\\fINODE:PORT\\fR [\\fINAME=VALUE\\fR ...]"),
            std::string::npos);
  fs::remove_all(directory);
  for (const char* shell : {"bash", "zsh", "fish"})
    EXPECT_NE(completion_script(shell).find("__complete"), std::string::npos);
}

}  // namespace
}  // namespace frond::cli
