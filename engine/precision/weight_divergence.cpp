#include "engine/precision/weight_divergence.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <span>

#include "engine/precision/errors.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/formats/formats.h"

namespace fovea::precision {
namespace {

constexpr int bins = 256;
constexpr std::int64_t sampled_weights = 1 << 16;  // of a matrix

// Rows at equal distances, [rows, columns].
std::vector<float> sample(const checkpoint::Checkpoint& checkpoint, const models::MatrixSource& matrix) {
  const std::int64_t count = std::clamp<std::int64_t>(sampled_weights / matrix.columns, 1, matrix.rows);
  std::vector<float> weights(static_cast<std::size_t>(count * matrix.columns));
  std::vector<std::byte> converted;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t row = matrix.first_row + i * matrix.rows / count;
    const auto source = checkpoint.rows(*matrix.tensor, matrix.columns, row, 1, converted);
    kernels::formats::dequantize(matrix.tensor->type, source.data(), matrix.columns,
                                 weights.data() + i * matrix.columns);
  }
  return weights;
}

void count(std::span<const float> weights, double most, std::vector<double>& histogram) {
  for (const float weight : weights) {
    const double place = (static_cast<double>(weight) / most + 1) * (bins / 2);
    ++histogram[static_cast<std::size_t>(std::clamp(place, 0.0, bins - 1.0))];
  }
}

// Of one unit, [tiers]. False: a weight is not finite.
bool diverge(const checkpoint::Checkpoint& checkpoint, const Unit& unit, const TierSet& tiers,
             std::span<float> out) {
  for (const models::MatrixSource& matrix : unit.matrices()) {
    const std::vector<float> weights = sample(checkpoint, matrix);
    double most = 0;
    for (const float weight : weights) most = std::max(most, std::abs(static_cast<double>(weight)));
    if (!std::isfinite(std::reduce(weights.begin(), weights.end()))) return false;
    if (most == 0) continue;
    std::vector<double> original(bins);
    count(weights, most, original);
    const double share = static_cast<double>(matrix.parameters()) / static_cast<double>(unit.parameters());
    for (std::size_t tier = 0; tier < tiers.size(); ++tier) {
      if (!tiers[tier].type) continue;
      const kernels::Type type = *tiers[tier].type;
      const std::int64_t rows = std::ssize(weights) / matrix.columns;
      std::vector<std::byte> packed(
          static_cast<std::size_t>(rows * kernels::row_bytes(type, matrix.columns)));
      if (!kernels::formats::quantize_rows(type, weights.data(), rows, matrix.columns, nullptr,
                                           packed.data()))
        return false;
      std::vector<float> rounded(weights.size());
      kernels::formats::dequantize(type, packed.data(), std::ssize(rounded), rounded.data());
      std::vector<double> histogram(bins);
      count(rounded, most, histogram);
      out[tier] += static_cast<float>(share * histogram_divergence(original, histogram));
    }
  }
  return true;
}

}  // namespace

double histogram_divergence(const std::vector<double>& p, const std::vector<double>& q) {
  constexpr double added = 0.5;
  const double more = added * static_cast<double>(p.size());
  const double p_sum = std::reduce(p.begin(), p.end()) + more, q_sum = std::reduce(q.begin(), q.end()) + more;
  double divergence = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double share = (p[i] + added) / p_sum;
    divergence += share * std::log(share / ((q[i] + added) / q_sum));
  }
  return std::max(divergence, 0.0);
}

Result<std::vector<float>> weight_divergences(const checkpoint::Checkpoint& checkpoint,
                                              const UnitTable& units, const TierSet& tiers, int threads) {
  std::vector<float> divergences(static_cast<std::size_t>(units.size()) * tiers.size());
  std::atomic<UnitId> broken = -1;
  kernels::cpu::ThreadPool pool(threads, kernels::cpu::Waiting::sleeping, "divergence");
  pool.for_chunks(units.size(), 1, [&](std::int64_t unit, std::int64_t, int) {
    const auto id = static_cast<UnitId>(unit);
    const std::span<float> out =
        std::span(divergences).subspan(static_cast<std::size_t>(unit) * tiers.size(), tiers.size());
    if (!diverge(checkpoint, units[id], tiers, out)) broken = id;
  });
  if (broken < 0) return divergences;
  return fail(phrases::tensor_place(checkpoint.path(), units[broken].parts[0].tensor->name),
              errors::weight_not_finite());
}

}  // namespace fovea::precision
