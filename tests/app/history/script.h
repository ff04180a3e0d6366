// What the writing process of the kill tests writes: a function of the seed, so that the reader knows every
// text.
#pragma once

#include <cstdint>
#include <string>

namespace fovea::tests {

inline std::uint64_t mixed(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t x = seed * 0x9E3779B97F4A7C15U + number * 0xD1B54A32D192ED03U + 1;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

inline std::string words(std::uint64_t seed, std::uint64_t number, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint64_t x = mixed(seed, number * 4096 + i);
    for (int letters = 2 + static_cast<int>(x % 7); letters > 0; --letters, x /= 26) {
      text += static_cast<char>('a' + x % 26);
    }
    text += ' ';
  }
  return text;
}

// Turn n of a writer: questions are long enough to need several pages now and then.
inline std::string question(std::uint64_t seed, std::uint64_t n) {
  return "q" + std::to_string(n) + " " + words(seed, n, n % 7 == 0 ? 2000 : 12);
}
inline std::size_t pieces(std::uint64_t seed, std::uint64_t n) {
  return 1 + mixed(seed, n) % 12;
}
inline std::string piece(std::uint64_t seed, std::uint64_t n, std::size_t i) {
  return words(seed ^ 0xABCD, n * 64 + i, 20);
}
inline std::string answer(std::uint64_t seed, std::uint64_t n) {
  std::string text;
  for (std::size_t i = 0; i < pieces(seed, n); ++i) text += piece(seed, n, i);
  return text;
}

}  // namespace fovea::tests
