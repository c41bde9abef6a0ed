// SPDX-License-Identifier: BSD-3-Clause
// For tests: namespaces with a prefix of this process, which go with the test.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "netdev/interface.hpp"
#include "netdev/namespace.hpp"

namespace frond::netdev {

class NamespaceFixture : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "network namespaces need root";
  }
  void TearDown() override {
    for (const std::string& name : names_.list(prefix_)) EXPECT_TRUE(names_.remove(name).ok());
  }
  std::string full(const std::string& name) const { return prefix_ + name; }
  Namespace make(const std::string& name) {
    Result<Namespace> ns = names_.create(full(name));
    if (!ns.ok()) throw StartError(ns.error().message);
    return std::move(*ns);
  }
  static Rtnetlink connect(const Namespace& ns) {
    Result<Rtnetlink> net = Rtnetlink::open(ns);
    if (!net.ok()) throw StartError(net.error().message);
    return std::move(*net);
  }

  NamespaceDirectory names_;
  std::string prefix_ = "frondtest" + std::to_string(getpid()) + "-";
};

}  // namespace frond::netdev
