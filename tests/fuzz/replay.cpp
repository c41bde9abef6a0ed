// SPDX-License-Identifier: BSD-3-Clause
// main() of a fuzzer without libFuzzer: the files of a corpus as they are, cut short at every
// length, and with every byte set to a few values. The same inputs every time, on any compiler.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i) {
    if (!fs::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(argv[i])) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::size_t inputs = 0;
  const auto run = [&](const std::vector<std::uint8_t>& bytes) {
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    ++inputs;
  };
  for (const fs::path& file : files) {
    std::ifstream in(file, std::ios::binary);
    const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(in), {}};
    run(bytes);
    for (std::size_t n = 0; n < bytes.size(); ++n) {
      run({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n)});
      for (const int value : {0x00, 0x01, 0x7f, 0x80, 0xff, bytes[n] ^ 1, bytes[n] + 1}) {
        auto changed = bytes;
        changed[n] = static_cast<std::uint8_t>(value);
        run(changed);
      }
    }
  }
  std::printf("%zu inputs from %zu files\n", inputs, files.size());
  return files.empty() ? 1 : 0;
}
