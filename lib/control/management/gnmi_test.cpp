// SPDX-License-Identifier: BSD-3-Clause
// Paths, Get, Set and Subscribe on a fake fabric, without gRPC.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>
#include <thread>

#include "control/management/convert.hpp"
#include "control/management/fake_fabric.hpp"
#include "control/management/gnmi_rpc.hpp"
#include "control/management/json.hpp"
#include "control/management/subscribe.hpp"

namespace frond::management {
namespace {

gnmi::Path path_of(const std::string& text) {
  const auto path = Path::parse(text);
  EXPECT_TRUE(path) << text;
  gnmi::Path m = to_message(path->elems, 0, path->elems.size());
  m.set_origin(path->origin);
  return m;
}

gnmi::GetRequest get_request(const std::string& path, gnmi::Encoding encoding = gnmi::JSON_IETF) {
  gnmi::GetRequest r;
  *r.add_path() = path_of(path);
  r.set_encoding(encoding);
  return r;
}

Json get_one(const FakeFabric& fabric, const std::string& path,
             gnmi::Encoding encoding = gnmi::JSON_IETF) {
  const auto r = get(fabric, get_request(path, encoding));
  EXPECT_TRUE(r) << (r ? "" : r.error().message);
  if (!r) return {};
  EXPECT_EQ(r->notification(0).update_size(), 1);
  const auto& val = r->notification(0).update(0).val();
  return Json::parse(encoding == gnmi::JSON_IETF ? val.json_ietf_val() : val.json_val());
}

TEST(Path, ParsesAndPrints) {
  const auto p = Path::parse("frond:/nodes/node[name=leaf1]/x[k=a\\]b][j=/]/y");
  ASSERT_TRUE(p);
  EXPECT_EQ(p->origin, "frond");
  ASSERT_EQ(p->elems.size(), 4U);
  EXPECT_EQ(*p->elems[2].key("k"), "a]b");
  EXPECT_EQ(*p->elems[2].key("j"), "/");
  EXPECT_EQ(p->to_string(), "frond:/nodes/node[name=leaf1]/x[k=a\\]b][j=/]/y");
  EXPECT_EQ(Path::parse("/interfaces/interface[name=leaf1:p1]")->origin, "");
  for (const char* bad : {"/a[", "/a[k", "/a[k=v", "/a[=v]", "/[k=v]"})
    EXPECT_FALSE(Path::parse(bad)) << bad;
  EXPECT_FALSE(Path::parse(std::string(5000, 'a')));
}

TEST(Path, MatchesWildcards) {
  const auto leaf = Path::parse("/interfaces/interface[name=leaf1:p1]/state/oper-status")->elems;
  const std::tuple<const char*, Match> kCases[] = {
      {"/", Match::below},
      {"/interfaces", Match::below},
      {"/interfaces/interface", Match::below},
      {"/interfaces/interface[name=*]/state/oper-status", Match::exact},
      {"/interfaces/*/state/oper-status", Match::exact},
      {"/interfaces/interface[name=leaf1:p2]", Match::none},
      {"/interfaces/interface[name=leaf1:p1]/state/oper-status/x", Match::none},
      {"/.../oper-status", Match::exact},
      {"/...", Match::exact},
      {"/interfaces/.../state", Match::below},
      {"/interfaces/interface[id=leaf1:p1]", Match::none},
  };
  for (const auto& [query, expected] : kCases) {
    EXPECT_EQ(match(Path::parse(query)->elems, leaf), expected) << query;
  }
}

TEST(Path, ManyEllipsesEnd) {
  std::string text;
  for (int i = 0; i < 16; ++i) text += "/.../x";
  const auto concrete = Path::parse("/a/b/c/d/e/f/g/h")->elems;
  EXPECT_EQ(match(Path::parse(text)->elems, concrete), Match::none);
}

TEST(Map, IsTheGoldenList) {
  std::ifstream in(FROND_GOLDEN);
  std::stringstream golden;
  golden << in.rdbuf();
  std::string actual;
  for (const Row& row : rows()) {
    actual += fmt::format("{}:{} {} {} {}\n", row.origin, row.path, row.writable() ? "rw" : "ro",
                          row.on_change ? "on-change" : "sampled", row.type);
  }
  EXPECT_EQ(actual, golden.str())
      << "the map changed: clients depend on it. If that is meant, update "
         "paths.golden to:\n"
      << actual;
}

TEST(Get, AScalarHasItsTypeInEachEncoding) {
  const FakeFabric fabric;
  const std::string octets = "/interfaces/interface[name=leaf1:p1]/state/counters/in-octets";
  EXPECT_EQ(get_one(fabric, octets), "1152921504606846977");  // RFC 7951 6.1: a string
  EXPECT_EQ(get_one(fabric, octets, gnmi::JSON), 1152921504606846977ULL);
  const auto proto = get(fabric, get_request(octets, gnmi::PROTO));
  ASSERT_TRUE(proto);
  EXPECT_EQ(proto->notification(0).update(0).val().uint_val(), 1152921504606846977ULL);
  EXPECT_EQ(get_one(fabric, "/interfaces/interface[name=leaf1:p1]/state/mtu"), 9014);
  EXPECT_EQ(get_one(fabric, "/interfaces/interface[name=h1:eth0]/state/oper-status"), "UP");
  EXPECT_GT(proto->notification(0).timestamp(), 1'700'000'000'000'000'000);
}

TEST(Get, ASubtreeIsNestedAndQualified) {
  const FakeFabric fabric;
  const Json j = get_one(fabric, "/interfaces/interface[name=leaf1:p1]");
  EXPECT_EQ(j["openconfig-interfaces:state"]["oper-status"], "UP");
  EXPECT_EQ(j["openconfig-interfaces:state"]["counters"]["in-pkts"], "10");
  EXPECT_EQ(j["openconfig-if-ethernet:ethernet"]["state"]["port-speed"],
            "openconfig-if-ethernet:SPEED_10GB");
  const Json all = get_one(fabric, "/interfaces");
  EXPECT_EQ(all["openconfig-interfaces:interface"].size(), 12U);
  EXPECT_EQ(all["openconfig-interfaces:interface"][0]["name"], "leaf1:p1");
  EXPECT_EQ(all["openconfig-interfaces:interface"][0]["openconfig-if-ethernet:ethernet"]["state"]
               ["mac-address"],
            "02:00:00:00:00:0a");
}

TEST(Get, WildcardsGiveAnUpdateEach) {
  const FakeFabric fabric;
  const auto r = get(fabric, get_request("/interfaces/interface[name=*]/state/oper-status"));
  ASSERT_TRUE(r);
  ASSERT_EQ(r->notification(0).update_size(), 12);
  EXPECT_EQ(r->notification(0).update(3).path().elem(1).key().at("name"), "leaf2:p1");
}

TEST(Get, DropsHaveNames) {
  const FakeFabric fabric;
  const std::string base = "frond:/nodes/node[name=leaf1]/interfaces/interface[name=p1]/drops/drop";
  EXPECT_EQ(
      get_one(fabric, base + "[direction=out][stage=queue][reason=queue_tail_drop]/state/packets"),
      "7");
  const std::string platform =
      "/components/component[name=leaf1]/integrated-circuit/pipeline-counters/drop/state/";
  EXPECT_EQ(get_one(fabric, platform + "congestion-aggregate"), "7");
  EXPECT_EQ(get_one(fabric, platform + "packet-processing-aggregate"), "3");
  EXPECT_EQ(get_one(fabric, platform + "no-route"), "5");
}

TEST(Get, SaysWhatIsWrong) {
  const FakeFabric fabric;
  auto code = [&](const gnmi::GetRequest& r) {
    const auto result = get(fabric, r);
    return result ? std::pair(-1, std::string())
                  : std::pair(static_cast<int>(result.error().code), result.error().message);
  };
  using C = Error::Code;
  auto [c1, m1] = code(get_request("/interfaces/interface[name=leaf1:p1]/stat"));
  EXPECT_EQ(c1, static_cast<int>(C::invalid_argument));
  EXPECT_NE(m1.find("config, state, ethernet"), m1.npos) << m1;
  EXPECT_EQ(code(get_request("/interfaces/interface[name=leaf9:p1]/state")).first,
            static_cast<int>(C::not_found));
  EXPECT_EQ(code(get_request("cisco:/x")).first, static_cast<int>(C::invalid_argument));
  EXPECT_EQ(code(get_request("/interfaces", gnmi::ASCII)).first,
            static_cast<int>(C::unimplemented));
  EXPECT_EQ(code(get_request("/interfaces", static_cast<gnmi::Encoding>(77))).first,
            static_cast<int>(C::unimplemented));
  auto models = get_request("/interfaces");
  models.add_use_models()->set_name("ietf-interfaces");
  EXPECT_EQ(code(models).first, static_cast<int>(C::invalid_argument));
  gnmi::GetRequest deep;
  for (int i = 0; i < 100; ++i) deep.mutable_prefix()->add_elem()->set_name("x");
  EXPECT_EQ(code(deep).first, static_cast<int>(C::invalid_argument));
  gnmi::GetRequest old;
  ASSERT_TRUE(old.add_path()->ParseFromString("\x0a\x0ainterfaces"));  // field 1, "element"
  EXPECT_EQ(code(old).first, static_cast<int>(C::invalid_argument));
}

TEST(Get, TypeAndModelsFilter) {
  const FakeFabric fabric;
  auto r = get_request("/interfaces/interface[name=leaf1:p1]", gnmi::JSON);
  r.set_type(gnmi::GetRequest::CONFIG);
  auto config = get(fabric, r);
  ASSERT_TRUE(config);
  const Json j = Json::parse(config->notification(0).update(0).val().json_val());
  EXPECT_EQ(j, Json({{"name", "leaf1:p1"}, {"config", {{"name", "leaf1:p1"}, {"enabled", true}}}}));
  r.set_type(gnmi::GetRequest::ALL);
  r.add_use_models()->set_name("openconfig-if-ethernet");
  auto ethernet = get(fabric, r);
  ASSERT_TRUE(ethernet);
  const Json e = Json::parse(ethernet->notification(0).update(0).val().json_val());
  EXPECT_TRUE(e.contains("ethernet"));
  EXPECT_FALSE(e.contains("state"));
}

TEST(Get, TargetIsReflected) {
  const FakeFabric fabric;
  auto r = get_request("/interfaces/interface[name=leaf1:p1]/state/mtu");
  r.mutable_prefix()->set_target("lab");
  EXPECT_EQ(get(fabric, r)->notification(0).prefix().target(), "lab");
}

// --- Set ---

gnmi::SetRequest update(const std::string& path, const std::string& json) {
  gnmi::SetRequest r;
  auto* u = r.add_update();
  *u->mutable_path() = path_of(path);
  u->mutable_val()->set_json_ietf_val(json);
  return r;
}

const Interface& port(const std::vector<Node>& nodes, const std::string& node,
                      const std::string& name) {
  for (const Node& n : nodes) {
    for (const Interface& i : n.interfaces) {
      if (n.name == node && i.name == name) return i;
    }
  }
  throw std::runtime_error("no such port");
}
Impairment out_of(const FakeFabric& fabric, const std::string& node, const std::string& name) {
  for (const Link& l : fabric.links()) {
    for (const LinkEnd* e : {&l.a, &l.b}) {
      if (e->node == node && e->port == name) return e->out;
    }
  }
  throw std::runtime_error("no such end");
}

TEST(Set, LinkAdminInEveryForm) {
  for (
      const auto& [path, json] : std::initializer_list<std::pair<std::string, std::string>>{
          {"/interfaces/interface[name=leaf1:p2]/config/enabled", "false"},
          {"/interfaces/interface[name=leaf1:p2]/config", R"({"enabled": false})"},
          {"/interfaces/interface[name=leaf1:p2]",
           R"({"openconfig-interfaces:config": {"name": "leaf1:p2", "enabled": false}})"},
          {"/interfaces", R"({"interface": [{"name": "leaf1:p2", "config": {"enabled": false}}]})"},
          {"/",
           R"({"openconfig-interfaces:interfaces": {"interface": [{"name": "leaf1:p2", "config": {"enabled": false}}]}})"},
          {"frond:/nodes/node[name=leaf1]/interfaces/interface[name=p2]/config/enabled",
           "false"}}) {
    FakeFabric fabric;
    const auto r = set(fabric, update(path, json));
    ASSERT_TRUE(r) << path << ": " << r.error().message;
    EXPECT_EQ(r->response_size(), 1);
    EXPECT_EQ(r->response(0).op(), gnmi::UpdateResult::UPDATE);
    EXPECT_FALSE(port(fabric.nodes(), "leaf1", "p2").admin_up) << path;
    EXPECT_TRUE(port(fabric.nodes(), "leaf1", "p1").admin_up) << path;
    EXPECT_EQ(fabric.changes, 1) << path;
  }
}

const std::string kImpair =
    "frond:/nodes/node[name=leaf1]/interfaces/interface[name=p2]/impairment";

TEST(Set, UpdateKeepsReplaceForgetsDeleteResets) {
  FakeFabric fabric;
  ASSERT_TRUE(set(fabric, update(kImpair + "/config", R"({"loss": "0.001", "delay": "1000000"})")));
  ASSERT_TRUE(set(fabric, update(kImpair + "/config/jitter", "\"500\"")));
  EXPECT_EQ(out_of(fabric, "leaf1", "p2").loss, 0.001);
  EXPECT_EQ(out_of(fabric, "leaf1", "p2").delay, Time::ms(1));
  EXPECT_EQ(out_of(fabric, "leaf1", "p2").jitter, Time::ns(500));
  EXPECT_EQ(out_of(fabric, "spine1", "p1"), Impairment());  // the other direction
  gnmi::SetRequest r = update(kImpair, R"({"config": {"loss": 0.5}})");
  r.mutable_replace()->Swap(r.mutable_update());
  ASSERT_TRUE(set(fabric, r));
  EXPECT_EQ(out_of(fabric, "leaf1", "p2").loss, 0.5);
  EXPECT_EQ(out_of(fabric, "leaf1", "p2").delay, Time());
  gnmi::SetRequest d;
  *d.add_delete_() = path_of("frond:/nodes/node/interfaces/interface[name=*]/impairment");
  ASSERT_TRUE(set(fabric, d));
  EXPECT_EQ(out_of(fabric, "leaf1", "p2"), Impairment());
}

TEST(Set, OrderIsDeleteReplaceUpdate) {
  FakeFabric fabric;
  gnmi::SetRequest r = update(kImpair + "/config/loss", "0.25");
  *r.add_delete_() = path_of(kImpair);
  auto* replace = r.add_replace();
  *replace->mutable_path() = path_of(kImpair + "/config");
  replace->mutable_val()->set_json_val(R"({"loss": 0.75, "silent": true})");
  const auto result = set(fabric, r);
  ASSERT_TRUE(result);
  EXPECT_EQ(out_of(fabric, "leaf1", "p2").loss, 0.25);
  EXPECT_TRUE(out_of(fabric, "leaf1", "p2").silent);
  EXPECT_EQ(result->response(0).op(), gnmi::UpdateResult::DELETE);
  EXPECT_EQ(result->response(1).op(), gnmi::UpdateResult::REPLACE);
  EXPECT_EQ(result->response(2).op(), gnmi::UpdateResult::UPDATE);
  EXPECT_EQ(fabric.changes, 1);  // one change, not three
}

TEST(Set, IsAllOrNothing) {
  FakeFabric fabric;
  // A bad value in the second operation: the first never happens.
  gnmi::SetRequest r = update("/interfaces/interface[name=leaf1:p2]/config/enabled", "false");
  r.mutable_update()->MergeFrom(update(kImpair + "/config/loss", "1.5").update());
  ASSERT_FALSE(set(fabric, r));
  EXPECT_EQ(fabric.changes, 0);
  // The fabric refuses the last one: what was done before is undone.
  fabric.fail_admin = "spine2:p2";
  r = update("/interfaces/interface[name=leaf1:p2]/config/enabled", "false");
  r.mutable_update()->MergeFrom(update(kImpair + "/config/loss", "0.5").update());
  r.mutable_update()->MergeFrom(
      update("/interfaces/interface[name=spine2:p2]/config/enabled", "false").update());
  const auto result = set(fabric, r);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Error::Code::unavailable);
  EXPECT_NE(result.error().message.find("nothing was changed"), std::string::npos);
  EXPECT_TRUE(port(fabric.nodes(), "leaf1", "p2").admin_up);
  EXPECT_EQ(out_of(fabric, "leaf1", "p2"), Impairment());
}

TEST(Set, RefusesWithTheRightCode) {
  using C = Error::Code;
  const std::string enabled = "/interfaces/interface[name=leaf1:p2]/config/enabled";
  const std::tuple<std::string, std::string, C> kCases[] = {
      {"/interfaces/interface[name=leaf1:p2]/state/oper-status", "\"DOWN\"", C::invalid_argument},
      {"/interfaces/interface[name=leaf9:p2]/config/enabled", "false", C::not_found},
      {"/interfaces/interface[name=leaf1]/config/enabled", "false", C::not_found},
      {"/interfaces/interface/config/enabled", "false", C::invalid_argument},
      {"/interfaces/interface[name=*]/config/enabled", "false", C::invalid_argument},
      {"/interfaces/interface[name=leaf1:p2]/config/colour", "false", C::not_found},
      {"/interfaces/interface[name=leaf1:p2]/config", R"({"colour": 1})", C::invalid_argument},
      {"/interfaces/interface[name=leaf1:p2]",
       R"({"name": "leaf1:p3", "config": {"enabled": false}})", C::invalid_argument},
      {"/interfaces/interface[name=leaf1:p2]/config", "false", C::invalid_argument},
      {"/interfaces", R"({"interface": [{"config": {"enabled": false}}]})", C::invalid_argument},
      {"/interfaces", R"({"interface": {"name": "leaf1:p2"}})", C::invalid_argument},
      {enabled, "\"no\"", C::invalid_argument},
      {enabled, "1", C::invalid_argument},
      {enabled, "{", C::invalid_argument},
      {enabled, "null", C::invalid_argument},
      {kImpair + "/config/loss", "-0.1", C::invalid_argument},
      {kImpair + "/config/loss", "\"nan\"", C::invalid_argument},
      {kImpair + "/config/loss", "1e400", C::invalid_argument},
      {kImpair + "/config/delay", "60000000001", C::invalid_argument},
      {kImpair + "/config/delay", "\"99999999999999999999999\"", C::invalid_argument},
      {kImpair + "/config/delay", "-1", C::invalid_argument},
      {"frond:/nodes/node[name=leaf1]/state/role", "\"spine\"", C::invalid_argument},
  };
  for (const auto& [path, json, code] : kCases) {
    FakeFabric fabric;
    const auto r = set(fabric, update(path, json));
    ASSERT_FALSE(r) << path << " " << json;
    EXPECT_EQ(r.error().code, code) << path << " " << json << ": " << r.error().message;
    EXPECT_FALSE(r.error().message.empty());
    EXPECT_EQ(fabric.changes, 0);
  }
  FakeFabric fabric;
  gnmi::SetRequest commit;
  commit.add_extension()->mutable_commit();
  EXPECT_EQ(set(fabric, commit).error().code, C::unimplemented);
  EXPECT_TRUE(set(fabric, gnmi::SetRequest()));  // 3.4: empty is no error
  gnmi::SetRequest absent;
  *absent.add_delete_() = path_of("/interfaces/interface[name=leaf9:p9]/config/enabled");
  EXPECT_TRUE(set(fabric, absent));  // 3.4.6: silently accepted
  EXPECT_EQ(fabric.changes, 0);
}

// --- Subscribe ---

gnmi::SubscriptionList list_of(gnmi::SubscriptionList::Mode mode, const std::string& path,
                               gnmi::SubscriptionMode sub = gnmi::TARGET_DEFINED,
                               std::uint64_t interval = 0) {
  gnmi::SubscriptionList l;
  l.set_mode(mode);
  l.set_encoding(gnmi::PROTO);
  auto* s = l.add_subscription();
  *s->mutable_path() = path_of(path);
  s->set_mode(sub);
  s->set_sample_interval(interval);
  return l;
}

TEST(Subscribe, OnceSendsEachLeafAndThenSync) {
  const FakeFabric fabric;
  auto s = Subscriber::make(
      fabric, list_of(gnmi::SubscriptionList::ONCE, "/interfaces/interface[name=leaf1:p1]/state"));
  ASSERT_TRUE(s);
  unsigned leaves = 0, syncs = 0, largest = 0;
  ASSERT_TRUE((*s)->send_all([&](const gnmi::SubscribeResponse& r) {
    syncs += r.sync_response();
    EXPECT_TRUE(syncs == 0 || r.sync_response()) << "nothing after the sync";
    leaves += r.update().update_size();
    largest = std::max(largest, static_cast<unsigned>(r.update().update_size()));
    return true;
  }));
  EXPECT_EQ(leaves, 8U + 17U);
  EXPECT_EQ(syncs, 1U);
  EXPECT_LE(largest, 64U);
}

TEST(Subscribe, UpdatesOnlySendsNothingAtFirst) {
  const FakeFabric fabric;
  auto l = list_of(gnmi::SubscriptionList::ONCE, "/interfaces");
  l.set_updates_only(true);
  int messages = 0;
  ASSERT_TRUE((*Subscriber::make(fabric, l))->send_all([&](const gnmi::SubscribeResponse& r) {
    EXPECT_TRUE(r.sync_response());
    ++messages;
    return true;
  }));
  EXPECT_EQ(messages, 1);
}

TEST(Subscribe, RefusesWhatItCannotKeep) {
  const FakeFabric fabric;
  const auto stream = gnmi::SubscriptionList::STREAM;
  auto refused = [&](const gnmi::SubscriptionList& l) {
    const auto s = Subscriber::make(fabric, l);
    return !s && s.error().code == Error::Code::invalid_argument;
  };
  EXPECT_TRUE(refused(list_of(stream, "/interfaces", gnmi::SAMPLE, 1'000'000)));  // 1 ms
  EXPECT_TRUE(refused(list_of(stream, "/interfaces", gnmi::SAMPLE, ~std::uint64_t{0})));
  EXPECT_TRUE(refused(list_of(stream, "/interfaces/interface/state/counters", gnmi::ON_CHANGE)));
  EXPECT_TRUE(refused(gnmi::SubscriptionList()));
  EXPECT_FALSE(refused(
      list_of(stream, "/interfaces/interface[name=leaf99:p1]/state/oper-status", gnmi::ON_CHANGE)));
  gnmi::SubscriptionList many;
  for (int i = 0; i < 65; ++i) many.add_subscription();
  EXPECT_TRUE(refused(many));
}

// Runs a stream until it has sent `wanted` messages after the sync.
std::vector<gnmi::SubscribeResponse> run_stream(const FakeFabric& fabric,
                                                const gnmi::SubscriptionList& l, std::size_t wanted,
                                                const std::function<void()>& after_sync) {
  auto s = Subscriber::make(fabric, l);
  EXPECT_TRUE(s) << (s ? "" : s.error().message);
  std::vector<gnmi::SubscribeResponse> got;
  bool synced = false;
  const auto send = [&](const gnmi::SubscribeResponse& r) {
    if (synced) got.push_back(r);
    synced = synced || r.sync_response();
    return true;
  };
  EXPECT_TRUE((*s)->send_all(send));
  after_sync();
  int asked = 0;
  (*s)->stream(send, [&] { return got.size() >= wanted || ++asked > 100; });
  return got;
}

TEST(Subscribe, OnChangeSendsWhatChangedOnly) {
  FakeFabric fabric;
  const auto got =
      run_stream(fabric,
                 list_of(gnmi::SubscriptionList::STREAM,
                         "/interfaces/interface[name=*]/state/oper-status", gnmi::ON_CHANGE),
                 1, [&] { ASSERT_TRUE(fabric.set_link_admin("leaf1", "p2", false)); });
  ASSERT_EQ(got.size(), 1U);
  ASSERT_EQ(got[0].update().update_size(), 1);
  EXPECT_EQ(got[0].update().update(0).path().elem(1).key().at("name"), "leaf1:p2");
  EXPECT_EQ(got[0].update().update(0).val().string_val(), "DOWN");
}

TEST(Subscribe, OnChangeDeletesWhatVanished) {
  FakeFabric fabric;
  const auto got =
      run_stream(fabric,
                 list_of(gnmi::SubscriptionList::STREAM,
                         "/interfaces/interface[name=*]/state/oper-status", gnmi::ON_CHANGE),
                 1, [&] {
                   fabric.change([](std::vector<Node>& nodes) { nodes.pop_back(); });
                   fabric.log().post({.kind = "apply"});
                 });
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].update().update_size(), 0);
  ASSERT_EQ(got[0].update().delete__size(), 1);
  EXPECT_EQ(got[0].update().delete_(0).elem(1).key().at("name"), "h2:eth0");
}

TEST(Subscribe, SamplesRepeatAndRedundantOnesCanBeSuppressed) {
  FakeFabric fabric;
  auto l = list_of(gnmi::SubscriptionList::STREAM,
                   "/interfaces/interface[name=leaf1:p1]/state/counters/in-pkts", gnmi::SAMPLE,
                   100'000'000);
  EXPECT_EQ(run_stream(fabric, l, 2, [] {}).size(), 2U);
  l.mutable_subscription(0)->set_suppress_redundant(true);
  const auto got = run_stream(fabric, l, 1, [&] {
    fabric.change([](std::vector<Node>& nodes) { nodes[0].interfaces[0].counters.in_pkts = 11; });
  });
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].update().update(0).val().uint_val(), 11U);
}

TEST(Subscribe, TargetDefinedPicksPerLeaf) {
  FakeFabric fabric;
  // Counters would come every 10 s; the status comes with the event.
  const auto got = run_stream(
      fabric, list_of(gnmi::SubscriptionList::STREAM, "/interfaces/interface[name=leaf1:p2]/state"),
      1, [&] { ASSERT_TRUE(fabric.set_link_admin("leaf1", "p2", false)); });
  ASSERT_EQ(got.size(), 1U);
  std::vector<std::string> names;
  for (const auto& u : got[0].update().update())
    names.push_back(u.path().elem(u.path().elem_size() - 1).name());
  EXPECT_EQ(names, (std::vector<std::string>{"enabled", "admin-status", "oper-status"}));
}

TEST(Subscribe, AGoneClientEndsIt) {
  FakeFabric fabric;
  auto s = Subscriber::make(fabric,
                            list_of(gnmi::SubscriptionList::STREAM, "/interfaces", gnmi::SAMPLE));
  int sent = 0;
  (*s)->stream([&](const gnmi::SubscribeResponse&) { return ++sent < 2; }, [] { return false; });
  EXPECT_EQ(sent, 2);
}

}  // namespace
}  // namespace frond::management
