// What the library of fake_cublas.cpp was told, and what it refuses.
#pragma once

#include <cstddef>

namespace fovea::tests {

struct FakeCublas {
  int handles = 0;
  void* stream = nullptr;
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  int math_mode = -1;
  int create_status = 0;
  int multiply_status = 0;
};

}  // namespace fovea::tests
