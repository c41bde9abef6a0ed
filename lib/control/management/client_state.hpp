// SPDX-License-Identifier: BSD-3-Clause
// State as the client reads it: origin "frond" as plain JSON, back into values. What is absent or
// of another type keeps its default, so that a client and a fabric of neighbouring versions
// understand each other.
#pragma once

#include <vector>

#include "control/management/fabric.hpp"
#include "control/management/json.hpp"

namespace frond::management {

FabricInfo info_from_json(const Json& fabric);         // of frond:/fabric
std::vector<Node> nodes_from_json(const Json& nodes);  // of frond:/nodes
// of frond:/links; the impairments are in frond:/nodes.
std::vector<Link> links_from_json(const Json& links, const Json& nodes);
std::vector<Neighbor> neighbors_from_json(const Json& nodes);

}  // namespace frond::management
