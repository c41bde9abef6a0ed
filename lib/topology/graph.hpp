// SPDX-License-Identifier: BSD-3-Clause
// Pictures of a topology: text for a terminal, Graphviz dot, Mermaid, SVG, and HTML with the SVG
// and a table in it. The state of links colours them when it is passed in.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/topology.hpp"

namespace frond::topology {

struct LinkPicture {
  bool up = true;
  bool paused = false;  // held by PFC
  bool impaired = false;
  std::optional<double> load;  // 0..1 of its rate, the busier direction
};

struct Picture {
  std::vector<LinkPicture> links;  // [link]; empty: all up, loads unknown
  std::string subtitle;            // a line under the name: scale, fidelity, time
};

// At most `width` columns; switches by tier, hosts by leaf, then what is down or impaired.
std::string graph_text(const Topology& topology, const Picture& picture = {}, unsigned width = 100);
std::string graph_dot(const Topology& topology, const Picture& picture = {});
std::string graph_mermaid(const Topology& topology, const Picture& picture = {});
std::string graph_svg(const Topology& topology, const Picture& picture = {});
std::string graph_html(const Topology& topology, const Picture& picture = {});  // self-contained

// "4 leaves", "1 spine".
std::string counted(unsigned n, Role role);

namespace detail {
// h1 h2 h3 h4 as "h1..h4": runs of more than `keep` names that only differ in a rising number.
std::vector<std::string> compressed(const std::vector<std::string>& names, unsigned keep = 4);
LinkPicture picture_of(const Picture& picture, std::uint32_t link);
std::string escaped(std::string_view text);  // for XML
std::string percent(double load);
}  // namespace detail

}  // namespace frond::topology
