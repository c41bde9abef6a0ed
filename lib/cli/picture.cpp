// SPDX-License-Identifier: BSD-3-Clause
#include "cli/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "cli/text.hpp"

namespace frond::cli {
using namespace management;

namespace {

constexpr unsigned kMaxLines = 12;

std::string role_plural(const std::string& role) {
  if (role == "leaf") return "leaves";
  if (role == "switch") return "switches";
  return role + "s";
}

// h1 h2 h3 h4 h5 -> "h1 .. h5" when there are too many to list.
std::string listed(const std::vector<std::string>& names, std::size_t room) {
  if (names.size() <= room) return fmt::format("{}", fmt::join(names, " "));
  return fmt::format("{} .. {} ({})", names.front(), names.back(), names.size());
}

}  // namespace

std::string rate_text(Rate rate) {
  const std::uint64_t bps = rate.bps();
  if (bps >= 1'000'000'000) return fmt::format("{:g} Gb/s", static_cast<double>(bps) / 1e9);
  if (bps >= 1'000'000) return fmt::format("{:g} Mb/s", static_cast<double>(bps) / 1e6);
  if (bps >= 1'000) return fmt::format("{:g} kb/s", static_cast<double>(bps) / 1e3);
  return fmt::format("{} b/s", bps);
}

std::string duration_text(Time d) {
  const std::int64_t s = d.ns() / 1'000'000'000;
  if (d < Time::us(1)) return fmt::format("{} ns", d.ns());
  if (d < Time::ms(1)) return fmt::format("{:.1f} us", static_cast<double>(d.ns()) * 1e-3);
  if (s < 1) return fmt::format("{:.1f} ms", static_cast<double>(d.ns()) * 1e-6);
  if (s < 60) return fmt::format("{:.1f} s", d.seconds());
  if (s < 3600) return fmt::format("{} min {} s", s / 60, s % 60);
  if (s < 86400) return fmt::format("{} h {} min", s / 3600, s / 60 % 60);
  return fmt::format("{} d {} h", s / 86400, s / 3600 % 24);
}

std::string picture(const FabricInfo& info, const std::vector<Node>& nodes,
                    const std::vector<Link>& links) {
  std::map<std::string, const Node*> by_name;
  std::vector<std::pair<std::string, unsigned>> roles;  // from the top down
  for (const char* role : {"core", "spine", "leaf", "switch", "host"}) roles.emplace_back(role, 0);
  for (const Node& n : nodes) {
    by_name[n.name] = &n;
    const auto it =
        std::find_if(roles.begin(), roles.end(), [&](const auto& r) { return r.first == n.role; });
    if (it == roles.end())
      roles.emplace_back(n.role, 1);
    else
      ++it->second;
  }
  std::string counts;
  for (const auto& [role, n] : roles) {
    if (n != 0)
      counts += fmt::format("{}{}", counts.empty() ? "" : ", ", plural(n, role, role_plural(role)));
  }
  Rate fastest;
  for (const Link& l : links) fastest = std::max(fastest, l.rate);
  std::string out = fmt::format("{}: {}", info.name, counts);
  std::string label = fmt::format("{} at {}", info.mode, rate_text(fastest));
  if (!info.fidelity.empty()) label += ", " + info.fidelity;
  out += columns(out) + columns(label) + 3 <= kWidth ? "   " + label + "\n" : "\n  " + label + "\n";

  // For each switch with hosts: what is above it, itself, its hosts.
  std::map<std::string, std::set<std::string>> above;
  std::map<std::string, std::vector<std::string>> hosts;
  for (const Link& l : links) {
    for (const auto& [x, y] : {std::pair(&l.a, &l.b), std::pair(&l.b, &l.a)}) {
      const auto a = by_name.find(x->node);
      const auto b = by_name.find(y->node);
      if (a == by_name.end() || b == by_name.end() || a->second->kind == Node::Kind::host) continue;
      if (b->second->kind == Node::Kind::host) {
        auto& list = hosts[x->node];
        if (std::find(list.begin(), list.end(), y->node) == list.end()) list.push_back(y->node);
      } else {
        above[x->node].insert(y->node);
      }
    }
  }
  unsigned lines = 0;
  std::size_t left = 0;
  std::size_t middle = 0;
  std::vector<std::array<std::string, 3>> rows;
  for (const Node& n : nodes) {
    if (!hosts.contains(n.name)) continue;
    if (++lines > kMaxLines) continue;
    const auto& up = above[n.name];
    rows.push_back({listed({up.begin(), up.end()}, 4), n.name, listed(hosts[n.name], 8)});
    left = std::max<std::size_t>(left, columns(rows.back()[0]));
    middle = std::max<std::size_t>(middle, columns(rows.back()[1]));
  }
  for (const auto& [up, leaf, below] : rows) {
    std::string line = "  ";
    if (left != 0) line += fmt::format("{:{}} {} ", up, left, up.empty() ? "  " : "──");
    line += fmt::format("{:{}} ── {}", leaf, middle, below);
    out += cut(line, kWidth) + "\n";
  }
  if (lines > kMaxLines)
    out += fmt::format("  ... and {} more; frond graph shows all\n", lines - kMaxLines);
  return out;
}

}  // namespace frond::cli
