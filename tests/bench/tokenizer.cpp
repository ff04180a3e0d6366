// bench_tokenizer MODEL TEXT: megabytes of TEXT encoded in a second on one core, best of seven.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "engine/api/text.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: bench_tokenizer MODEL TEXT\n", stderr);
    return 2;
  }
  const auto model = fovea::TextModel::open(argv[1]);
  if (!model) {
    std::fprintf(stderr, "%s\n", model.error().message().c_str());
    return 1;
  }
  std::ifstream file(argv[2], std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  double best = 1e9;
  std::size_t tokens = 0;
  for (int i = 0; i < 7; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    tokens = (*model)->encode(text).size();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::printf("%zu bytes, %zu tokens: %.1f MB/s\n", text.size(), tokens,
              static_cast<double>(text.size()) / best / 1e6);
  return 0;
}
