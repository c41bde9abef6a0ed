// SPDX-License-Identifier: BSD-3-Clause
#include "control/config/load.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "control/config/decode.hpp"
#include "control/config/validate.hpp"
#include "control/config/yaml_tree.hpp"

namespace frond::config {
namespace {

// configs/leaf-spine-2x2.yaml -> leaf-spine-2x2, as far as that is a name.
std::string name_of(std::string_view file) {
  file.remove_prefix(std::min(file.size(), file.rfind('/') + 1));
  file = file.substr(0, file.find('.'));
  std::string name;
  for (char c : file) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool good = letter || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (name.empty() && !letter) continue;
    name += good ? c : '-';
  }
  name.resize(std::min(name.size(), kMaxName));
  return name.empty() || name == "frond" ? "fabric" : name;
}

}  // namespace

int Loaded::exit_code(bool strict) const {
  if (!readable) return 2;
  if (diagnostics.errors() > 0) return 1;
  return strict && diagnostics.warnings() > 0 ? 3 : 0;
}

Loaded parse_config(std::string_view text, const std::string& file) {
  Loaded loaded{std::nullopt, Diagnostics(file)};
  const auto root = yaml::parse(text, loaded.diagnostics);
  if (!root) return loaded;
  FabricConfig config;
  config.name = name_of(file);
  Decoder(loaded.diagnostics).object(*root, config, "");
  validate(config, &*root, loaded.diagnostics);
  loaded.diagnostics.sort();
  if (loaded.diagnostics.errors() == 0) loaded.config = std::move(config);
  return loaded;
}

Loaded load_config(const std::string& path) {
  Loaded failed{std::nullopt, Diagnostics(path), false};
  const auto cannot = [&](const std::string& why) {
    failed.diagnostics.error({}, "unreadable", "cannot read the file: " + why);
    return std::move(failed);
  };
  // Not blocked by a fifo, and no device is read.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return cannot(std::strerror(errno));
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(fd);
    return cannot(S_ISDIR(info.st_mode) ? "it is a directory" : "it is not a regular file");
  }
  std::string text;
  char buffer[65536];
  ssize_t n = 0;
  while (text.size() <= yaml::kMaxBytes && (n = read(fd, buffer, sizeof buffer)) > 0) {
    text.append(buffer, static_cast<std::size_t>(n));
  }
  const int error = errno;
  close(fd);
  if (n < 0) return cannot(std::strerror(error));
  return parse_config(text, path);
}

}  // namespace frond::config
