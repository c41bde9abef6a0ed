// SPDX-License-Identifier: BSD-3-Clause
// Completion: what may come next on a command line, from the same declarations that parse it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace frond::cli {

// Values by the type names of arguments; live ones are asked for only when they are needed.
using Values = std::function<std::vector<std::string>(const std::string& type)>;

// words: what was typed after `frond`, the last one being completed (it may be empty). A result
// ":file" means: files too.
std::vector<std::string> complete(const CLI::App& app, const std::vector<std::string>& words,
                                  const Values& values);

std::string completion_script(const std::string& shell);  // bash, zsh or fish

// A page for each command and one for all of them, in DIRECTORY. False: cannot be written.
bool write_man_pages(const CLI::App& app, const std::string& directory);
std::string man_page(const CLI::App& app, const CLI::App& command);

}  // namespace frond::cli
