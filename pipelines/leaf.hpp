// SPDX-License-Identifier: BSD-3-Clause
// Leaf: what happens to a packet in a leaf switch, in order.
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

using LeafStages = Pipeline<parse::Parse,    // where the headers are
                            l2::L2,          // is the frame for us
                            l3::Input,       // may the datagram be routed
                            l3::RouteStage,  // FIB: to us, to a neighbour, to a group
                            ecmp::Ecmp,      // of the group, one member
                            l3::Mtu,         // does it fit
                            l3::Rewrite>;    // MAC addresses, TTL

class Leaf final : public Agent<LeafStages> {
 public:
  explicit Leaf(const Config& config);
};

}  // namespace frond::pipelines
