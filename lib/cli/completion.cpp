// SPDX-License-Identifier: BSD-3-Clause
#include "cli/completion.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/programs.hpp"
#include "cli/session.hpp"

namespace frond::cli {
namespace {

const CLI::Option* option_named(const CLI::App& app, const std::string& word) {
  for (const CLI::Option* o : app.get_options()) {
    for (const std::string& l : o->get_lnames()) {
      if (word == "--" + l) return o;
    }
    for (const std::string& s : o->get_snames()) {
      if (word == "-" + s) return o;
    }
  }
  return nullptr;
}

// The words in {...} of a checked option's type name; else its type's values.
std::vector<std::string> values_of(const CLI::Option& o, const Values& values) {
  const std::string type = o.get_type_name();
  const std::size_t open = type.find('{');
  if (open == type.npos) return values(type);
  std::vector<std::string> words;
  std::string word;
  for (std::size_t i = open + 1; i < type.size(); ++i) {
    if (type[i] == ',' || type[i] == '}') {
      words.push_back(std::exchange(word, ""));
      if (type[i] == '}') break;
    } else {
      word += type[i];
    }
  }
  return words;
}

std::vector<const CLI::Option*> positionals(const CLI::App& app) {
  std::vector<const CLI::Option*> list;
  for (const CLI::Option* o : app.get_options()) {
    if (o->get_positional()) list.push_back(o);
  }
  return list;
}

}  // namespace

std::vector<std::string> complete(const CLI::App& root, const std::vector<std::string>& words,
                                  const Values& values) {
  const CLI::App* app = &root;
  const CLI::Option* expects = nullptr;
  std::size_t place = 0;
  bool options_end = false;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (expects != nullptr) {
      expects = nullptr;
    } else if (word == "--") {
      options_end = true;
    } else if (!options_end && word.size() > 1 && word[0] == '-') {
      const CLI::Option* o = option_named(*app, word);
      if (o != nullptr && o->get_items_expected_max() > 0) expects = o;
    } else if (app == &root) {
      const auto subs =
          root.get_subcommands([&](const CLI::App* s) { return s->get_name() == word; });
      if (subs.empty()) return {};
      app = subs[0];
    } else {
      ++place;
    }
  }
  const std::string current = words.empty() ? "" : words.back();
  std::vector<std::string> found;
  if (expects != nullptr) {
    found = values_of(*expects, values);
  } else if (!options_end && !current.empty() && current[0] == '-') {
    for (const CLI::Option* o : app->get_options()) {
      for (const std::string& l : o->get_lnames()) found.push_back("--" + l);
    }
  } else if (app == &root) {
    for (const CLI::App* s : root.get_subcommands([](const CLI::App*) { return true; })) {
      if (!s->get_name().empty() && s->get_name()[0] != '_') found.push_back(s->get_name());
    }
  } else {
    const auto list = positionals(*app);
    // The last one may be repeated.
    if (!list.empty()) {
      const CLI::Option* o = list[std::min(place, list.size() - 1)];
      if (place < list.size() || o->get_items_expected_max() > 1) found = values_of(*o, values);
    }
  }
  std::erase_if(found,
                [&](const std::string& s) { return s != ":file" && s.rfind(current, 0) != 0; });
  std::sort(found.begin(), found.end());
  return found;
}

std::string completion_script(const std::string& shell) {
  if (shell == "bash") {
    // bash splits words at ':', ports have one: the line is split at blanks, and what is before the
    // last ':' is taken off again.
    return R"(# bash completion for frond: source it, or put it in /etc/bash_completion.d
_frond() {
  local line=${COMP_LINE:0:COMP_POINT} words=() reply=() file= cur prefix word
  read -ra words <<< "$line"
  [[ $line == *' ' ]] && words+=('')
  cur=${words[${#words[@]}-1]}
  while IFS= read -r word; do
    if [[ $word == :file ]]; then file=1; else reply+=("$word"); fi
  done < <(frond __complete -- "${words[@]:1}" 2>/dev/null)
  [[ $file ]] && while IFS= read -r word; do reply+=("$word"); done < <(compgen -f -- "$cur")
  prefix=
  [[ $cur == *:* && $COMP_WORDBREAKS == *:* ]] && prefix=${cur%"${cur##*:}"}
  COMPREPLY=()
  for word in "${reply[@]}"; do COMPREPLY+=("${word#"$prefix"}"); done
  [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=:/] ]] && compopt -o nospace
}
complete -o filenames -o nosort -F _frond frond 2>/dev/null || complete -F _frond frond
)";
  }
  if (shell == "zsh") {
    return R"(#compdef frond
_frond() {
  local -a reply
  reply=("${(@f)$(frond __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if (( ${reply[(I):file]} )); then _files; reply=("${(@)reply:#:file}"); fi
  reply=("${(@)reply:#}")
  (( $#reply )) && compadd -Q -- "${reply[@]}"
}
compdef _frond frond
)";
  }
  if (shell == "fish") {
    return R"(function __frond_complete
    set -l words (commandline -opc) (commandline -ct)
    for word in (frond __complete -- $words[2..-1] 2>/dev/null)
        if test "$word" = ":file"
            __fish_complete_path (commandline -ct)
        else
            echo $word
        end
    end
end
complete -c frond -f -a '(__frond_complete)'
)";
  }
  return "";
}

namespace {

// What runs now; completion must be quick and say nothing.
std::vector<std::string> live_values(const std::string& type) {
  std::vector<std::string> found;
  if (type == "FILE") {
    found = shipped_configs();
    found.emplace_back(":file");
    return found;
  }
  if (type == "FABRIC") {
    for (const Found& f : all_fabrics()) found.push_back(f.name);
    return found;
  }
  if (type == "NAME=VALUE") {
    return {"loss=",  "corrupt=", "duplicate=", "reorder=", "reorder-delay=",
            "delay=", "jitter=",  "silent",     "seed="};
  }
  if (type != "NODE:PORT" && type != "HOST" && type != "NODE") return found;
  std::vector<std::string> fabrics;
  for (const Found& f : all_fabrics()) {
    if (f.running) fabrics.push_back(f.name);
  }
  for (const std::string& fabric : fabrics) {
    auto client = open_fabric(fabric);
    if (!client) continue;
    auto ports = (*client)->ports();
    if (!ports) continue;
    const std::string prefix = fabrics.size() > 1 ? fabric + "/" : "";
    for (const std::string& port : *ports) {
      const std::string node = port.substr(0, port.find(':'));
      const bool host = port.find(":eth") != port.npos;
      if (type == "NODE:PORT")
        found.push_back(prefix + port);
      else if (type == "NODE" || host)
        found.push_back(prefix + node);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

class Completion final : public Command {
 public:
  CLI::App* declare(CLI::App& app, Global&) override {
    CLI::App* c = app.add_subcommand("completion", "A completion script for a shell");
    c->add_option("shell", shell_, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    c->footer(
        "bash: source <(frond completion bash)\nzsh:  frond completion zsh > "
        "\"${fpath[1]}/_frond\"\n"
        "fish: frond completion fish > ~/.config/fish/completions/frond.fish");
    return c;
  }
  int run(Global&) override {
    fmt::print("{}", completion_script(shell_));
    return kDone;
  }

 private:
  std::string shell_;
};

class Complete final : public Command {
 public:
  CLI::App* declare(CLI::App& app, Global&) override {
    root_ = &app;
    CLI::App* c = app.add_subcommand("__complete", "What may come next");
    c->group("");
    c->add_option("words", words_, "What was typed");
    return c;
  }
  int run(Global&) override {
    for (const std::string& word : complete(*root_, words_, live_values)) fmt::print("{}\n", word);
    return kDone;
  }

 private:
  CLI::App* root_ = nullptr;
  std::vector<std::string> words_;
};

class Man final : public Command {
 public:
  CLI::App* declare(CLI::App& app, Global&) override {
    root_ = &app;
    CLI::App* c = app.add_subcommand("__man", "Write the man pages");
    c->group("");
    c->add_option("directory", directory_, "Where to")->required();
    return c;
  }
  int run(Global&) override { return write_man_pages(*root_, directory_) ? kDone : kCannot; }

 private:
  CLI::App* root_ = nullptr;
  std::string directory_;
};

}  // namespace

std::unique_ptr<Command> make_completion() { return std::make_unique<Completion>(); }
std::unique_ptr<Command> make_complete() { return std::make_unique<Complete>(); }
std::unique_ptr<Command> make_man() { return std::make_unique<Man>(); }

}  // namespace frond::cli
