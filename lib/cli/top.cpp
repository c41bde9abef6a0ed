// SPDX-License-Identifier: BSD-3-Clause
// frond top: the busiest ports, live.
#include "cli/top.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "cli/command.hpp"
#include "cli/json.hpp"
#include "cli/picture.hpp"
#include "cli/session.hpp"
#include "cli/text.hpp"

namespace frond::cli {

std::vector<PortRates> port_rates(const std::vector<management::Node>& before, Time from,
                                  const std::vector<management::Node>& after, Time to) {
  std::map<std::string, const management::Interface*> old;
  for (const auto& n : before) {
    for (const auto& i : n.interfaces) old[n.name + ":" + i.name] = &i;
  }
  const double seconds = std::max((to - from).seconds(), 1e-9);
  std::vector<PortRates> all;
  for (const auto& n : after) {
    for (const auto& i : n.interfaces) {
      PortRates r;
      r.port = n.name + ":" + i.name;
      r.up = i.oper_up;
      r.queue_bytes = i.queue_bytes;
      const auto it = old.find(r.port);
      for (const auto& d : i.drops) r.drops += static_cast<double>(d.packets);
      // A port that was not there before, or was replaced, starts from 0.
      management::InterfaceCounters then;
      double drops_then = 0;
      if (it != old.end() && it->second->counters.in_pkts <= i.counters.in_pkts &&
          it->second->counters.out_pkts <= i.counters.out_pkts) {
        then = it->second->counters;
        for (const auto& d : it->second->drops) drops_then += static_cast<double>(d.packets);
      }
      auto rate = [&](std::uint64_t a, std::uint64_t b) {
        return static_cast<double>(b - a) / seconds;
      };
      r.in_bps = rate(then.in_octets, i.counters.in_octets) * 8;
      r.out_bps = rate(then.out_octets, i.counters.out_octets) * 8;
      r.in_pps = rate(then.in_pkts, i.counters.in_pkts);
      r.out_pps = rate(then.out_pkts, i.counters.out_pkts);
      r.drops = std::max(0.0, r.drops - drops_then) / seconds;
      const auto speed = static_cast<double>(i.speed.bps());
      r.load = speed > 0 ? std::max(r.in_bps, r.out_bps) / speed : 0;
      all.push_back(std::move(r));
    }
  }
  return all;
}

void sort_rates(std::vector<PortRates>& rates, const std::string& by) {
  auto key = [&](const PortRates& r) {
    if (by == "in") return r.in_bps;
    if (by == "out") return r.out_bps;
    if (by == "drops") return r.drops;
    if (by == "queue") return static_cast<double>(r.queue_bytes);
    return r.load;
  };
  if (by == "port") return;  // as they come
  std::stable_sort(rates.begin(), rates.end(),
                   [&](const PortRates& a, const PortRates& b) { return key(a) > key(b); });
}

std::string top_text(const management::FabricInfo& info, const std::vector<PortRates>& rates,
                     unsigned width, unsigned height) {
  double total = 0;
  double drops = 0;
  unsigned down = 0;
  for (const PortRates& r : rates) {
    total += r.in_bps;
    drops += r.drops;
    down += !r.up;
  }
  std::string out =
      cut(fmt::format("{}  up {}  in {}b/s  drops {}/s  {} down  busy {}  {}", info.name,
                      duration_text(info.now - info.started),
                      count(static_cast<std::uint64_t>(total)),
                      count(static_cast<std::uint64_t>(drops)), plural(down, "port", "ports"),
                      percent(info.busy), info.fidelity),
          width) +
      "\n\n";
  Table table({{"PORT", Table::Align::left},
               {"ST", Table::Align::left},
               {"LOAD", Table::Align::right},
               {"IN b/s", Table::Align::right},
               {"OUT b/s", Table::Align::right},
               {"IN pkt/s", Table::Align::right},
               {"OUT pkt/s", Table::Align::right},
               {"QUEUE", Table::Align::right},
               {"DROP/s", Table::Align::right}});
  unsigned lines = height > 4 ? height - 4 : 1;
  auto n = [](double d) { return count(static_cast<std::uint64_t>(d)); };
  for (const PortRates& r : rates) {
    if (lines-- == 0) break;
    table.add({cut(r.port, 18), r.up ? "up" : "DN", fmt::format("{:.0f}%", r.load * 100),
               n(r.in_bps), n(r.out_bps), n(r.in_pps), n(r.out_pps), count(r.queue_bytes),
               n(r.drops)});
  }
  return out + table.text(width);
}

namespace {
using namespace management;

// The terminal, without echo and line editing, as it was at the end.
class Screen {
 public:
  Screen() {
    tcgetattr(0, &saved_);
    termios raw = saved_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    tcsetattr(0, TCSANOW, &raw);
    fmt::print("\033[?1049h\033[?25l");
  }
  ~Screen() {
    fmt::print("\033[?25h\033[?1049l");
    fflush(stdout);
    tcsetattr(0, TCSANOW, &saved_);
  }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

 private:
  termios saved_{};
};

class Top final : public Command {
 public:
  CLI::App* declare(CLI::App& app, Global& global) override {
    CLI::App* c = app.add_subcommand("top", "The busiest ports, live");
    c->add_option("--sort", sort_, "By load, in, out, drops, queue, or port")
        ->check(CLI::IsMember({"load", "in", "out", "drops", "queue", "port"}))
        ->capture_default_str();
    c->add_option("--filter", filter_, "Only ports whose name contains this")->type_name("TEXT");
    c->add_option("--interval", interval_, "Milliseconds between looks")
        ->check(CLI::Range(100, 60000))
        ->type_name("MS")
        ->capture_default_str();
    c->add_flag("--once", once_, "One look over one interval, then end");
    add_name(c, global);
    add_json(c, global);
    c->footer("Keys: q ends; l i o d u p sort by load, in, out, drops, queue, port.");
    return c;
  }

  int run(Global& global) override {
    auto client = open_fabric(global.fabric);
    if (!client) return fail(global, client.error());
    if (global.json) once_ = true;
    if (!once_ && (isatty(0) == 0 || isatty(1) == 0)) once_ = true;
    if (auto s = look(**client); !s) return fail(global, s.error());
    if (once_) {
      if (poll(nullptr, 0, interval_) < 0) return kFailed;
      if (auto s = look(**client); !s) return fail(global, s.error());
      const auto rates = current();
      if (global.json)
        print_json(json(rates));
      else
        fmt::print("{}", top_text(info_, rates, kWidth, static_cast<unsigned>(rates.size()) + 4));
      return kDone;
    }
    // Ctrl-C is a key here: the terminal must be put back.
    Status ended;
    {
      const Screen screen;
      while (ended) {
        winsize size{24, 80, 0, 0};
        ioctl(1, TIOCGWINSZ, &size);
        fmt::print(
            "\033[H\033[J{}",
            top_text(info_, current(), std::min<unsigned>(size.ws_col, kWidth), size.ws_row));
        fflush(stdout);
        pollfd p{0, POLLIN, 0};
        if (poll(&p, 1, interval_) == 1 && !key()) break;
        ended = look(**client);
      }
    }
    return ended ? kDone : fail(global, ended.error());
  }

 private:
  bool key() {
    char c = 0;
    if (read(0, &c, 1) != 1 || c == 'q' || c == 3 || c == 27) return false;
    for (const auto& [letter, name] :
         std::initializer_list<std::pair<char, const char*>>{{'l', "load"},
                                                             {'i', "in"},
                                                             {'o', "out"},
                                                             {'d', "drops"},
                                                             {'u', "queue"},
                                                             {'p', "port"}}) {
      if (c == letter) sort_ = name;
    }
    return true;
  }

  Status look(Client& client) {
    before_ = std::move(now_);
    from_ = info_.now;
    auto info = client.info();
    if (!info) return info.error();
    auto nodes = client.nodes();
    if (!nodes) return nodes.error();
    info_ = std::move(*info);
    now_ = std::move(*nodes);
    return {};
  }

  std::vector<PortRates> current() const {
    auto rates = port_rates(before_.empty() ? now_ : before_, from_, now_, info_.now);
    if (!filter_.empty()) {
      std::erase_if(rates, [&](const PortRates& r) { return r.port.find(filter_) == r.port.npos; });
    }
    sort_rates(rates, sort_);
    return rates;
  }

  Json json(const std::vector<PortRates>& rates) const {
    Json list = Json::array();
    for (const PortRates& r : rates) {
      list.push_back({{"port", r.port},
                      {"up", r.up},
                      {"load_ratio", r.load},
                      {"in_bps", r.in_bps},
                      {"out_bps", r.out_bps},
                      {"in_pps", r.in_pps},
                      {"out_pps", r.out_pps},
                      {"queue_bytes", r.queue_bytes},
                      {"drops_per_s", r.drops}});
    }
    return {{"schema", "frond.top/1"},
            {"fabric", info_json(info_)},
            {"interval_ns", (info_.now - from_).ns()},
            {"ports", std::move(list)}};
  }

  std::string sort_ = "load";
  std::string filter_;
  int interval_ = 1000;
  bool once_ = false;
  FabricInfo info_;
  Time from_;
  std::vector<Node> before_, now_;
};

}  // namespace

std::unique_ptr<Command> make_top() { return std::make_unique<Top>(); }

}  // namespace frond::cli
