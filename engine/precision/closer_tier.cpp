#include "engine/precision/closer_tier.h"

#include <algorithm>
#include <cmath>

#include "kernels/formats/formats.h"

namespace fovea::precision {
namespace {

constexpr std::int64_t sampled_units = 8;
constexpr std::int64_t sampled_rows = 16;  // of each matrix
constexpr double clearly_less = 0.95;

// Of one matrix: [rows, columns].
struct SampledRows {
  std::int64_t columns = 0;
  std::vector<float> weights;

  std::int64_t rows() const { return std::ssize(weights) / columns; }
};
using SampledUnit = std::vector<SampledRows>;

SampledRows sample_of(const checkpoint::Checkpoint& checkpoint, const models::MatrixSource& matrix) {
  const std::int64_t count = std::min(matrix.rows, sampled_rows);
  SampledRows sample{matrix.columns, std::vector<float>(static_cast<std::size_t>(count * matrix.columns))};
  std::vector<std::byte> converted;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = matrix.first_row + i * matrix.rows / count;
    const auto bytes = checkpoint.rows(*matrix.tensor, matrix.columns, row, 1, converted);
    kernels::formats::dequantize(matrix.tensor->type, bytes.data(), matrix.columns,
                                 sample.weights.data() + i * matrix.columns);
  }
  return sample;
}

std::vector<SampledUnit> sample_of(const checkpoint::Checkpoint& checkpoint, const UnitTable& units) {
  const std::int64_t count = std::min(units.size(), sampled_units);
  std::vector<SampledUnit> sample(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    for (const models::MatrixSource& matrix : units[static_cast<UnitId>(i * units.size() / count)].matrices())
      sample[static_cast<std::size_t>(i)].push_back(sample_of(checkpoint, matrix));
  }
  return sample;
}

// ‖W − W'‖ / ‖W‖; none: the weights are zeros, or not all finite.
std::optional<double> error_of(const SampledUnit& unit, kernels::Type type) {
  double error = 0, size = 0;
  for (const SampledRows& matrix : unit) {
    std::vector<std::byte> quantized(
        static_cast<std::size_t>(matrix.rows() * kernels::row_bytes(type, matrix.columns)));
    if (!kernels::formats::quantize_rows(type, matrix.weights.data(), matrix.rows(), matrix.columns, nullptr,
                                         quantized.data()))
      return std::nullopt;
    std::vector<float> again(matrix.weights.size());
    kernels::formats::dequantize(type, quantized.data(), std::ssize(again), again.data());
    for (std::size_t i = 0; i < again.size(); ++i) {
      const double weight = static_cast<double>(matrix.weights[i]);
      error += std::pow(weight - static_cast<double>(again[i]), 2);
      size += weight * weight;
    }
  }
  return size > 0 ? std::optional(std::sqrt(error / size)) : std::nullopt;
}

double mean_error(const std::vector<SampledUnit>& sample, kernels::Type type) {
  double sum = 0, count = 0;
  for (const SampledUnit& unit : sample) {
    if (const auto error = error_of(unit, type)) sum += *error, count += 1;
  }
  return count > 0 ? sum / count : 0;
}

}  // namespace

std::optional<CloserTier> closer_tier(const checkpoint::Checkpoint& checkpoint, const UnitTable& units,
                                      const TierSet& tiers) {
  std::vector<SampledUnit> sample;
  for (const Tier& tier : tiers) {
    for (const Tier& other : tiers_of_equal_bits(tier)) {
      if (sample.empty()) sample = sample_of(checkpoint, units);
      const double error = mean_error(sample, *tier.type), others = mean_error(sample, *other.type);
      if (others < clearly_less * error) return CloserTier{tier.name, error, other.name, others};
    }
  }
  return std::nullopt;
}

}  // namespace fovea::precision
