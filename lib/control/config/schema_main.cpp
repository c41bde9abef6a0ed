// SPDX-License-Identifier: BSD-3-Clause
// Prints the JSON schema: frond-schema > configs/frond.schema.json
#include <cstdio>

#include "control/config/schema.hpp"

int main() {
  const std::string text = frond::config::json_schema();
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
