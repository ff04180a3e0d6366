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

using Corner = double[width][width];

// −V⁻¹ of the upper triangular block at `corner`.
void invert_negated(const double* corner, std::int64_t stride, Corner& inverse) {
  for (std::int64_t j = 0; j < width; ++j) {
    for (std::int64_t i = width - 1; i >= 0; --i) {
      double sum = i == j ? -1 : 0;
      for (std::int64_t k = i + 1; k <= j; ++k) sum -= corner[i * stride + k] * inverse[k][j];
      inverse[i][j] = i > j ? 0 : sum / corner[i * stride + i];
    }
  }
}

// V [n, n] upper triangular with V Vᵀ = H + damping, by blocks of columns from the last to the first.
class Factorization {
 public:
  Factorization(const float* h, std::int64_t n)
      : h_(h),
        n_(n),
        subtract_(trellis_encoders().back().subtract_products),
        v_(static_cast<std::size_t>(n * n)),
        known_(static_cast<std::size_t>(n * width)),
        rows_(static_cast<std::size_t>(n * width)) {}

  // False when there is none.
  bool run(double damping) {
    for (std::int64_t first = n_ - width; first >= 0; first -= width) {
      take(first, damping);
      subtract_known(first);
      if (!factor_corner(first, damping)) return false;
      Corner inverse, transposed;
      invert_negated(at(first, first), n_, inverse);
      for (std::int64_t i = 0; i < width; ++i) {
        for (std::int64_t j = 0; j < width; ++j) transposed[i][j] = inverse[j][i];
      }
      multiply(first, transposed, at(0, first), n_);
    }
    return true;
  }

  double* at(std::int64_t row, std::int64_t column) { return v_.data() + row * n_ + column; }

  // V[: first, block] · V[block, block]⁻¹ into out [first, width].
  void divided(std::int64_t first, double* out) {
    Corner inverse;
    invert_negated(at(first, first), n_, inverse);
    multiply(first, inverse, out, width);
  }

 private:
  // The block's columns of H + damping; of H only the lower triangle is read.
  void take(std::int64_t first, double damping) {
    for (std::int64_t j = first; j < first + width; ++j) {
      for (std::int64_t i = 0; i <= j; ++i) *at(i, j) = static_cast<double>(h_[j * n_ + i]);
      for (std::int64_t i = j + 1; i < first + width; ++i) *at(i, j) = 0;
      *at(j, j) += damping;
    }
  }

  // Less the products with the blocks behind, some columns of those at a time, which stay in the cache.
  void subtract_known(std::int64_t first) {
    constexpr std::int64_t portion = 64;
    const std::int64_t begin = first + width;
    for (std::int64_t k = begin; k < n_; ++k) {
      for (std::int64_t j = 0; j < width; ++j)
        known_[static_cast<std::size_t>((k - begin) * width + j)] = *at(first + j, k);
    }
    for (std::int64_t k = begin; k < n_; k += portion)
      subtract_(at(0, k), n_, begin, known_.data() + (k - begin) * width, std::min(portion, n_ - k),
                at(0, first), n_);
  }

  bool factor_corner(std::int64_t first, double damping) {
    for (std::int64_t j = first + width - 1; j >= first; --j) {
      double pivot = *at(j, j);
      for (std::int64_t k = j + 1; k < first + width; ++k) pivot -= *at(j, k) * *at(j, k);
      // What rounding leaves of a pivot that should be zero is not one.
      if (!(pivot > damping * 1e-6)) return false;
      *at(j, j) = std::sqrt(pivot);
      for (std::int64_t i = first; i < j; ++i) {
        double rest = *at(i, j);
        for (std::int64_t k = j + 1; k < first + width; ++k) rest -= *at(i, k) * *at(j, k);
        *at(i, j) = rest / *at(j, j);
      }
      for (std::int64_t i = j + 1; i < first + width; ++i) *at(i, j) = 0;
    }
    return true;
  }

  // out [first, width] = −V[: first, block] · factors
  void multiply(std::int64_t first, const Corner& factors, double* out, std::int64_t stride) {
    for (std::int64_t i = 0; i < first; ++i) std::copy_n(at(i, first), width, rows_.data() + i * width);
    for (std::int64_t i = 0; i < first; ++i) std::fill_n(out + i * stride, width, 0.0);
    subtract_(rows_.data(), width, first, factors[0], width, out, stride);
  }

  const float* h_;
  std::int64_t n_;
  decltype(TrellisEncoder::subtract_products) subtract_;
  std::vector<double> v_;      // [n, n]
  std::vector<double> known_;  // [columns behind a block, width]
  std::vector<double> rows_;   // [n, width]
};

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

// Quantises rows together, as many as the encoder takes.
class RowGroup {
 public:
  RowGroup(Type type, std::int64_t columns)
      : type_(type), bytes_(block_shape(type).bytes), encoder_(trellis_encoders().back()) {
    for (int r = 0; r < encoder_.group; ++r) {
      errors_[r].resize(static_cast<std::size_t>(columns));
      error_rows_[r] = errors_[r].data();
      residual_rows_[r] = residuals_[r];
    }
  }

  int max_rows() const { return encoder_.group; }

  // One block of `rows` rows: the errors so far of each, times the factors, are what it has to make up for.
  void quantize(const float* const* weights, int rows, std::int64_t block, const float* factors,
                const float* schur, const float* importance, std::byte* const* out) {
    float targets[max_group][width];
    for (int r = 0; r < rows; ++r) std::memcpy(targets[r], weights[r] + block * width, sizeof targets[r]);
    encoder_.add_products(error_rows_, rows, factors, block * width, targets);
    encode(targets, rows, importance, out);
    double losses[max_group];
    find_losses(targets, rows, out, schur, losses);
    for (int round = 0; round < refinements; ++round) refine(targets, rows, schur, importance, losses, out);
    for (int r = 0; r < rows; ++r) {
      float values[width];
      dequantize(type_, out[r], width, values);
      float* const errors = errors_[r].data() + block * width;
      for (std::int64_t i = 0; i < width; ++i) errors[i] = weights[r][block * width + i] - values[i];
    }
  }

 private:
  void encode(const float (*targets)[width], int rows, const float* importance, std::byte* const* out) const {
    if (!is_trellis(type_)) {
      for (int r = 0; r < rows; ++r) formats::quantize(type_, targets[r], width, out[r]);
      return;
    }
    TrellisBlock blocks[max_group];
    for (int r = 0; r < rows; ++r) blocks[r] = {targets[r], importance, out[r]};
    encoder_.encode(type_, blocks, rows);
  }

  // What each row's error in the block costs, and in pulls_ what each column's error would better be.
  void find_losses(const float (*targets)[width], int rows, const std::byte* const* out, const float* schur,
                   double (&losses)[max_group]) {
    float products[max_group][width] = {};
    for (int r = 0; r < rows; ++r) {
      float values[width];
      dequantize(type_, out[r], width, values);
      for (std::int64_t i = 0; i < width; ++i) residuals_[r][i] = targets[r][i] - values[i];
    }
    encoder_.add_products(residual_rows_, rows, schur, width, products);
    for (int r = 0; r < rows; ++r) {
      losses[r] = 0;
      for (std::int64_t i = 0; i < width; ++i) {
        const float own = schur[i * width + i];
        losses[r] += static_cast<double>(residuals_[r][i]) * static_cast<double>(products[r][i]);
        pulls_[r][i] = products[r][i] / own - residuals_[r][i];
      }
    }
  }

  // Encodes towards where the other columns' errors pull each column; kept where that is better.
  void refine(const float (*targets)[width], int rows, const float* schur, const float* importance,
              double (&losses)[max_group], std::byte* const* out) {
    constexpr float step = 0.5F;  // all columns move at once
    float moved[max_group][width];
    for (int r = 0; r < rows; ++r) {
      for (std::int64_t i = 0; i < width; ++i) moved[r][i] = targets[r][i] + step * pulls_[r][i];
    }
    std::byte bytes[max_group][max_block_bytes];
    std::byte* again[max_group];
    for (int r = 0; r < rows; ++r) again[r] = bytes[r];
    encode(moved, rows, importance, again);
    float before[max_group][width];
    std::memcpy(before, pulls_, sizeof before);
    double found[max_group];
    find_losses(targets, rows, again, schur, found);
    for (int r = 0; r < rows; ++r) {
      if (found[r] < losses[r]) {
        losses[r] = found[r];
        std::memcpy(out[r], again[r], static_cast<std::size_t>(bytes_));
      } else {
        for (std::int64_t i = 0; i < width; ++i) pulls_[r][i] = before[r][i] * step;
      }
    }
  }

  static constexpr std::size_t max_block_bytes = 34;

  Type type_;
  std::int64_t bytes_;
  const TrellisEncoder& encoder_;
  std::vector<float> errors_[max_group];  // [columns]: weight − its quantised value
  float residuals_[max_group][width] = {};
  float pulls_[max_group][width] = {};
  const float* error_rows_[max_group] = {};
  const float* residual_rows_[max_group] = {};
};

}  // namespace

std::optional<InputMetric> InputMetric::make(const float* second_moments, std::int64_t columns,
                                             double damping) {
  assert(columns > 0 && columns % width == 0 && damping > 0);
  const Moments moments = check(second_moments, columns);
  if (!moments.usable) return std::nullopt;
  Factorization factorization(second_moments, columns);
  while (!factorization.run(damping * moments.mean)) {
    damping *= 10;
    if (damping > 1e6) return std::nullopt;
  }
  InputMetric metric;
  metric.columns_ = columns;
  metric.factors_.reserve(static_cast<std::size_t>(columns * (columns - width) / 2));
  std::vector<double> divided(static_cast<std::size_t>(columns * width));
  for (std::int64_t first = 0; first < columns; first += width) {
    factorization.divided(first, divided.data());
    for (std::int64_t i = 0; i < first * width; ++i)
      metric.factors_.push_back(static_cast<float>(divided[static_cast<std::size_t>(i)]));
    for (std::int64_t i = 0; i < width; ++i) {
      for (std::int64_t j = 0; j < width; ++j) {
        const double* const a = factorization.at(first + i, first);
        const double* const b = factorization.at(first + j, first);
        double sum = 0;
        for (std::int64_t k = std::max(i, j); k < width; ++k) sum += a[k] * b[k];
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
  const std::int64_t stride = row_bytes(type, columns);
  RowGroup group(type, columns);
  for (std::int64_t first = 0; first < rows; first += group.max_rows()) {
    const int together = static_cast<int>(std::min<std::int64_t>(group.max_rows(), rows - first));
    const float* sources[max_group];
    for (int r = 0; r < together; ++r) sources[r] = weights + (first + r) * columns;
    for (std::int64_t b = 0; b < columns / width; ++b) {
      std::byte* targets[max_group];
      for (int r = 0; r < together; ++r) targets[r] = out + (first + r) * stride + b * bytes;
      group.quantize(sources, together, b, metric.factors(b), metric.schur(b), metric.importance(b), targets);
    }
  }
  return true;
}

}  // namespace fovea::kernels::formats
