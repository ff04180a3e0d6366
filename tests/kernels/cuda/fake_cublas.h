// What the library of fake_cublas.cpp was told, and what it refuses.
#pragma once

#include <cstddef>
#include <functional>

namespace fovea::tests {

struct FakeCublas {
  int handles = 0;
  void* stream = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  int math_mode = -1;
  int create_status = 0;
  int multiply_status = 0;
  // Where they are given: does it in the stream's order; the host's address of memory, null where there is
  // none.
  void (*later)(void* stream, std::function<void()> work) = nullptr;
  void* (*reach)(void* stream, const void* memory, std::size_t bytes) = nullptr;
};

}  // namespace fovea::tests
