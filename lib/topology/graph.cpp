// SPDX-License-Identifier: BSD-3-Clause
// The text forms: terminal, dot, Mermaid.
#include "topology/graph.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/units.hpp"

namespace frond::topology {
namespace detail {

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

LinkPicture picture_of(const Picture& picture, std::uint32_t link) {
  return link < picture.links.size() ? picture.links[link] : LinkPicture{};
}

std::string percent(double load) {
  const double bounded = std::clamp(load, 0.0, 9.99);
  return std::to_string(static_cast<int>(bounded * 100 + 0.5)) + "%";
}

namespace {

// Stem and number; a number that cannot be counted on is part of the stem.
std::pair<std::string, std::uint64_t> split(const std::string& name) {
  std::size_t first = name.size();
  while (first > 0 && name[first - 1] >= '0' && name[first - 1] <= '9') --first;
  const std::string digits = name.substr(first);
  if (digits.empty() || digits.size() > 9 || (digits[0] == '0' && digits.size() > 1)) {
    return {name, 0};
  }
  return {name.substr(0, first), std::stoull(digits)};
}

}  // namespace

std::vector<std::string> compressed(const std::vector<std::string>& names, unsigned keep) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < names.size();) {
    const auto [stem, number] = split(names[i]);
    std::size_t end = i + 1;
    while (end < names.size() && stem != names[i] &&
           split(names[end]) == std::pair(stem, number + (end - i))) {
      ++end;
    }
    if (end - i > keep) {
      out.push_back(names[i] + ".." + names[end - 1]);
      i = end;
    } else {
      out.push_back(names[i++]);
    }
  }
  return out;
}

}  // namespace detail

namespace {

using detail::picture_of;

std::string join(const std::vector<std::string>& words, std::string_view separator = " ") {
  std::string text;
  for (const std::string& w : words) text += (text.empty() ? "" : std::string(separator)) + w;
  return text;
}

// Columns on a terminal: all our names are ASCII, the box characters count one each.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

// The words of a line that is full go on under its `indent`.
void put(std::string& out, std::string line, const std::vector<std::string>& words,
         std::size_t indent, unsigned width) {
  bool first = true;
  for (const std::string& w : words) {
    if (!first && columns(line) + 1 + w.size() > width) {
      out += line + "\n";
      line = std::string(indent, ' ');
      first = true;
    }
    line += (first ? "" : " ") + w;
    first = false;
  }
  out += line + "\n";
}

// Names of the neighbours whose role compares so to the node's, in the order of its ports; each
// once.
enum class Direction { up, down, level };
std::vector<std::string> neighbours(const Topology& t, std::uint32_t node, Direction direction,
                                    bool hosts) {
  std::vector<std::string> names;
  for (std::uint16_t p = 0; p < t.nodes[node].ports.size(); ++p) {
    const auto peer = t.peer({node, p});
    if (!peer) continue;
    const Node& other = t.nodes[peer->node];
    const auto mine = t.nodes[node].role;
    const Direction is = other.role > mine   ? Direction::up
                         : other.role < mine ? Direction::down
                                             : Direction::level;
    if (is != direction || other.is_switch() == hosts) continue;
    if (std::find(names.begin(), names.end(), other.name) == names.end()) {
      names.push_back(other.name);
    }
  }
  return names;
}

// Switches that share their upper neighbours hang under them as a bracket.
void text_tiers(const Topology& t, std::string& out, unsigned width) {
  std::vector<std::pair<std::vector<std::string>, std::vector<std::uint32_t>>> groups;
  std::map<std::vector<std::string>, std::size_t> known;
  std::vector<std::string> alone;
  for (std::uint32_t n = 0; n < t.nodes.size(); ++n) {
    const Node& node = t.nodes[n];
    if (!node.is_switch()) continue;
    auto up = neighbours(t, n, Direction::up, false);
    const auto below = neighbours(t, n, Direction::down, false);
    const auto level = neighbours(t, n, Direction::level, false);
    if (up.empty()) up = level;
    if (up.empty() && !below.empty()) continue;  // it heads a group
    const auto [it, fresh] = known.emplace(up, groups.size());
    if (fresh) groups.push_back({up, {}});
    groups[it->second].second.push_back(n);
  }
  for (const auto& [up, members] : groups) {
    const auto head = detail::compressed(up);
    std::string prefix = "  " + join(head);
    if (columns(prefix) > width / 2) {
      put(out, "  ", head, 2, width);
      prefix = "   ";
    }
    const std::size_t indent = columns(prefix);
    std::vector<std::pair<std::string, std::vector<std::string>>> lines;
    std::vector<std::string> bare;
    for (std::uint32_t n : members) {
      const auto hosts = neighbours(t, n, Direction::down, true);
      if (hosts.empty())
        bare.push_back(t.nodes[n].name);
      else
        lines.emplace_back(t.nodes[n].name, hosts);
    }
    if (!bare.empty()) lines.insert(lines.begin(), {join(detail::compressed(bare)), {}});
    std::size_t widest = 0;
    for (const auto& [name, hosts] : lines) widest = std::max(widest, name.size());
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool last = i + 1 == lines.size();
      std::string branch = up.empty()          ? " "
                           : lines.size() == 1 ? " ──── "
                           : i == 0            ? " ─┬── "
                           : last              ? "  └── "
                                               : "  ├── ";
      std::string line = (i == 0 ? prefix : std::string(indent, ' ')) + branch + lines[i].first;
      if (!lines[i].second.empty()) {
        line += std::string(widest - std::min(widest, lines[i].first.size()), ' ') + " ── ";
      }
      put(out, line, detail::compressed(lines[i].second), columns(line), width);
    }
  }
}

std::string link_notes(const LinkPicture& p) {
  std::string text;
  const auto note = [&](const std::string& s) { text += (text.empty() ? "" : ", ") + s; };
  if (!p.up) note("down");
  if (p.paused) note("paused");
  if (p.impaired) note("impaired");
  if (p.load && *p.load >= 0.8) note(detail::percent(*p.load));
  return text;
}

std::string dot_colour(const LinkPicture& p) {
  if (!p.up) return "#c0392b";
  if (p.paused) return "#8e44ad";
  if (!p.load) return "#7f8c8d";
  return *p.load >= 0.8 ? "#e67e22" : *p.load >= 0.4 ? "#f1c40f" : "#27ae60";
}

}  // namespace

std::string counted(unsigned n, Role role) {
  std::string name(role_name(role));
  if (n != 1) name = role == Role::leaf ? "leaves" : name + "s";
  return std::to_string(n) + " " + name;
}

std::string graph_text(const Topology& t, const Picture& picture, unsigned width) {
  std::vector<std::string> parts;
  for (Role role : {Role::core, Role::spine, Role::leaf, Role::host}) {
    if (t.count(role) != 0) parts.push_back(counted(t.count(role), role));
  }
  std::string out = t.name + ": " + join(parts, ", ");
  if (!picture.subtitle.empty()) out += "   " + picture.subtitle;
  out += "\n";
  text_tiers(t, out, width);
  for (std::uint32_t l = 0; l < t.links.size(); ++l) {
    const std::string notes = link_notes(picture_of(picture, l));
    if (notes.empty()) continue;
    out +=
        "  " + t.end_name(t.links[l].a) + " ── " + t.end_name(t.links[l].b) + "  " + notes + "\n";
  }
  return out;
}

std::string graph_dot(const Topology& t, const Picture& picture) {
  std::string out = "graph \"" + t.name + "\" {\n";
  out += "  label=\"" + t.name + (picture.subtitle.empty() ? "" : "\\n" + picture.subtitle) +
         "\";\n  rankdir=TB; splines=line; nodesep=0.3; ranksep=1.0;\n"
         "  node [fontname=\"sans-serif\", fontsize=11, style=filled, fillcolor=\"#eef3f7\","
         " color=\"#34495e\"];\n  edge [fontname=\"sans-serif\", fontsize=8];\n";
  for (Role role : {Role::core, Role::spine, Role::leaf, Role::host}) {
    if (t.count(role) == 0) continue;
    out += "  { rank=same;";
    for (const Node& n : t.nodes) {
      if (n.role != role) continue;
      out += " \"" + n.name + "\" [shape=" + (n.is_switch() ? "box" : "ellipse") + "];";
    }
    out += " }\n";
  }
  for (std::uint32_t l = 0; l < t.links.size(); ++l) {
    const Link& link = t.links[l];
    const LinkPicture p = picture_of(picture, l);
    // The upper end first, so that ranks grow downwards.
    const bool turned = t.nodes[link.a.node].role < t.nodes[link.b.node].role;
    const End a = turned ? link.b : link.a;
    const End b = turned ? link.a : link.b;
    out += "  \"" + t.nodes[a.node].name + "\" -- \"" + t.nodes[b.node].name + "\" [color=\"" +
           dot_colour(p) + "\"";
    if (!p.up) out += ", style=dashed";
    if (p.impaired) out += ", style=dotted";
    out += ", tooltip=\"" + t.end_name(a) + " - " + t.end_name(b) + " " + format(link.rate) +
           (p.load ? " " + detail::percent(*p.load) : "") + "\"";
    out += ", taillabel=\"" + t.port(a).name + "\", headlabel=\"" + t.port(b).name + "\"];\n";
  }
  return out + "}\n";
}

std::string graph_mermaid(const Topology& t, const Picture& picture) {
  std::string out = "graph TD\n";
  for (const Node& n : t.nodes) {
    out += "  " + n.name + (n.is_switch() ? "[" + n.name + "]" : "([" + n.name + "])") + "\n";
  }
  for (std::uint32_t l = 0; l < t.links.size(); ++l) {
    const Link& link = t.links[l];
    const bool turned = t.nodes[link.a.node].role < t.nodes[link.b.node].role;
    const End a = turned ? link.b : link.a;
    const End b = turned ? link.a : link.b;
    const std::string notes = link_notes(picture_of(picture, l));
    out += "  " + t.nodes[a.node].name + (picture_of(picture, l).up ? " --- " : " -.- ");
    if (!notes.empty()) out += "|" + notes + "| ";
    out += t.nodes[b.node].name + "\n";
  }
  for (std::uint32_t l = 0; l < t.links.size(); ++l) {
    const LinkPicture p = picture_of(picture, l);
    if (p.up && !p.paused && !p.load) continue;
    out += "  linkStyle " + std::to_string(l) + " stroke:" + dot_colour(p) + "\n";
  }
  return out;
}

}  // namespace frond::topology
