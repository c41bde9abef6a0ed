// SPDX-License-Identifier: BSD-3-Clause
// Spine: what happens to a packet in a spine switch, in order. Today what a leaf does to it; the
// lists part where a leaf gets what only hosts need.
#pragma once

#include "engine/pipeline.hpp"
#include "features/ecmp/ecmp.hpp"
#include "features/l2/l2.hpp"
#include "features/l3/input.hpp"
#include "features/l3/mtu.hpp"
#include "features/l3/rewrite.hpp"
#include "features/l3/route.hpp"
#include "features/parse/parse.hpp"
#include "pipelines/agent.hpp"

namespace frond::pipelines {

using SpineStages = Pipeline<parse::Parse,    // where the headers are
                             l2::L2,          // is the frame for us
                             l3::Input,       // may the datagram be routed
                             l3::RouteStage,  // FIB: to us, or to the leaf's group
                             ecmp::Ecmp,      // of the group, one member
                             l3::Mtu,         // does it fit
                             l3::Rewrite>;    // MAC addresses, TTL

class Spine final : public Agent<SpineStages> {
 public:
  explicit Spine(const Config& config);
};

}  // namespace frond::pipelines
