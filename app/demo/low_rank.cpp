#include "app/demo/low_rank.h"

#include <cmath>

namespace fovea::app {
namespace {

// Inlined into each of the two below, for the processor that it names.
[[gnu::always_inline]] inline void multiply(const float* b, const float* a, std::int64_t rows,
                                            std::int64_t rank, std::int64_t columns, float* out) {
  for (std::int64_t row = 0; row < rows; ++row, b += rank, out += columns) {
    for (std::int64_t c = 0; c < columns; ++c) out[c] = b[0] * a[c];
    for (std::int64_t r = 1; r < rank; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) out[c] = std::fma(b[r], a[r * columns + c], out[c]);
    }
  }
}

[[gnu::target("avx2,fma")]] void multiply_fused(const float* b, const float* a, std::int64_t rows,
                                                std::int64_t rank, std::int64_t columns, float* out) {
  multiply(b, a, rows, rank, columns, out);
}

// Without the instruction std::fma is a function that computes the same.
void multiply_anywhere(const float* b, const float* a, std::int64_t rows, std::int64_t rank,
                       std::int64_t columns, float* out) {
  multiply(b, a, rows, rank, columns, out);
}

}  // namespace

LowRank::LowRank(const Recipe& recipe, const std::string& name, std::int64_t layer) {
  const std::string suffix = "." + std::to_string(layer);
  const auto a_shape = recipe.shape(name + "_a" + suffix);
  const auto b_shape = recipe.shape(name + "_b" + suffix);
  const auto a_scale = recipe.floats(name + "_a_scale" + suffix);  // [experts, rank]
  const auto b_scale = recipe.floats(name + "_b_scale" + suffix);
  if (a_shape.size() != 3 || b_shape.size() != 3 || a_shape[0] != b_shape[0] || a_shape[1] != b_shape[2])
    return;
  if (a_shape[1] < 1 || a_scale.size() != static_cast<std::size_t>(a_shape[0] * a_shape[1]) ||
      b_scale.size() != a_scale.size()) {
    return;
  }
  const auto a = recipe.integers(name + "_a" + suffix);
  const auto b = recipe.integers(name + "_b" + suffix);
  experts_ = a_shape[0];
  rank_ = a_shape[1];
  columns_ = a_shape[2];
  rows_ = b_shape[1];
  a_.resize(a.size());
  b_.resize(b.size());
  const auto columns = static_cast<std::size_t>(columns_), rank = static_cast<std::size_t>(rank_);
  const auto rows = static_cast<std::size_t>(rows_);
  for (std::size_t i = 0; i < a.size(); ++i) a_[i] = static_cast<float>(a[i]) * a_scale[i / columns];
  for (std::size_t i = 0; i < b.size(); ++i) {
    const std::size_t expert = i / (rows * rank);
    b_[i] = static_cast<float>(b[i]) * b_scale[expert * rank + i % rank];
  }
}

void LowRank::product(std::int64_t expert, float* out) const {
  const float* a = a_.data() + expert * rank_ * columns_;
  const float* b = b_.data() + expert * rows_ * rank_;
  const auto computed = __builtin_cpu_supports("fma") ? multiply_fused : multiply_anywhere;
  computed(b, a, rows_, rank_, columns_, out);
}

}  // namespace fovea::app
