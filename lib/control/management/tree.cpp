// SPDX-License-Identifier: BSD-3-Clause
#include "control/management/tree.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace frond::management {
namespace {

// All rows' paths, parsed: "[name]" becomes a key without a value.
std::vector<std::vector<PathElem>> parse_rows() {
  std::vector<std::vector<PathElem>> all;
  for (const Row& row : rows()) {
    std::vector<PathElem> elems;
    for (char c : row.path) {
      if (c == '/') {
        elems.emplace_back();
      } else if (c == '[') {
        elems.back().keys.emplace_back();
      } else if (c != ']') {
        PathElem& e = elems.back();
        (e.keys.empty() ? e.name : e.keys.back().first) += c;
      }
    }
    all.push_back(std::move(elems));
  }
  return all;
}

const std::vector<std::vector<PathElem>>& parsed_rows() {
  static const std::vector<std::vector<PathElem>> kParsed = parse_rows();
  return kParsed;
}

unsigned parts_of(Kind kind) {
  switch (kind) {
    case Kind::fabric:
      return kInfo;
    case Kind::interface:
    case Kind::component:
    case Kind::node:
    case Kind::node_interface:
    case Kind::drop:
      return kNodes;
    case Kind::impairment:
      return kNodes | kLinks;
    case Kind::link:
      return kLinks;
    case Kind::neighbor:
      return kNeighbors;
  }
  return 0;
}

bool is_config(const Row& row) { return row.path.find("/config/") != row.path.npos; }

// Fills in the keys' values, in the order in which the path has them.
std::vector<PathElem> with_keys(const Row& row, const std::vector<std::string>& values) {
  std::vector<PathElem> path = schema_path(row);
  std::size_t next = 0;
  for (PathElem& elem : path) {
    for (auto& [name, value] : elem.keys) value = values[next++];
  }
  return path;
}

// Calls f(instance, keys) for every instance of the kind.
template <class F> void for_each_instance(const Snapshot& s, Kind kind, F&& f) {
  Instance i{.snapshot = &s};
  switch (kind) {
    case Kind::fabric:
      f(i, {});
      return;
    case Kind::link:
      for (const Link& link : s.links) {
        i.link = &link;
        f(i, {link.a.node + ":" + link.a.port, link.b.node + ":" + link.b.port});
      }
      return;
    case Kind::neighbor:
      for (const Neighbor& n : s.neighbors) {
        i.neighbor = &n;
        f(i, {n.node, n.port, n.address.to_string()});
      }
      return;
    default:
      break;
  }
  for (const Node& node : s.nodes) {
    i.node = &node;
    if (kind == Kind::node) f(i, {node.name});
    if (kind == Kind::component && node.kind == Node::Kind::network_switch) f(i, {node.name});
    for (const Interface& interface : node.interfaces) {
      i.interface = &interface;
      if (kind == Kind::interface) f(i, {node.name + ":" + interface.name});
      if (kind == Kind::node_interface) f(i, {node.name, interface.name});
      if (kind == Kind::impairment) {
        i.end = s.end(node.name, interface.name);
        if (i.end != nullptr) f(i, {node.name, interface.name});
      }
      if (kind != Kind::drop) continue;
      for (const Drop& drop : interface.drops) {
        i.drop = &drop;
        f(i, {node.name, interface.name, drop.egress ? "out" : "in", drop.stage, drop.reason});
      }
    }
    i.interface = nullptr;
  }
}

}  // namespace

Snapshot Snapshot::take(const Fabric& fabric, unsigned parts) {
  Snapshot s;
  if ((parts & kInfo) != 0) s.info = fabric.info();
  if ((parts & kNodes) != 0) s.nodes = fabric.nodes();
  if ((parts & kLinks) != 0) s.links = fabric.links();
  if ((parts & kNeighbors) != 0) s.neighbors = fabric.neighbors("");
  for (const Link& link : s.links) {
    if (!link.impairable) continue;
    s.ends_[{link.a.node, link.a.port}] = &link.a;
    s.ends_[{link.b.node, link.b.port}] = &link.b;
  }
  return s;
}

const LinkEnd* Snapshot::end(const std::string& node, const std::string& port) const {
  const auto it = ends_.find(std::make_pair(node, port));
  return it == ends_.end() ? nullptr : it->second;
}

const std::vector<PathElem>& schema_path(const Row& row) {
  return parsed_rows()[static_cast<std::size_t>(&row - rows().data())];
}

Result<std::vector<const Row*>> find_rows(const Query& query) {
  // Two statements: of a conditional the view would be of a temporary string.
  std::string_view origin = "openconfig";
  if (!query.path.origin.empty()) origin = query.path.origin;
  if (origin != "openconfig" && origin != "frond") {
    return Error{Error::Code::invalid_argument,
                 fmt::format("origin '{}' is not known; there are openconfig and frond", origin)};
  }
  std::vector<const Row*> found;
  bool exists = false;
  for (const Row& row : rows()) {
    if (row.origin != origin || !names_match(query.path.elems, schema_path(row))) continue;
    exists = true;
    if (query.type == Query::Type::config && !is_config(row)) continue;
    if (query.type == Query::Type::state && is_config(row)) continue;
    if (!query.models.empty() &&
        std::find(query.models.begin(), query.models.end(), row.model) == query.models.end()) {
      continue;
    }
    found.push_back(&row);
  }
  if (exists) return found;
  // How far does it go before it leaves the tree? The first such element is the wrong one.
  std::size_t good = query.path.elems.size();
  auto fits = [&](std::size_t n) {
    const std::vector<PathElem> head(query.path.elems.begin(), query.path.elems.begin() + n);
    return std::any_of(rows().begin(), rows().end(), [&](const Row& row) {
      return row.origin == origin && names_match(head, schema_path(row));
    });
  };
  while (good > 0 && !fits(good)) --good;
  std::vector<std::string> next;
  const std::vector<PathElem> head(query.path.elems.begin(), query.path.elems.begin() + good);
  for (const Row& row : rows()) {
    const auto& schema = schema_path(row);
    if (row.origin != origin || schema.size() <= good || !names_match(head, schema)) continue;
    std::string name = schema[good].name;
    for (const auto& [key, value] : schema[good].keys) name += "[" + key + "=]";
    if (std::find(next.begin(), next.end(), name) == next.end() && next.size() < 12) {
      next.push_back(std::move(name));
    }
  }
  return Error{Error::Code::invalid_argument,
               fmt::format("there is no path {}: after {} comes {}", query.path.to_string(),
                           Path{query.path.origin, head}.to_string(),
                           next.empty() ? "nothing" : fmt::format("{}", fmt::join(next, ", ")))};
}

unsigned parts_of(std::span<const Row* const> wanted) {
  unsigned parts = 0;
  for (const Row* row : wanted) parts |= parts_of(row->kind);
  return parts;
}

std::vector<Leaf> select(const Snapshot& snapshot, std::span<const Row* const> wanted,
                         const Query& query) {
  std::vector<Leaf> leaves;
  for (unsigned k = 0; k <= static_cast<unsigned>(Kind::neighbor); ++k) {
    std::vector<const Row*> of_kind;
    for (const Row* row : wanted) {
      if (static_cast<unsigned>(row->kind) == k) of_kind.push_back(row);
    }
    if (of_kind.empty()) continue;
    for_each_instance(snapshot, static_cast<Kind>(k),
                      [&](const Instance& i, std::vector<std::string> keys) {
                        for (const Row* row : of_kind) {
                          std::vector<PathElem> path = with_keys(*row, keys);
                          if (match(query.path.elems, path) == Match::none) continue;
                          if (auto value = row->get(i))
                            leaves.push_back({row, std::move(path), std::move(*value)});
                        }
                      });
  }
  return leaves;
}

std::optional<std::pair<std::string, std::string>> split_port(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == text.npos || colon == 0 || colon + 1 == text.size()) return {};
  return std::pair(std::string(text.substr(0, colon)), std::string(text.substr(colon + 1)));
}

}  // namespace frond::management
