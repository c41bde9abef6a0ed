// SPDX-License-Identifier: BSD-3-Clause
// SVG and HTML. Tiers are rows, cores on top; hosts stand in two staggered columns under their
// leaf, or as one box where there are many; a leaf is as wide as its hosts; upper tiers are spread
// over the width of what hangs below them and sorted to cross little.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "base/units.hpp"
#include "topology/graph.hpp"

namespace frond::topology {
namespace {

using detail::escaped;
using detail::picture_of;

constexpr double kMargin = 24;
constexpr double kBoxHeight = 30;
constexpr double kRow = 118;  // from tier to tier
constexpr double kHostRow = 84;
constexpr double kHeader = 64;
constexpr unsigned kManyHosts = 96;  // from here on a leaf's hosts are one box

struct Box {
  double x = 0;  // centre
  double y = 0;
  double width = 0;
  std::string label;
  std::string tip;
  std::string kind;
};

double box_width(const std::string& label) {
  return std::max(46.0, 16.0 + 7.4 * static_cast<double>(label.size()));
}

std::string num(double v) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", v);
  std::string s = text;
  if (s.ends_with(".0")) s.resize(s.size() - 2);
  return s;
}

std::string colour_class(const LinkPicture& p) {
  if (!p.up) return "down";
  std::string name = p.paused         ? "paused"
                     : !p.load        ? "idle"
                     : *p.load >= 0.8 ? "hot"
                     : *p.load >= 0.4 ? "warm"
                                      : "cool";
  return p.impaired ? name + " impaired" : name;
}

class Drawing {
 public:
  Drawing(const Topology& t, const Picture& p) : t_(t), picture_(p), at_(t.nodes.size(), kNone) {
    place();
  }

  std::string svg() const {
    std::string out = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + num(width_) +
                      " " + num(height_) + "\" width=\"" + num(width_) + "\" height=\"" +
                      num(height_) + "\" role=\"img\">\n";
    out += std::string(kStyle);
    out += "<title>" + escaped(t_.name) + "</title>\n";
    out += "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n";
    out += "<text class=\"name\" x=\"" + num(kMargin) + "\" y=\"30\">" + escaped(t_.name) +
           "</text>\n<text class=\"sub\" x=\"" + num(kMargin) + "\" y=\"48\">" +
           escaped(summary()) + "</text>\n";
    for (std::uint32_t l = 0; l < t_.links.size(); ++l) out += line(l);
    for (const auto& [tip, from_to] : bundles_) {
      out += path(from_to.first, from_to.second, "idle", tip);
    }
    for (const Box& b : boxes_) out += box(b);
    return out + "</svg>\n";
  }

 private:
  static constexpr std::string_view kStyle = R"(<style>
.paper{fill:#fff}.name{font:600 18px sans-serif;fill:#1f2d3a}.sub{font:12px sans-serif;fill:#5d6d7e}
.node rect{stroke:#2c3e50;stroke-width:1.2}.node text{font:12px sans-serif;text-anchor:middle;fill:#1f2d3a}
.core rect{fill:#d6e4f0}.spine rect{fill:#dcecf7}.leaf rect{fill:#e3f2e6}.host rect{fill:#fdf6e3;stroke:#a08b5b}
.link{fill:none;stroke-width:1.6;stroke:#95a5b2}.link.cool{stroke:#27ae60}.link.warm{stroke:#e0b400}
.link.hot{stroke:#e2641c;stroke-width:2.6}.link.paused{stroke:#8e44ad;stroke-width:2.6}
.link.down{stroke:#c0392b;stroke-dasharray:5 4}.link.impaired{stroke-dasharray:2 3}
.link:hover{stroke-width:4}
@media (prefers-color-scheme:dark){.paper{fill:#15202b}.name,.node text{fill:#e8eef3}.sub{fill:#9fb0bf}
.core rect,.spine rect{fill:#24435c}.leaf rect{fill:#23482f}.host rect{fill:#4a4128}}
</style>
)";

  std::string summary() const {
    std::string text;
    for (Role role : {Role::core, Role::spine, Role::leaf, Role::host}) {
      if (t_.count(role) != 0) {
        text += (text.empty() ? "" : ", ") + counted(t_.count(role), role);
      }
    }
    return text + (picture_.subtitle.empty() ? "" : "   " + picture_.subtitle);
  }

  std::vector<std::uint32_t> row(Role role) const {
    std::vector<std::uint32_t> list;
    for (std::uint32_t n = 0; n < t_.nodes.size(); ++n) {
      if (t_.nodes[n].role == role) list.push_back(n);
    }
    return list;
  }

  std::vector<std::uint32_t> hosts_of(std::uint32_t node) const {
    std::vector<std::uint32_t> list;
    for (std::uint16_t p = 0; p < t_.nodes[node].ports.size(); ++p) {
      const auto peer = t_.peer({node, p});
      if (!peer || t_.nodes[peer->node].is_switch()) continue;
      // A host with several links stands under the first of its switches.
      if (at_[peer->node] == kNone &&
          std::find(list.begin(), list.end(), peer->node) == list.end()) {
        list.push_back(peer->node);
      }
    }
    return list;
  }

  void add(std::uint32_t node, double x, double y) {
    const Node& n = t_.nodes[node];
    at_[node] = static_cast<std::uint32_t>(boxes_.size());
    boxes_.push_back({x, y, box_width(n.name), n.name,
                      n.name + ", " + std::string(role_name(n.role)),
                      std::string(role_name(n.role))});
  }

  void place() {
    // Rows that exist, from the top; the hosts' is the last.
    std::vector<Role> rows;
    for (Role role : {Role::core, Role::spine, Role::leaf}) {
      if (t_.count(role) != 0) rows.push_back(role);
    }
    std::map<Role, double> y;
    double next_y = kHeader + kBoxHeight;
    for (Role role : rows) {
      y[role] = next_y;
      next_y += kRow;
    }
    const double host_y = rows.empty() ? next_y : next_y - kRow + kHostRow;
    const bool many = t_.count(Role::host) > kManyHosts;

    // The lowest row of switches from left to right, each as wide as its hosts.
    double x = kMargin;
    std::vector<double> centres;
    double lowest = host_y;
    if (!rows.empty()) {
      for (std::uint32_t n : row(rows.back())) {
        x = many ? place_bundle(n, x, y[rows.back()], host_y)
                 : place_rack(n, x, y[rows.back()], host_y, lowest);
      }
    }
    width_ = std::max(x, 360.0);
    for (std::size_t r = rows.size(); r-- > 1;) spread(rows[r - 1], y[rows[r - 1]]);
    // Hosts of upper switches, and those that nothing connects: at the end of their row.
    for (std::uint32_t n : row(Role::host)) {
      if (at_[n] != kNone || (many && bundled(n))) continue;
      const double w = box_width(t_.nodes[n].name);
      add(n, width_ + w / 2, host_y);
      width_ += w + 12;
    }
    width_ += kMargin;
    height_ = (t_.count(Role::host) == 0 ? next_y - kRow : lowest) + kBoxHeight + kMargin;
  }

  double place_rack(std::uint32_t n, double x, double y, double host_y, double& lowest) {
    const auto hosts = hosts_of(n);
    double width = box_width(t_.nodes[n].name);
    double widest = 0;
    for (std::uint32_t h : hosts) widest = std::max(widest, box_width(t_.nodes[h].name));
    // Up to four hosts a line.
    const std::size_t columns = std::clamp<std::size_t>(hosts.size(), 1, 4);
    width = std::max(width, static_cast<double>(columns) * (widest + 8));
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const std::size_t line = i / columns;
      const std::size_t in_line = std::min(columns, hosts.size() - line * columns);
      const double left = x + (width - static_cast<double>(in_line) * (widest + 8)) / 2;
      const double host_x = left + (static_cast<double>(i % columns) + 0.5) * (widest + 8);
      const double hy = host_y + static_cast<double>(line) * (kBoxHeight + 12);
      lowest = std::max(lowest, hy);
      add(hosts[i], host_x, hy);
    }
    add(n, x + width / 2, y);
    return x + width + 18;
  }

  double place_bundle(std::uint32_t n, double x, double y, double host_y) {
    std::vector<std::string> names;
    for (std::uint32_t h : hosts_of(n)) names.push_back(t_.nodes[h].name);
    double width = box_width(t_.nodes[n].name);
    if (!names.empty()) {
      const auto words = detail::compressed(names, 2);
      std::string label = words.size() == 1 ? words[0] : std::to_string(names.size()) + " hosts";
      width = std::max(width, box_width(label));
      const auto index = static_cast<std::uint32_t>(boxes_.size());
      boxes_.push_back({x + width / 2, host_y, box_width(label), label,
                        std::to_string(names.size()) + " hosts", "host"});
      bundles_.push_back({label, {index, index + 1}});
    }
    add(n, x + width / 2, y);
    return x + width + 18;
  }

  bool bundled(std::uint32_t host) const {
    for (std::uint16_t p = 0; p < t_.nodes[host].ports.size(); ++p) {
      const auto peer = t_.peer({host, p});
      if (peer && at_[peer->node] != kNone && t_.nodes[peer->node].is_switch()) return true;
    }
    return false;
  }

  // Ordered by the mean place of what hangs below (one barycentre pass), evenly over the width.
  void spread(Role role, double y) {
    std::vector<std::pair<double, std::uint32_t>> order;
    double total = 0;
    for (std::uint32_t n : row(role)) {
      double sum = 0;
      unsigned count = 0;
      for (std::uint16_t p = 0; p < t_.nodes[n].ports.size(); ++p) {
        const auto peer = t_.peer({n, p});
        if (!peer || at_[peer->node] == kNone) continue;
        sum += boxes_[at_[peer->node]].x;
        ++count;
      }
      order.emplace_back(count == 0 ? width_ : std::round(sum / count), n);
      total += box_width(t_.nodes[n].name) + 14;
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    width_ = std::max(width_, total + 2 * kMargin);
    const double step = (width_ - kMargin) / static_cast<double>(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      add(order[i].second, kMargin / 2 + step * (static_cast<double>(i) + 0.5), y);
    }
  }

  std::string line(std::uint32_t l) const {
    const Link& link = t_.links[l];
    const std::uint32_t a = at_[link.a.node];
    const std::uint32_t b = at_[link.b.node];
    if (a == kNone || b == kNone) return "";  // inside a bundle
    const LinkPicture p = picture_of(picture_, l);
    std::string tip = t_.end_name(link.a) + " - " + t_.end_name(link.b) + ", " + format(link.rate);
    if (p.load) tip += ", load " + detail::percent(*p.load);
    if (!p.up) tip += ", down";
    if (p.paused) tip += ", paused";
    if (p.impaired) tip += ", impaired";
    return path(a, b, colour_class(p), tip);
  }

  // From the lower edge of the upper box to the upper edge of the lower one; an arc within a row.
  std::string path(std::uint32_t a, std::uint32_t b, const std::string& kind,
                   const std::string& tip) const {
    const Box& upper = boxes_[boxes_[a].y <= boxes_[b].y ? a : b];
    const Box& lower = boxes_[boxes_[a].y <= boxes_[b].y ? b : a];
    std::string d;
    if (upper.y == lower.y) {
      const double y = upper.y + kBoxHeight / 2;
      d = "M" + num(upper.x) + " " + num(y) + "Q" + num((upper.x + lower.x) / 2) + " " +
          num(y + 48) + " " + num(lower.x) + " " + num(y);
    } else {
      d = "M" + num(upper.x) + " " + num(upper.y + kBoxHeight / 2) + "L" + num(lower.x) + " " +
          num(lower.y - kBoxHeight / 2);
    }
    return "<path class=\"link " + kind + "\" d=\"" + d + "\"><title>" + escaped(tip) +
           "</title></path>\n";
  }

  static std::string box(const Box& b) {
    return "<g class=\"node " + b.kind + "\"><title>" + escaped(b.tip) + "</title><rect x=\"" +
           num(b.x - b.width / 2) + "\" y=\"" + num(b.y - kBoxHeight / 2) + "\" width=\"" +
           num(b.width) + "\" height=\"" + num(kBoxHeight) + "\" rx=\"" +
           (b.kind == "host" ? "15" : "5") + "\"/><text x=\"" + num(b.x) + "\" y=\"" +
           num(b.y + 4) + "\">" + escaped(b.label) + "</text></g>\n";
  }

  const Topology& t_;
  const Picture& picture_;
  std::vector<std::uint32_t> at_;  // by node: its box
  std::vector<Box> boxes_;
  std::vector<std::pair<std::string, std::pair<std::uint32_t, std::uint32_t>>> bundles_;
  double width_ = 0;
  double height_ = 0;
};

}  // namespace

std::string graph_svg(const Topology& topology, const Picture& picture) {
  return Drawing(topology, picture).svg();
}

std::string graph_html(const Topology& t, const Picture& picture) {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
                    escaped(t.name) + "</title>\n";
  out += R"(<style>
body{margin:0;font:14px sans-serif;background:#fff;color:#1f2d3a}
.picture{overflow-x:auto}details{margin:0 24px 24px}
table{border-collapse:collapse;margin-top:8px}td,th{padding:3px 14px 3px 0;text-align:left}
th{border-bottom:1px solid #95a5b2}tr.down{color:#c0392b}tr.paused{color:#8e44ad}tr.hot{color:#e2641c}
@media (prefers-color-scheme:dark){body{background:#15202b;color:#e8eef3}}
</style></head><body>
<div class="picture">
)";
  out += graph_svg(t, picture) + "</div>\n<details" + (t.links.size() <= 64 ? " open" : "") +
         "><summary>" + std::to_string(t.links.size()) +
         " links</summary>\n<table><tr><th>from</th><th>to</th><th>rate</th><th>delay</th>"
         "<th>mtu</th><th>load</th><th>state</th></tr>\n";
  for (std::uint32_t l = 0; l < t.links.size(); ++l) {
    const Link& link = t.links[l];
    const LinkPicture p = picture_of(picture, l);
    std::string state = p.up ? "up" : "down";
    if (p.paused) state += ", paused";
    if (p.impaired) state += ", impaired";
    out += "<tr class=\"" + colour_class(p) + "\"><td>" + escaped(t.end_name(link.a)) +
           "</td><td>" + escaped(t.end_name(link.b)) + "</td><td>" + format(link.rate) +
           "</td><td>" + format(link.delay) + "</td><td>" + std::to_string(link.mtu) + "</td><td>" +
           (p.load ? detail::percent(*p.load) : "") + "</td><td>" + state + "</td></tr>\n";
  }
  return out + "</table></details>\n</body></html>\n";
}

}  // namespace frond::topology
