#include "engine/precision/prepare_divergence.h"

#include <algorithm>
#include <cmath>

#include "engine/precision/prepare_memory.h"

namespace fovea::precision {
namespace {

using Parts = std::array<kernels::Weight*, 3>;

Parts parts_of(models::Model& model, UnitScope scope, const Unit& unit) {
  models::LayerWeights& layer = model.handles()[static_cast<std::size_t>(unit.layer)];
  if (scope == UnitScope::experts) {
    kernels::Expert& expert = layer.experts[static_cast<std::size_t>(unit.index)];
    return {&expert.gate, &expert.up, &expert.down};
  }
  return {&linear_weight(layer, static_cast<LinearRole>(unit.index))};
}

// ln softmax of one row, in place.
void to_log_probabilities(std::span<float> logits) {
  const float top = *std::ranges::max_element(logits);
  double sum = 0;
  for (const float logit : logits) sum += static_cast<double>(std::exp(logit - top));
  const float shift = top + static_cast<float>(std::log(sum));
  for (float& logit : logits) logit -= shift;
}

// Σ p (ln p − ln q)
double divergence(std::span<const float> p, std::span<const float> q) {
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] > -30) sum += static_cast<double>(std::exp(p[i]) * (p[i] - q[i]));  // less would not change it
  }
  return sum;
}

class Meter {
 public:
  Meter(WindowRunner runner, const Windows& windows, std::int64_t vocabulary)
      : runner_(std::move(runner)), windows_(windows), vocabulary_(static_cast<std::size_t>(vocabulary)) {}

  // What every later measure() is compared with.
  Result<void> begin(const std::stop_token& stop) {
    return each_position(
        [&](std::span<const float> row) { expected_.insert(expected_.end(), row.begin(), row.end()); }, stop);
  }

  Result<float> measure(const std::stop_token& stop) {
    double sum = 0;
    std::size_t at = 0;
    FOVEA_CHECK(each_position(
        [&](std::span<const float> row) {
          sum += divergence(std::span(expected_).subspan(at, vocabulary_), row);
          at += vocabulary_;
        },
        stop));
    const double mean = sum * static_cast<double>(vocabulary_) / static_cast<double>(at);
    return std::isfinite(mean) ? static_cast<float>(std::max(mean, 0.0)) : 0.0F;
  }

 private:
  template <class F>
  Result<void> each_position(F&& f, const std::stop_token& stop) {
    for (const auto& window : windows_) {
      FOVEA_CHECK(runner_.run(
          window, nullptr,
          [&](std::int64_t, std::span<const float> logits) {
            for (std::size_t begin = 0; begin < logits.size(); begin += vocabulary_) {
              row_.assign(logits.begin() + static_cast<std::ptrdiff_t>(begin),
                          logits.begin() + static_cast<std::ptrdiff_t>(begin + vocabulary_));
              to_log_probabilities(row_);
              f(std::span<const float>(row_));
            }
          },
          stop));
    }
    return {};
  }

  WindowRunner runner_;
  const Windows& windows_;
  std::size_t vocabulary_;
  std::vector<float> expected_;  // [positions, vocabulary] log-probabilities
  std::vector<float> row_;
};

}  // namespace

Result<void> measure_divergences(models::Model& model, const UnitTable& units, const TierSet& tiers,
                                 const kernels::Device& device, const kernels::Device& packed_for,
                                 checkpoint::StoreWriter& store, const Windows& windows, int threads,
                                 const ProgressSink& progress, const std::stop_token& stop) {
  std::int64_t longest = 0, largest = 0;
  for (const auto& window : windows) longest = std::max(longest, std::ssize(window));
  const auto tier_count = static_cast<std::int64_t>(tiers.size());
  const std::int64_t total = units.size() * tier_count;
  for (std::int64_t i = 0; i < total; ++i)
    largest = std::max(largest, store.extent(i / tier_count, i % tier_count).bytes);
  FOVEA_TRY(WindowRunner runner, WindowRunner::create(model, device, longest, threads));
  Meter meter(std::move(runner), windows, model.config().vocabulary);
  FOVEA_CHECK(meter.begin(stop));
  const DeviceMemory memory(device, largest);
  for (std::int64_t i = 0; i < total; ++i) {
    const auto id = static_cast<UnitId>(i / tier_count);
    const std::int64_t tier = i % tier_count;
    if (progress) progress({Progress::Stage::measuring, i, total, Progress::Unit::versions, units.name(id)});
    checkpoint::Extent extent = store.extent(id, tier);
    if (extent.divergence >= 0) continue;
    extent.divergence = 0;
    if (const Tier& t = tiers[static_cast<std::size_t>(tier)]; t.type) {
      const std::span<std::byte> version = memory.first(extent.bytes);
      FOVEA_CHECK(store.read(id, tier, version));
      const Parts parts = parts_of(model, units.scope(), units[id]);
      const auto weights = weights_at(t, units[id], packed_for, version.data());
      std::array<kernels::Weight, 3> before;
      for (std::size_t p = 0; p < units[id].matrices().size(); ++p)
        before[p] = std::exchange(*parts[p], weights[p]);
      std::uint64_t& revision = model.handles()[static_cast<std::size_t>(units[id].layer)].revision;
      ++revision;
      const auto measured = meter.measure(stop);
      for (std::size_t p = 0; p < units[id].matrices().size(); ++p) *parts[p] = before[p];
      ++revision;
      if (!measured) return std::unexpected(measured.error());
      extent.divergence = *measured;
    }
    FOVEA_CHECK(store.amend(id, tier, extent));
  }
  return {};
}

}  // namespace fovea::precision
