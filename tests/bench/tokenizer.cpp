// bench_tokenizer MODEL TEXT [NAME...]: megabytes of TEXT encoded in a second on one core, best of seven.
// With names of tokenizer.ggml.pre, a GGUF's vocabulary is used behind each of those pre-tokenisers.
#include "engine/text/tokenizer.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "engine/checkpoint/checkpoint.h"

namespace {

using fovea::text::Tokenizer;

int report(const char* name, const fovea::Result<Tokenizer>& tokenizer, const std::string& text) {
  if (!tokenizer) {
    std::fprintf(stderr, "%s\n", tokenizer.error().message().c_str());
    return 1;
  }
  double best = 1e9;
  std::size_t tokens = 0;
  double all = 0;
  for (int i = 0; i < 7 && all < 1.5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    tokens = tokenizer->encode(text).size();
    const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best = std::min(best, took);
    all += took;
  }
  std::printf("%-16s %zu bytes, %zu tokens: %.1f MB/s\n", name, text.size(), tokens,
              static_cast<double>(text.size()) / best / 1e6);
  std::fflush(stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("usage: bench_tokenizer MODEL TEXT [NAME...]\n", stderr);
    return 2;
  }
  const auto checkpoint = fovea::checkpoint::Checkpoint::open(argv[1]);
  if (!checkpoint) {
    std::fprintf(stderr, "%s\n", checkpoint.error().message().c_str());
    return 1;
  }
  std::ifstream file(argv[2], std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  int failed = 0;
  if (argc == 3) failed = report("", Tokenizer::open(*checkpoint), text);
  for (int i = 3; i < argc; ++i) {
    fovea::checkpoint::Metadata metadata = checkpoint->metadata();
    metadata.set("tokenizer.ggml.pre", std::string_view(argv[i]));
    failed |= report(argv[i], Tokenizer::from_metadata(metadata, argv[1]), text);
  }
  return failed;
}
