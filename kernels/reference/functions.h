// Functions of numbers and rows that several operations share, in double.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace fovea::kernels::reference {

inline double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

inline double silu(double x) {
  return x * sigmoid(x);
}

// By its tanh: x (1 + tanh z) / 2 = x σ(2 z), which loses nothing far below 0.
inline double gelu(double x) {
  return x * sigmoid(2 * std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x));
}

// What a norm multiplies a row by: 1 / sqrt(mean(x²) + eps).
template <class T>
double norm_factor(const T* x, std::int64_t count, double eps) {
  double squares = 0;
  for (std::int64_t i = 0; i < count; ++i) squares += static_cast<double>(x[i]) * x[i];
  return 1 / std::sqrt(squares / static_cast<double>(count) + eps);
}

}  // namespace fovea::kernels::reference
