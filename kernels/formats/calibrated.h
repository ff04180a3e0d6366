// Quantisation that knows the matrix's inputs: the error that a block leaves is made up for by the blocks
// after it (GPTQ; LDLQ is the same algorithm), and a block's own columns count by what cannot be made up for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/api/types.h"

namespace fovea::kernels::formats {

// The error that a change E of a matrix's rows causes in its outputs, Σ over inputs x of |E x|² = trace(E H
// Eᵀ) with H = Σ x xᵀ, factored from the last column to the first: H = V Vᵀ, V upper triangular.
class InputMetric {
 public:
  // second_moments [columns, columns]: H of the calibration inputs, symmetric, at any scale; only its lower
  // triangle is read. `damping` of the mean diagonal is added to the diagonal, ten times more until H has a
  // factor: with fewer inputs than columns it has none by itself. columns is a multiple of 32.
  //
  // Takes columns³ / 6 multiplications. Empty when a moment is not finite or the diagonal is not positive
  // anywhere.
  static std::optional<InputMetric> make(const float* second_moments, std::int64_t columns,
                                         double damping = 0.01);

  std::int64_t columns() const { return columns_; }

 private:
  friend bool quantize_rows(Type, const float*, std::int64_t, const InputMetric&, std::byte*);
  InputMetric() = default;

  const float* factors(std::int64_t block) const;
  const float* schur(std::int64_t block) const { return schur_.data() + block * 32 * 32; }
  const float* importance(std::int64_t block) const { return importance_.data() + block * 32; }

  std::int64_t columns_ = 0;
  // For each block b of 32 columns, all for E of the columns before it: V[: 32 b, b] · V[b, b]⁻¹  [32 b, 32],
  std::vector<float> factors_;
  std::vector<float> schur_;  // V[b, b] · V[b, b]ᵀ  [32, 32]: what an error in b costs after compensation,
  std::vector<float> importance_;  // and its diagonal  [32]
};

// weights [rows, metric.columns()] to a type with blocks of 32 that can_quantize, in small output error.
// False, and out is undefined, when a weight is not finite.
bool quantize_rows(Type type, const float* weights, std::int64_t rows, const InputMetric& metric,
                   std::byte* out);

}  // namespace fovea::kernels::formats
