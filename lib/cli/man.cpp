// SPDX-License-Identifier: BSD-3-Clause
// Man pages (man(7) macros) from the declarations of the commands.
#include <fmt/format.h>

#include <fstream>

#include "cli/completion.hpp"

namespace frond::cli {
namespace {

std::string troff(const std::string& text) {
  std::string out;
  bool line_start = true;
  for (char c : text) {
    if (line_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    line_start = c == '\n';
  }
  return out;
}

std::string option_line(const CLI::Option& o) {
  std::string names;
  for (const std::string& s : o.get_snames())
    names += (names.empty() ? "" : ", ") + ("\\fB\\-" + troff(s) + "\\fR");
  for (const std::string& l : o.get_lnames())
    names += (names.empty() ? "" : ", ") + ("\\fB\\-\\-" + troff(l) + "\\fR");
  if (o.get_positional() && names.empty())
    names = "\\fI" + troff(o.get_type_name()) + "\\fR";
  else if (o.get_items_expected_max() > 0)
    names += " \\fI" + troff(o.get_type_name()) + "\\fR";
  return names;
}

std::string synopsis(const CLI::App& command) {
  std::string line = fmt::format("\\fBfrond {}\\fR", troff(command.get_name()));
  for (const CLI::Option* o : command.get_options()) {
    if (!o->get_positional()) continue;
    const std::string name = fmt::format("\\fI{}\\fR{}", troff(o->get_type_name()),
                                         o->get_items_expected_max() > 1 ? " ..." : "");
    line += o->get_required() ? " " + name : " [" + name + "]";
  }
  return line + " [\\fIoptions\\fR]";
}

bool hidden(const CLI::App& a) { return a.get_name().empty() || a.get_name()[0] == '_'; }

}  // namespace

std::string man_page(const CLI::App& app, const CLI::App& command) {
  std::string page;
  auto section = [&](const char* name) { page += fmt::format(".SH {}\n", name); };
  const bool all = &app == &command;
  const std::string title = all ? "frond" : "frond-" + command.get_name();
  std::string upper = title;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  page += fmt::format(".TH {} 1 \"\" \"Frond {}\" \"Frond\"\n", upper, FROND_VERSION);
  section("NAME");
  page += fmt::format("{} \\- {}\n", troff(title), troff(command.get_description()));
  section("SYNOPSIS");
  page += (all ? "\\fBfrond\\fR \\fIcommand\\fR [\\fIarguments\\fR]" : synopsis(command)) + "\n";
  section(all ? "COMMANDS" : "OPTIONS");
  for (const CLI::App* s : all ? app.get_subcommands([](const CLI::App*) { return true; })
                               : std::vector<const CLI::App*>()) {
    if (hidden(*s)) continue;
    page += fmt::format(".TP\n\\fBfrond\\-{}\\fR(1)\n{}\n", troff(s->get_name()),
                        troff(s->get_description()));
  }
  for (const CLI::Option* o : command.get_options()) {
    page += fmt::format(".TP\n{}\n{}\n", option_line(*o), troff(o->get_description()));
  }
  if (!command.get_footer().empty()) {
    section("DESCRIPTION");
    page += ".nf\n" + troff(command.get_footer()) + "\n.fi\n";
  }
  section("EXIT STATUS");
  page +=
      "0 when it was done, 1 when it was refused or failed, 2 when something could not be read or "
      "run.\n";
  section("SEE ALSO");
  page += all ? "\\fBip\\-netns\\fR(8), \\fBgnmic\\fR(1)\n" : "\\fBfrond\\fR(1)\n";
  return page;
}

bool write_man_pages(const CLI::App& app, const std::string& directory) {
  auto write = [&](const CLI::App& command, const std::string& name) {
    std::ofstream out(directory + "/" + name + ".1");
    out << man_page(app, command);
    return static_cast<bool>(out.flush());
  };
  bool good = write(app, "frond");
  for (const CLI::App* s : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!hidden(*s)) good = write(*s, "frond-" + s->get_name()) && good;
  }
  return good;
}

}  // namespace frond::cli
