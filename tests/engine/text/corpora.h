// The texts of make_tokenizers.py: large ones of the shared data, and random ones.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace fovea::tests {

// The content of a file that may be packed (.xz, .gz).
std::string unpacked(const std::filesystem::path&);

// The lines of a text that make_tokenizers.py names, empty where the shared data lacks it.
std::vector<std::string> corpus(const std::string& name);

// The generator of make_tokenizers.py: SplitMix64 and the same choices.
class RandomTexts {
 public:
  explicit RandomTexts(std::uint64_t seed) : state_(seed) {}
  std::string next();

 private:
  std::uint64_t below(std::uint64_t limit);
  std::uint64_t state_;
};

}  // namespace fovea::tests
