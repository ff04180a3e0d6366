#include "engine/precision/prepare_version.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "engine/precision/errors.h"
#include "kernels/formats/calibrated.h"
#include "kernels/formats/formats.h"

namespace fovea::precision {
namespace {

constexpr std::int64_t chunk_weights = 1 << 18;

double square_sum(std::span<const float> values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

double square_distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return sum;
}

// False: a weight is not finite.
bool quantize(kernels::Type type, const Guidance& guidance, std::size_t part, const float* weights,
              std::int64_t rows, std::int64_t columns, std::byte* out) {
  constexpr std::int64_t metric_block = 32;
  const kernels::formats::InputMetric* metric = guidance.metrics[part];
  if (metric != nullptr && kernels::block_shape(type).elements == metric_block)
    return kernels::formats::quantize_rows(type, weights, rows, *metric, out);
  const std::span<const float> importance = guidance.importance[part];
  return kernels::formats::quantize_rows(type, weights, rows, columns,
                                         importance.empty() ? nullptr : importance.data(), out);
}

}  // namespace

Result<void> check_tiers(const UnitTable& units, const TierSet& tiers) {
  for (const Unit& unit : units.units()) {
    for (const models::MatrixSource& matrix : unit.matrices()) {
      for (const Tier& tier : tiers) {
        if (!tier.type) continue;
        const kernels::BlockShape block = kernels::block_shape(*tier.type);
        if (matrix.columns % block.elements == 0 && kernels::formats::can_quantize(*tier.type)) continue;
        return fail(phrases::lone_tensor_place(matrix.tensor->name),
                    errors::rows_not_in_blocks(matrix.columns, tier.name, block.elements));
      }
    }
  }
  return {};
}

Result<float> VersionMaker::make(const Tier& tier, const Unit& unit, const Guidance& guidance,
                                 std::span<const Target> targets) {
  for (const Target& target : targets) std::memset(target.version.data(), 0, target.version.size());
  Norms norms;
  for (std::size_t part = 0; part < unit.matrices().size(); ++part) {
    const models::MatrixSource& matrix = unit.parts[part];
    if (tier.type) {
      FOVEA_CHECK(requantize(tier, unit, part, guidance, targets, norms));
    } else {
      const auto rows =
          checkpoint_.rows(*matrix.tensor, matrix.columns, matrix.first_row, matrix.rows, converted_);
      pack(tier, unit, part, rows, 0, matrix.rows, targets);
    }
  }
  return norms.weights > 0 ? static_cast<float>(std::sqrt(norms.error / norms.weights)) : 0.0F;
}

void VersionMaker::pack(const Tier& tier, const Unit& unit, std::size_t part, std::span<const std::byte> rows,
                        std::int64_t first, std::int64_t count, std::span<const Target> targets) const {
  const models::MatrixSource& matrix = unit.parts[part];
  const kernels::Type type = type_of(tier, matrix);
  for (const Target& target : targets) {
    target.device.pack(target.device.preferred_packing(type, matrix.rows, matrix.columns), type, matrix.rows,
                       matrix.columns, rows.data(), first, count,
                       target.version.data() + version_layout(tier, unit, target.device).offsets[part]);
  }
}

std::unexpected<Error> VersionMaker::not_finite(const models::MatrixSource& matrix) const {
  return fail(phrases::tensor_place(checkpoint_.path(), matrix.tensor->name), errors::weight_not_finite());
}

Result<void> VersionMaker::requantize(const Tier& tier, const Unit& unit, std::size_t part,
                                      const Guidance& guidance, std::span<const Target> targets,
                                      Norms& norms) {
  const models::MatrixSource& matrix = unit.parts[part];
  const kernels::Type type = type_of(tier, matrix);
  std::int64_t step = 1;
  for (const Target& target : targets) {
    step = std::lcm(step, target.device.pack_granularity(
                              target.device.preferred_packing(type, matrix.rows, matrix.columns)));
  }
  const std::int64_t chunk = std::max(step, chunk_weights / matrix.columns / step * step);
  const kernels::Type source_type = matrix.tensor->type;
  const std::int64_t target_row = kernels::row_bytes(type, matrix.columns);
  for (std::int64_t first = 0; first < matrix.rows; first += chunk) {
    const std::int64_t count = std::min(chunk, matrix.rows - first);
    const auto weights = static_cast<std::size_t>(count * matrix.columns);
    rows_.resize(weights);
    again_.resize(weights);
    quantized_.resize(static_cast<std::size_t>(count * target_row));
    const auto source =
        checkpoint_.rows(*matrix.tensor, matrix.columns, matrix.first_row + first, count, converted_);
    kernels::formats::dequantize(source_type, source.data(), count * matrix.columns, rows_.data());
    const double size = square_sum(rows_);
    if (!quantize(type, guidance, part, rows_.data(), count, matrix.columns, quantized_.data()))
      return not_finite(matrix);
    kernels::formats::dequantize(type, quantized_.data(), count * matrix.columns, again_.data());
    norms.weights += size;
    norms.error += square_distance(rows_, again_);
    pack(tier, unit, part, quantized_, first, count, targets);
  }
  return {};
}

}  // namespace fovea::precision
