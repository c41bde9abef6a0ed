// SPDX-License-Identifier: BSD-3-Clause
#include "cli/programs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "cli/session.hpp"

namespace frond::cli {
namespace fs = std::filesystem;
namespace {

fs::path own_directory() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

// Where configurations are: the first that is there. In a build tree some parent has configs/.
fs::path config_directory() {
  if (const char* dir = std::getenv("FROND_CONFIG_DIR"); dir != nullptr && *dir != 0) return dir;
  std::error_code ignored;
  const fs::path here = own_directory();
  if (fs::is_directory(here / "../share/frond/configs", ignored))
    return here / "../share/frond/configs";
  fs::path p = here;
  for (int up = 0; up < 5 && p.has_relative_path(); ++up, p = p.parent_path()) {
    if (fs::is_directory(p / "configs", ignored)) return p / "configs";
  }
  return "/usr/share/frond/configs";
}

}  // namespace

Result<std::string> find_fabricd() {
  if (const char* path = std::getenv("FROND_FABRICD"); path != nullptr && *path != 0)
    return std::string(path);
  const fs::path here = own_directory();
  for (const char* place : {"fabricd", "../libexec/frond/fabricd", "../fabric/fabricd"}) {
    const fs::path p = (here / place).lexically_normal();
    if (access(p.c_str(), X_OK) == 0) return p.string();
  }
  return Error{
      Error::Code::not_found,
      fmt::format("fabricd is not beside {}/frond; install it, or set FROND_FABRICD to its path",
                  here.string())};
}

std::vector<std::string> shipped_configs() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(config_directory(), ignored)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> find_config(const std::string& file) {
  std::error_code ignored;
  if (fs::exists(file, ignored) && !fs::is_directory(file, ignored)) {
    return fs::absolute(file, ignored).lexically_normal().string();
  }
  if (file.find('/') == file.npos) {
    fs::path shipped = config_directory() / file;
    if (shipped.extension() != ".yaml") shipped += ".yaml";
    if (fs::exists(shipped, ignored))
      return fs::absolute(shipped, ignored).lexically_normal().string();
  }
  const auto known = shipped_configs();
  const std::string near = nearest(file, known);
  return Error{
      Error::Code::not_found,
      near.empty()
          ? fmt::format(
                "there is no file '{}', nor a shipped configuration of that name: {}", file,
                known.empty() ? "none are installed" : fmt::format("{}", fmt::join(known, " ")))
          : fmt::format("there is no file '{}'; did you mean {}?", file, near)};
}

Error become_fabricd(const std::vector<std::string>& arguments) {
  auto path = find_fabricd();
  if (!path) return path.error();
  std::vector<char*> argv = {path->data()};
  for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
  argv.push_back(nullptr);
  execv(path->c_str(), argv.data());
  return {Error::Code::unavailable, fmt::format("cannot run {}: {}", *path, std::strerror(errno))};
}

}  // namespace frond::cli
