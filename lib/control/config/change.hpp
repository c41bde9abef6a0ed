// SPDX-License-Identifier: BSD-3-Clause
// The difference of two configurations, in the grains that `apply` works in. Start-up is the
// difference from nothing, shut-down to nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/build.hpp"
#include "control/config/fabric_config.hpp"

namespace frond::config {

enum class ChangeKind : std::uint8_t { add, remove, modify };

// What a change is about; the order is that of the doing, for additions (removals: the reverse).
enum class Subject : std::uint8_t {
  fabric,     // name, seed, idle, cpus: a new process
  switches,   // options of every switch (name: "")
  node,       // a switch or host
  port,       // a port that leads outside: `leaf1:p9`
  link,       // `leaf1:p3-spine1:p1`
  simulation  // traffic, events, duration: nothing that runs is touched
};

struct AttributeChange {
  std::string name;  // rate, impair.loss, neighbor.queue_limit
  std::string before;
  std::string after;
  bool operator==(const AttributeChange&) const = default;
};

struct Change {
  ChangeKind kind = ChangeKind::modify;
  Subject subject = Subject::node;
  std::string name;
  std::vector<AttributeChange> attributes;  // modify: those that differ; add: those that matter
};

// In the order in which they can be done: removals (links, ports, nodes), modifications, additions
// (nodes, ports, links). before == nullptr: from nothing; after == nullptr: to nothing.
std::vector<Change> diff(const FabricConfig* before, const FabricConfig* after);

// `+ link leaf1:p3-spine1:p1  rate 10G, delay 500ns`, one a line; "no change" when empty.
std::string change_text(const std::vector<Change>& changes);

// Whether a running fabric can take it, or has to be taken down and up: another name, seed, CPUs,
// or a switch that is another kind of switch.
bool needs_restart(const std::vector<Change>& changes);

}  // namespace frond::config
