// SPDX-License-Identifier: BSD-3-Clause
#include "pipelines/spine.hpp"

namespace frond::pipelines {

Spine::Spine(const Config& config)
    : Agent(config, [](const l3::Router& router) {
        return SpineStages(parse::Parse(),          //
                           l2::L2(router),          //
                           l3::Input(router),       //
                           l3::RouteStage(router),  //
                           ecmp::Ecmp(router),      //
                           l3::Mtu(router),         //
                           l3::Rewrite(router));
      }) {}

}  // namespace frond::pipelines
