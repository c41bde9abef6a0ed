// SPDX-License-Identifier: BSD-3-Clause
// The data tree: which paths there are, what they hold, and which can be set. The map itself, a row
// a leaf, is in map.cpp; origin "openconfig" (the default) has OpenConfig's names, origin "frond"
// has ours, for what OpenConfig has no name.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/management/fabric.hpp"
#include "control/management/path.hpp"
#include "control/management/value.hpp"

namespace frond::management {

// What can be set at one interface; the initial values are the defaults.
struct InterfaceConfig {
  bool enabled = true;
  Impairment impairment;
  bool operator==(const InterfaceConfig&) const = default;
};

// One look at the fabric: every value of one answer comes from the same one.
struct Snapshot {
  FabricInfo info;
  std::vector<Node> nodes;
  std::vector<Link> links;
  std::vector<Neighbor> neighbors;

  // parts: which of the above some row of the query needs.
  static Snapshot take(const Fabric& fabric, unsigned parts);
  const LinkEnd* end(const std::string& node, const std::string& port) const;

 private:
  std::map<std::pair<std::string, std::string>, const LinkEnd*, std::less<>> ends_;
};

// What a row is about; pointers that do not apply are null.
struct Instance {
  const Snapshot* snapshot = nullptr;
  const Node* node = nullptr;
  const Interface* interface = nullptr;
  const Drop* drop = nullptr;
  const LinkEnd* end = nullptr;
  const Link* link = nullptr;
  const Neighbor* neighbor = nullptr;
};

// What the keys of a row's path are, in order.
enum class Kind : std::uint8_t {
  fabric,          // none
  interface,       // "node:port"
  component,       // node (switches)
  node,            // node
  node_interface,  // node, port
  drop,            // node, port, direction, stage, reason
  impairment,      // node, port (of a link that can be impaired)
  link,            // "node:port", "node:port"
  neighbor,        // node, port, address
};

enum Part : unsigned { kInfo = 1, kNodes = 2, kLinks = 4, kNeighbors = 8 };

struct Row {
  std::string_view origin;
  std::string_view path;   // /interfaces/interface[name]/state/oper-status
  std::string_view model;  // the YANG module's name
  Kind kind;
  bool on_change;                                // changes with an event; other leaves are sampled
  std::string_view type;                         // for the golden list and documents
  std::optional<Value> (*get)(const Instance&);  // nothing: the leaf is absent here
  // Rows that can be set. An unset value means the default. An error names what is allowed.
  Status (*set)(InterfaceConfig&, const std::optional<Value>&) = nullptr;

  bool writable() const { return set != nullptr; }
};

std::span<const Row> rows();

// A row's path, parsed once; the keys' values are empty.
const std::vector<PathElem>& schema_path(const Row& row);

struct Leaf {
  const Row* row;
  std::vector<PathElem> path;
  Value value;
};

struct Query {
  Path path;
  enum class Type : std::uint8_t { all, config, state } type = Type::all;
  std::vector<std::string> models;  // empty: all
};

// The rows that the query's names fit. invalid_argument when none does: no such path exists.
Result<std::vector<const Row*>> find_rows(const Query& query);
unsigned parts_of(std::span<const Row* const> rows);

// All leaves at or under the query, ordered so that those of one list entry are neighbours.
std::vector<Leaf> select(const Snapshot& snapshot, std::span<const Row* const> rows,
                         const Query& query);

// "node:port" apart; nothing when there is no colon.
std::optional<std::pair<std::string, std::string>> split_port(std::string_view text);

}  // namespace frond::management
