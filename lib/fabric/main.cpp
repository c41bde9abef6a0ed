// SPDX-License-Identifier: BSD-3-Clause
// fabricd: what the frond command starts: up, sim, validate, graph, schema.
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "control/config/load.hpp"
#include "control/config/schema.hpp"
#include "dpdk/eal.hpp"
#include "fabric/daemon.hpp"
#include "fabric/plan.hpp"
#include "fabric/report.hpp"
#include "fabric/simulation.hpp"
#include "topology/graph.hpp"

namespace frond::fabric {
namespace {

struct SimOptions {
  std::string file;
  std::optional<std::uint64_t> seed;
  std::string duration;
  bool json = false;
};

int complain(const std::string& text) {
  fmt::print(stderr, "{}\n", text);
  return 1;
}

int simulate(const SimOptions& options) {
  config::Loaded loaded = config::load_config(options.file);
  if (!loaded.config) {
    fmt::print(stderr, "{}", loaded.diagnostics.text());
    return loaded.exit_code();
  }
  if (options.seed) loaded.config->seed = *options.seed;
  if (!options.duration.empty()) {
    const auto duration = from_text<Time>(options.duration);
    if (!duration || *duration <= Time()) {
      return complain("--duration: '" + options.duration + "' is no time; try 10ms");
    }
    loaded.config->duration = *duration;
  }
  dpdk::Eal eal({});
  Simulation simulation(make_plan(*loaded.config));
  simulation.run();
  fmt::print("{}", options.json ? report_json(simulation) : report_text(simulation));
  return 0;
}

int validate(const std::vector<std::string>& files, bool strict, bool json) {
  int worst = 0;
  for (const std::string& file : files) {
    const config::Loaded loaded = config::load_config(file);
    if (json) {
      fmt::print("{}\n", loaded.diagnostics.sarif());
    } else {
      fmt::print(stderr, "{}", loaded.diagnostics.text());
      if (loaded.config && loaded.diagnostics.warnings() == 0) fmt::print("{}: valid\n", file);
    }
    const int code = loaded.exit_code(strict);
    // 2 (cannot read) is worse than 1 (invalid), which is worse than 3 (warnings).
    constexpr int kRank[] = {0, 2, 3, 1};
    if (kRank[code] > kRank[worst]) worst = code;
  }
  return worst;
}

int graph(const std::string& file, const std::string& format) {
  const config::Loaded loaded = config::load_config(file);
  if (!loaded.config) {
    fmt::print(stderr, "{}", loaded.diagnostics.text());
    return loaded.exit_code();
  }
  const topology::Topology topology = config::build(*loaded.config).topology;
  if (format == "text") return fmt::print("{}", topology::graph_text(topology)), 0;
  if (format == "dot") return fmt::print("{}", topology::graph_dot(topology)), 0;
  if (format == "svg") return fmt::print("{}", topology::graph_svg(topology)), 0;
  if (format == "html") return fmt::print("{}", topology::graph_html(topology)), 0;
  return fmt::print("{}", topology::graph_mermaid(topology)), 0;
}

int run(int argc, char** argv) {
  CLI::App app("Runs, simulates and checks fabrics; the frond command starts it.", "fabricd");
  app.set_version_flag("--version", FROND_VERSION);
  app.require_subcommand(1);

  DaemonOptions daemon;
  CLI::App* up = app.add_subcommand("up", "Run a fabric until it is told to stop");
  up->add_option("FILE", daemon.file, "The fabric")->required();
  up->add_option("--name", daemon.name, "Instead of the file's name for it");
  up->add_option("--state-dir", daemon.state_dir, "Where its management socket goes");
  up->add_option("--ready-fd", daemon.ready_fd, "Tell on this descriptor when it is up");

  SimOptions sim;
  CLI::App* simulate_command = app.add_subcommand("sim", "Run a fabric in virtual time");
  simulate_command->add_option("FILE", sim.file, "The fabric")->required();
  simulate_command->add_option("--seed", sim.seed, "Instead of the file's");
  simulate_command->add_option("--duration", sim.duration, "Virtual time, instead of the file's");
  simulate_command->add_flag("--json", sim.json, "The whole report");

  std::vector<std::string> files;
  bool strict = false, json = false;
  CLI::App* validate_command = app.add_subcommand("validate", "Check files");
  validate_command->add_option("FILE", files, "Fabrics")->required();
  validate_command->add_flag("--strict", strict, "Warnings count (exit status 3)");
  validate_command->add_flag("--json", json, "SARIF");

  std::string file, format = "text";
  CLI::App* graph_command = app.add_subcommand("graph", "Draw a fabric");
  graph_command->add_option("FILE", file, "The fabric")->required();
  graph_command->add_option("--format", format, "Of the picture")
      ->check(CLI::IsMember({"text", "dot", "svg", "html", "mermaid"}));

  CLI::App* schema = app.add_subcommand("schema", "Print the JSON schema of the file");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  if (*up) return run_daemon(daemon);
  if (*simulate_command) return simulate(sim);
  if (*validate_command) return validate(files, strict, json);
  if (*graph_command) return graph(file, format);
  if (*schema) fmt::print("{}", config::json_schema());
  return 0;
}

}  // namespace
}  // namespace frond::fabric

int main(int argc, char** argv) {
  try {
    return frond::fabric::run(argc, argv);
  } catch (const std::exception& e) {
    fmt::print(stderr, "fabricd: {}\n", e.what());
    return 1;
  }
}
