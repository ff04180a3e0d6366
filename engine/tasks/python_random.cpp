#include "engine/tasks/python_random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace fovea::tasks {
namespace {

// Seeds a twister with a key of one word: init_by_array of Matsumoto and Nishimura's mt19937ar (2002).
class KeySequence {
 public:
  using result_type = std::uint32_t;
  explicit KeySequence(std::uint32_t key) : key_(key) {}

  template <class Iterator>
  void generate(Iterator state, Iterator end) const {
    const auto words = static_cast<std::uint32_t>(end - state);
    const auto mixed = [&](std::uint32_t i) { return state[i - 1] ^ (state[i - 1] >> 30); };
    state[0] = 19650218;
    for (std::uint32_t i = 1; i < words; ++i) state[i] = 1812433253U * mixed(i) + i;
    std::uint32_t i = 1;
    const auto step = [&] {
      if (++i < words) return;
      state[0] = state[words - 1];
      i = 1;
    };
    for (std::uint32_t k = 0; k < words; ++k, step()) state[i] = (state[i] ^ (mixed(i) * 1664525U)) + key_;
    for (std::uint32_t k = 1; k < words; ++k, step()) state[i] = (state[i] ^ (mixed(i) * 1566083941U)) - i;
    state[0] = 0x80000000U;
  }

 private:
  std::uint32_t key_;
};

}  // namespace

PythonRandom::PythonRandom(std::uint32_t seed) {
  KeySequence sequence(seed);
  twister_.seed(sequence);
}

std::size_t PythonRandom::below(std::size_t limit) {
  const int bits = std::bit_width(limit);
  std::size_t drawn = limit;
  while (drawn >= limit) drawn = static_cast<std::uint32_t>(twister_()) >> (32 - bits);
  return drawn;
}

std::vector<std::size_t> PythonRandom::sample(std::size_t size, std::size_t count) {
  // Python keeps a list of what is left where that takes less memory than a set of what was drawn.
  std::size_t set_size = 21;
  if (count > 5) {
    const double power = std::ceil(std::log(static_cast<double>(count) * 3) / std::log(4.0));
    set_size += static_cast<std::size_t>(std::pow(4.0, power));
  }
  std::vector<std::size_t> drawn;
  if (size <= set_size) {
    std::vector<std::size_t> left(size);
    std::iota(left.begin(), left.end(), std::size_t{0});
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t at = below(size - i);
      drawn.push_back(left[at]);
      left[at] = left[size - i - 1];
    }
    return drawn;
  }
  while (drawn.size() < count) {
    const std::size_t at = below(size);
    if (std::ranges::find(drawn, at) == drawn.end()) drawn.push_back(at);
  }
  return drawn;
}

}  // namespace fovea::tasks
