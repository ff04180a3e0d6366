#include "kernels/formats/calibrated.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "kernels/formats/formats.h"
#include "kernels/formats/trellis_encoder.h"

namespace fovea::kernels::formats {
namespace {

constexpr std::int64_t width = 32;  // of a block

double dot(const double* a, const double* b, std::int64_t count) {
  double sums[4] = {};
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    for (int j = 0; j < 4; ++j) sums[j] += a[i + j] * b[i + j];
  }
  for (; i < count; ++i) sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// V [n, n] upper triangular with V Vᵀ = H + damping; false when there is none.
bool factor(const float* h, std::int64_t n, double damping, std::vector<double>& v) {
  for (std::int64_t j = n - 1; j >= 0; --j) {
    const double* const row_j = v.data() + j * n + j + 1;
    const std::int64_t after = n - 1 - j;
    const double pivot = static_cast<double>(h[j * n + j]) + damping - dot(row_j, row_j, after);
    // What rounding leaves of a pivot that should be zero is not one.
    if (!(pivot > damping * 1e-6)) return false;
    const double root = std::sqrt(pivot);
    v[static_cast<std::size_t>(j * n + j)] = root;
    for (std::int64_t i = 0; i < j; ++i) {
      const double rest = static_cast<double>(h[j * n + i]) - dot(v.data() + i * n + j + 1, row_j, after);
      v[static_cast<std::size_t>(i * n + j)] = rest / root;
    }
  }
  return true;
}

// row · V[b, b]⁻¹ in place, for the upper triangular block at `corner`.
void divide_by_block(double (&row)[width], const double* corner, std::int64_t stride) {
  for (std::int64_t i = 0; i < width; ++i) {
    for (std::int64_t k = 0; k < i; ++k) row[i] -= row[k] * corner[k * stride + i];
    row[i] /= corner[i * stride + i];
  }
}

struct Moments {
  double mean = 0;
  bool usable = false;
};

Moments check(const float* h, std::int64_t n) {
  Moments moments;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      if (!std::isfinite(h[i * n + j])) return {};
    }
    if (h[i * n + i] < 0) return {};
    moments.mean += static_cast<double>(h[i * n + i]) / static_cast<double>(n);
  }
  moments.usable = moments.mean > 0;
  return moments;
}

// How often a block is encoded again with what its columns' errors do to each other.
constexpr int refinements = 2;

// Quantises rows together, which the encoder takes in pairs.
class RowPair {
 public:
  RowPair(Type type, std::int64_t columns)
      : type_(type),
        bytes_(block_shape(type).bytes),
        encoder_(trellis_encoders().back()),
        errors_{std::vector<float>(static_cast<std::size_t>(columns)),
                std::vector<float>(static_cast<std::size_t>(columns))} {}

  // One block of both rows: the errors so far of each, times the factors, are what it has to make up for.
  void quantize(const float* const (&weights)[2], std::int64_t block, const float* factors,
                const float* schur, const float* importance, std::byte* const (&out)[2]) {
    float targets[2][width];
    for (int r = 0; r < 2; ++r) {
      std::memcpy(targets[r], weights[r] + block * width, sizeof targets[r]);
      encoder_.add_products(errors_[r].data(), factors, block * width, targets[r]);
    }
    encode(targets, importance, out);
    double losses[2];
    for (int r = 0; r < 2; ++r) losses[r] = loss_of(targets[r], out[r], schur, r);
    for (int round = 0; round < refinements; ++round) refine(targets, schur, importance, losses, out);
    for (int r = 0; r < 2; ++r) {
      float values[width];
      dequantize(type_, out[r], width, values);
      for (std::int64_t i = 0; i < width; ++i) {
        errors_[r][static_cast<std::size_t>(block * width + i)] = weights[r][block * width + i] - values[i];
      }
    }
  }

 private:
  void encode(const float (&targets)[2][width], const float* importance, std::byte* const (&out)[2]) const {
    if (is_trellis(type_)) {
      encoder_.encode_pair(type_, {{targets[0], importance, out[0]}, {targets[1], importance, out[1]}});
    } else {
      for (int r = 0; r < 2; ++r) formats::quantize(type_, targets[r], width, out[r]);
    }
  }

  // What the block's error costs, and in pulls_ what each column's error would better be.
  double loss_of(const float (&target)[width], const std::byte* out, const float* schur, int r) {
    float values[width];
    dequantize(type_, out, width, values);
    double loss = 0;
    for (std::int64_t i = 0; i < width; ++i) {
      double from_others = 0;
      for (std::int64_t j = 0; j < width; ++j) {
        if (j != i) from_others += static_cast<double>(schur[i * width + j]) * (target[j] - values[j]);
      }
      const double own = static_cast<double>(target[i]) - static_cast<double>(values[i]);
      loss += own * (schur[i * width + i] * own + from_others);
      pulls_[r][i] = static_cast<float>(from_others / schur[i * width + i]);
    }
    return loss;
  }

  // Encodes towards where the other columns' errors pull each column; kept where that is better.
  void refine(const float (&targets)[2][width], const float* schur, const float* importance,
              double (&losses)[2], std::byte* const (&out)[2]) {
    constexpr float step = 0.5F;  // all columns move at once
    float moved[2][width];
    for (int r = 0; r < 2; ++r) {
      for (std::int64_t i = 0; i < width; ++i) moved[r][i] = targets[r][i] + step * pulls_[r][i];
    }
    std::byte again[2][most_block_bytes];
    encode(moved, importance, {again[0], again[1]});
    for (int r = 0; r < 2; ++r) {
      float before[width];
      std::memcpy(before, pulls_[r], sizeof before);
      const double loss = loss_of(targets[r], again[r], schur, r);
      if (loss < losses[r]) {
        losses[r] = loss;
        std::memcpy(out[r], again[r], static_cast<std::size_t>(bytes_));
      } else {
        for (std::int64_t i = 0; i < width; ++i) pulls_[r][i] = before[i] * step;
      }
    }
  }

  static constexpr std::size_t most_block_bytes = 34;

  Type type_;
  std::int64_t bytes_;
  const TrellisEncoder& encoder_;
  std::vector<float> errors_[2];  // [columns]: weight − its quantised value
  float pulls_[2][width] = {};
};

}  // namespace

std::optional<InputMetric> InputMetric::make(const float* second_moments, std::int64_t columns,
                                             double damping) {
  assert(columns > 0 && columns % width == 0 && damping > 0);
  const Moments moments = check(second_moments, columns);
  if (!moments.usable) return std::nullopt;
  std::vector<double> v(static_cast<std::size_t>(columns * columns), 0.0);
  while (!factor(second_moments, columns, damping * moments.mean, v)) {
    damping *= 10;
    if (damping > 1e6) return std::nullopt;
  }
  InputMetric metric;
  metric.columns_ = columns;
  for (std::int64_t first = 0; first < columns; first += width) {
    const double* const corner = v.data() + first * columns + first;
    for (std::int64_t row = 0; row < first; ++row) {
      double values[width];
      std::copy_n(v.data() + row * columns + first, width, values);
      divide_by_block(values, corner, columns);
      for (const double value : values) metric.factors_.push_back(static_cast<float>(value));
    }
    for (std::int64_t i = 0; i < width; ++i) {
      for (std::int64_t j = 0; j < width; ++j) {
        const double sum = dot(corner + i * columns, corner + j * columns, width);
        metric.schur_.push_back(static_cast<float>(sum / moments.mean));
        if (i == j) metric.importance_.push_back(metric.schur_.back());
      }
    }
  }
  return metric;
}

const float* InputMetric::factors(std::int64_t block) const {
  return factors_.data() + width * width * (block * (block - 1) / 2);
}

bool quantize_rows(Type type, const float* weights, std::int64_t rows, const InputMetric& metric,
                   std::byte* out) {
  assert(can_quantize(type) && block_shape(type).elements == width);
  const std::int64_t columns = metric.columns();
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    if (!std::isfinite(weights[i])) return false;
  }
  const std::int64_t bytes = block_shape(type).bytes;
  RowPair pair(type, columns);
  for (std::int64_t row = 0; row < rows; row += 2) {
    // A last row alone is quantised beside itself.
    const std::int64_t second = std::min(row + 1, rows - 1);
    const float* const sources[2] = {weights + row * columns, weights + second * columns};
    for (std::int64_t b = 0; b < columns / width; ++b) {
      pair.quantize(sources, b, metric.factors(b), metric.schur(b), metric.importance(b),
                    {out + row * row_bytes(type, columns) + b * bytes,
                     out + second * row_bytes(type, columns) + b * bytes});
    }
  }
  return true;
}

}  // namespace fovea::kernels::formats
