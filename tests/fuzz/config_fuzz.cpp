// SPDX-License-Identifier: BSD-3-Clause
// The loader on arbitrary bytes: no crash, bounded output, and what loads is usable: it builds,
// has addresses and routes, differs from itself in nothing, and its text forms are sound.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "control/config/build.hpp"
#include "control/config/change.hpp"
#include "control/config/load.hpp"
#include "topology/addressing.hpp"
#include "topology/routes.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace frond;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const config::Loaded loaded = config::parse_config(text, "fuzz.yaml");
  require(loaded.config.has_value() == (loaded.diagnostics.errors() == 0));
  require(loaded.diagnostics.list().size() <= config::Diagnostics::kLimit);
  require(loaded.diagnostics.text().size() < (std::size_t{1} << 20));
  require(!loaded.diagnostics.sarif().empty());
  if (!loaded.config) return 0;
  const config::Plan plan = config::build(*loaded.config);
  require(plan.link_config.size() == plan.topology.links.size());
  if (plan.topology.nodes.size() > 200) return 0;
  const auto addressing = topology::assign_addresses(plan.topology);
  require(addressing.ok());
  const auto routes = topology::compute_routes(plan.topology, *addressing);
  require(routes.size() == plan.topology.nodes.size());
  require(config::diff(&*loaded.config, &*loaded.config).empty());
  require(!config::diff(nullptr, &*loaded.config).empty());
  return 0;
}
