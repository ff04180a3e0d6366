// Several threads that do the same.
#pragma once

#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

namespace fovea {

// Threads of `work`, joined when they go: `count`, or as many of them as the system starts.
template <class Work>
std::vector<std::jthread> start_threads(std::int64_t count, const Work& work) {
  std::vector<std::jthread> threads;
  try {
    while (std::ssize(threads) < count) threads.emplace_back(work);
  } catch (const std::system_error&) {
  }
  return threads;
}

}  // namespace fovea
