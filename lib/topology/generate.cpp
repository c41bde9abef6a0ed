// SPDX-License-Identifier: BSD-3-Clause
// The generated shapes.
#include <string>
#include <vector>

#include "topology/topology.hpp"

namespace frond::topology {
namespace {

// Adds nodes and links by number and keeps the text of names in one place.
class Maker {
 public:
  Maker(std::string name, Time delay, std::uint32_t mtu) : delay_(delay), mtu_(mtu) {
    topology_.name = std::move(name);
  }

  std::vector<std::uint32_t> nodes(Role role, std::string_view stem, unsigned count) {
    std::vector<std::uint32_t> made;
    for (unsigned i = 1; i <= count; ++i) {
      made.push_back(topology_.add_node(std::string(stem) + std::to_string(i), role, i));
    }
    return made;
  }

  // Port numbers from 0.
  void link(std::uint32_t lower, unsigned lower_port, std::uint32_t upper, unsigned upper_port,
            Rate rate) {
    topology_.add_link(end(lower, lower_port), end(upper, upper_port), rate, delay_, mtu_);
  }

  Topology take() { return std::move(topology_); }

 private:
  End end(std::uint32_t node, unsigned port) {
    const auto index = static_cast<std::uint16_t>(port);
    topology_.add_port(node, port_name(topology_.nodes[node].role, index));
    return {node, index};
  }

  Topology topology_;
  Time delay_;
  std::uint32_t mtu_;
};

}  // namespace

Topology leaf_spine(std::string name, const LeafSpine& shape) {
  Maker make(std::move(name), shape.delay, shape.mtu);
  const auto spines = make.nodes(Role::spine, "spine", shape.spines);
  const auto leaves = make.nodes(Role::leaf, "leaf", shape.leaves);
  const auto hosts = make.nodes(Role::host, "h", shape.leaves * shape.hosts_per_leaf);
  for (unsigned l = 0; l < shape.leaves; ++l) {
    for (unsigned h = 0; h < shape.hosts_per_leaf; ++h) {
      make.link(leaves[l], h, hosts[l * shape.hosts_per_leaf + h], 0, shape.host_rate);
    }
    for (unsigned s = 0; s < shape.spines; ++s) {
      make.link(leaves[l], shape.hosts_per_leaf + s, spines[s], l, shape.uplink_rate);
    }
  }
  return make.take();
}

Topology fat_tree(std::string name, const FatTree& shape) {
  const unsigned k = shape.k;
  const unsigned half = k / 2;
  Maker make(std::move(name), shape.delay, shape.mtu);
  const auto cores = make.nodes(Role::core, "core", half * half);
  const auto spines = make.nodes(Role::spine, "spine", k * half);
  const auto leaves = make.nodes(Role::leaf, "leaf", k * half);
  const auto hosts = make.nodes(Role::host, "h", k * half * half);
  for (unsigned pod = 0; pod < k; ++pod) {
    for (unsigned i = 0; i < half; ++i) {
      const unsigned leaf = pod * half + i;
      for (unsigned h = 0; h < half; ++h) {
        make.link(leaves[leaf], h, hosts[leaf * half + h], 0, shape.host_rate);
      }
      for (unsigned s = 0; s < half; ++s) {
        make.link(leaves[leaf], half + s, spines[pod * half + s], i, shape.uplink_rate);
      }
    }
    // Spine s of each pod reaches the s-th row of cores.
    for (unsigned s = 0; s < half; ++s) {
      for (unsigned c = 0; c < half; ++c) {
        make.link(spines[pod * half + s], half + c, cores[s * half + c], pod, shape.uplink_rate);
      }
    }
  }
  return make.take();
}

}  // namespace frond::topology
