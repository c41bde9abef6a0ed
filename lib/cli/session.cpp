// SPDX-License-Identifier: BSD-3-Clause
#include "cli/session.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace frond::cli {
namespace {

std::string running_names() {
  std::string names;
  for (const Found& f : all_fabrics()) {
    if (f.running) names += (names.empty() ? "" : ", ") + f.name;
  }
  return names;
}

unsigned distance(const std::string& a, const std::string& b) {
  std::vector<unsigned> row(b.size() + 1);
  for (unsigned j = 0; j <= b.size(); ++j) row[j] = j;
  for (unsigned i = 1; i <= a.size(); ++i) {
    unsigned diagonal = row[0];
    row[0] = i;
    for (unsigned j = 1; j <= b.size(); ++j) {
      const unsigned change = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string split_fabric(std::string text, std::string& fabric) {
  const std::size_t slash = text.find('/');
  if (slash == text.npos) return text;
  fabric = text.substr(0, slash);
  return text.substr(slash + 1);
}

std::string nearest(const std::string& wanted, const std::vector<std::string>& known) {
  std::string best;
  unsigned least = static_cast<unsigned>(wanted.size() / 3 + 1);
  for (const std::string& name : known) {
    if (const unsigned d = distance(wanted, name); d <= least && (best.empty() || d < least)) {
      best = name;
      least = d;
    }
  }
  return best;
}

Result<std::string> choose_fabric(const std::string& given) {
  std::vector<Found> running;
  for (Found& f : all_fabrics()) {
    if (!given.empty() && f.name == given && !f.running) {
      return Error{
          Error::Code::unavailable,
          fmt::format(
              "fabric '{}' has crashed; frond down {} cleans up, then frond up starts it again",
              given, given)};
    }
    if (f.running) running.push_back(std::move(f));
  }
  const std::string names = running_names();
  if (!given.empty()) {
    if (auto s = check_name(given); !s) return s.error();
    for (const Found& f : running) {
      if (f.name == given) return given;
    }
    return Error{
        Error::Code::not_found,
        fmt::format("no fabric named '{}' is running; frond up FILE starts one; running: {}", given,
                    names.empty() ? "none" : names)};
  }
  if (running.empty()) {
    return Error{Error::Code::not_found, "no fabric is running; frond up demo starts one"};
  }
  if (running.size() > 1) {
    return Error{Error::Code::invalid_argument,
                 fmt::format("{} fabrics are running: {}; say which with --name, or as {}/...",
                             running.size(), names, running[0].name)};
  }
  return running[0].name;
}

Result<std::unique_ptr<management::Client>> open_fabric(const std::string& given,
                                                        std::string* chosen) {
  auto name = choose_fabric(given);
  if (!name) return name.error();
  if (chosen != nullptr) *chosen = *name;
  auto client = management::Client::connect(socket_path(*name));
  if (client) return client;
  Error e = client.error();
  if (e.code == Error::Code::permission_denied) {
    e.message = fmt::format("fabric '{}' belongs to another user; use sudo", *name);
  } else {
    e.message = fmt::format("fabric '{}' runs but does not answer ({}); its log is {}/log", *name,
                            e.message, state_dir(*name));
  }
  return e;
}

Result<PortName> find_port(management::Client& client, const std::string& text) {
  auto ports = client.ports();
  if (!ports) return ports.error();
  std::vector<std::string> of_node;
  for (const std::string& port : *ports) {
    const std::size_t colon = port.find(':');
    if (port == text) return PortName{port.substr(0, colon), port.substr(colon + 1)};
    if (port.substr(0, colon) == text.substr(0, text.find(':'))) of_node.push_back(port);
  }
  if (text.find(':') == text.npos && of_node.size() == 1) return find_port(client, of_node[0]);
  std::string hint;
  if (!of_node.empty()) {
    hint = fmt::format("; its ports: {}",
                       fmt::join(of_node.begin(),
                                 of_node.begin() + static_cast<std::ptrdiff_t>(
                                                       std::min<std::size_t>(of_node.size(), 8)),
                                 " "));
    if (of_node.size() > 8) hint += " ...";
  } else if (const std::string near = nearest(text, *ports); !near.empty()) {
    hint = fmt::format("; did you mean {}?", near);
  } else {
    hint = "; frond status shows them all";
  }
  return Error{Error::Code::not_found, fmt::format("there is no port '{}'{}", text, hint)};
}

}  // namespace frond::cli
