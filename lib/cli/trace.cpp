// SPDX-License-Identifier: BSD-3-Clause
// frond trace SRC DST: which way an imaginary packet goes, and why, stage by stage.
#include "cli/trace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/command.hpp"
#include "cli/json.hpp"
#include "cli/session.hpp"
#include "cli/text.hpp"

namespace frond::cli {

std::string trace_text(const management::TraceReport& report) {
  unsigned width = 4;
  for (const auto& hop : report.hops) width = std::max(width, columns(hop.node));
  std::string out;
  for (const auto& hop : report.hops) {
    std::string name = hop.node;
    auto add = [&](const std::string& text) {
      const std::string pad(width - columns(name), ' ');
      out += cut(fmt::format("{}{}  {}", name, pad, printable(text)), kWidth) + "\n";
      name.clear();
    };
    add("in       " + hop.in_port);
    for (const auto& line : hop.lines) add(line.text);
    if (!hop.out_port.empty()) add("out      " + hop.out_port);
  }
  return out + printable(report.outcome) + "\n";
}

namespace {

std::optional<std::vector<std::uint8_t>> from_hex(const std::string& text) {
  std::vector<std::uint8_t> bytes;
  unsigned half = 0;
  unsigned value = 0;
  for (char c : text) {
    if (c == ' ' || c == ':' || c == '\n') continue;
    const char* digits = "0123456789abcdef";
    const char lower = c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
    const char* at = std::find(digits, digits + 16, lower);
    if (at == digits + 16) return {};
    value = value << 4 | static_cast<unsigned>(at - digits);
    if (++half % 2 == 0) {
      bytes.push_back(static_cast<std::uint8_t>(value));
      value = 0;
    }
  }
  if (half % 2 != 0 || bytes.empty()) return {};
  return bytes;
}

class Trace final : public Command {
 public:
  CLI::App* declare(CLI::App& app, Global& global) override {
    CLI::App* c = app.add_subcommand("trace", "Which way a packet would go, and why");
    c->add_option("from", r_.from, "A host, or the port where the packet comes in")
        ->required()
        ->type_name("HOST");
    c->add_option("to", r_.to, "A host")->type_name("HOST");
    c->add_option("--src", src_, "Source address, if not the host's")->type_name("ADDRESS");
    c->add_option("--dst", dst_, "Destination address, if not the host's")->type_name("ADDRESS");
    c->add_flag("-6,--ipv6", r_.ipv6, "Use the hosts' IPv6 addresses");
    c->add_option("--proto", proto_, "udp, tcp, icmp, icmp6, or a number")
        ->type_name("PROTOCOL")
        ->capture_default_str();
    c->add_option("--sport", r_.sport, "Source port")->type_name("PORT")->capture_default_str();
    c->add_option("--dport", r_.dport, "Destination port")
        ->type_name("PORT")
        ->capture_default_str();
    c->add_option("--dscp", r_.dscp, "Differentiated services code point")
        ->check(CLI::Range(0, 63))
        ->type_name("DSCP")
        ->capture_default_str();
    c->add_option("--ttl", r_.ttl, "Time to live, or hop limit")
        ->type_name("TTL")
        ->capture_default_str();
    c->add_option("--size", r_.size, "Bytes of the frame, without FCS")
        ->check(CLI::Range(60, 65535))
        ->type_name("BYTES")
        ->capture_default_str();
    c->add_option("--frame", frame_, "This very frame, in hexadecimal; only FROM counts then")
        ->type_name("HEX");
    add_name(c, global);
    add_json(c, global);
    c->footer(
        "The decisions are those of the data path itself, made on a copy: nothing is sent, "
        "learned\n"
        "or counted. Ends with 1 when the packet would not arrive.\n\n"
        "Examples:\n  frond trace h1 h4 --dscp 26 --size 4096\n  frond trace h1 h4 --proto tcp "
        "--dport 5201");
    return c;
  }

  int run(Global& global) override {
    r_.from = split_fabric(r_.from, global.fabric);
    r_.to = split_fabric(r_.to, global.fabric);
    if (auto s = fill(); !s) return fail(global, s.error());
    auto client = open_fabric(global.fabric);
    if (!client) return fail(global, client.error());
    auto report = (*client)->trace(r_);
    if (!report) return fail(global, report.error());
    if (global.json)
      print_json(trace_json(*report));
    else
      fmt::print("{}", trace_text(*report));
    return report->delivered ? kDone : kFailed;
  }

 private:
  Status fill() {
    auto invalid = [](std::string m) { return Error{Error::Code::invalid_argument, std::move(m)}; };
    for (auto [text, field] : {std::pair(&src_, &r_.src), std::pair(&dst_, &r_.dst)}) {
      if (text->empty()) continue;
      *field = IpAddress::parse(*text);
      if (!*field) return invalid(fmt::format("'{}' is no IP address", *text));
      r_.ipv6 = r_.ipv6 || (*field)->v6;
    }
    if (!frame_.empty()) {
      auto bytes = from_hex(frame_);
      if (!bytes) return invalid("the frame must be pairs of hexadecimal digits");
      r_.frame = std::move(*bytes);
    } else if (r_.to.empty() && dst_.empty()) {
      return invalid("say where to: a host, --dst ADDRESS or --frame HEX");
    }
    const std::pair<const char*, int> kProtocols[] = {
        {"udp", 17}, {"tcp", 6}, {"icmp", 1}, {"icmp6", 58}};
    for (const auto& [name, number] : kProtocols) {
      if (proto_ == name) {
        r_.protocol = static_cast<std::uint8_t>(number);
        return {};
      }
    }
    char* end = nullptr;
    const unsigned long n = std::strtoul(proto_.c_str(), &end, 10);
    if (proto_.empty() || *end != 0 || n > 255)
      return invalid(
          fmt::format("protocol '{}' is not udp, tcp, icmp, icmp6 or a number up to 255", proto_));
    r_.protocol = static_cast<std::uint8_t>(n);
    return {};
  }

  management::TraceRequest r_;
  std::string src_, dst_, frame_;
  std::string proto_ = "udp";
};

}  // namespace

std::unique_ptr<Command> make_trace() { return std::make_unique<Trace>(); }

}  // namespace frond::cli
