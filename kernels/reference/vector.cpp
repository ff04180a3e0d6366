// Operations on activations alone.
#include <cmath>

#include "kernels/reference/operations.h"

namespace fovea::kernels::reference {

void rms_norm(const RmsNorm& a, Stream&) {
  for (std::int64_t row = 0; row < a.rows; ++row) {
    float* x = a.x + row * a.columns;
    double squares = 0;
    for (std::int64_t i = 0; i < a.columns; ++i) {
      if (a.residual) x[i] += a.residual[row * a.columns + i];
      squares += static_cast<double>(x[i]) * x[i];
    }
    const double factor = 1 / std::sqrt(squares / static_cast<double>(a.columns) + a.eps);
    for (std::int64_t i = 0; i < a.columns; ++i) {
      a.out[row * a.columns + i] = static_cast<float>(x[i] * factor * a.weight[i]);
    }
  }
}

void add(const Add& a, Stream&) {
  for (std::int64_t i = 0; i < a.count; ++i) a.x[i] += a.y[i];
}

}  // namespace fovea::kernels::reference
