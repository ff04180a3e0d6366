// Python's random.Random, as far as the harness draws examples with it.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace fovea::tasks {

class PythonRandom {
 public:
  explicit PythonRandom(std::uint32_t seed);

  // random.sample(range(size), count): different indices, in the order in which they are drawn. count ≤ size.
  std::vector<std::size_t> sample(std::size_t size, std::size_t count);

 private:
  std::size_t below(std::size_t limit);  // random._randbelow

  std::mt19937 twister_;
};

}  // namespace fovea::tasks
