#include "engine/precision/prepare_divergence.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

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

// Puts versions of the store in the place of the model's own weights, and takes them out again.
class Substitution {
 public:
  Substitution(models::Model& model, const UnitTable& units, const TierSet& tiers,
               const kernels::Device& device, const MeasuredVersions& versions, std::span<std::byte> memory)
      : model_(model), units_(units), tiers_(tiers), device_(device), versions_(versions), memory_(memory) {}
  ~Substitution() { restore(); }
  Substitution(const Substitution&) = delete;
  Substitution& operator=(const Substitution&) = delete;

  Result<void> put(UnitId id, std::int64_t tier) {
    const std::int64_t there = tier - versions_.first_tier;
    const std::span<std::byte> version =
        memory_.first(static_cast<std::size_t>(versions_.writer.extent(id, there).bytes));
    memory_ = memory_.subspan(version.size());
    FOVEA_CHECK(versions_.writer.read(id, there, version));
    const Parts parts = parts_of(model_, units_.scope(), units_[id]);
    const auto weights =
        weights_at(tiers_[static_cast<std::size_t>(tier)], units_[id], device_, version.data());
    for (std::size_t p = 0; p < units_[id].matrices().size(); ++p)
      before_.emplace_back(parts[p], std::exchange(*parts[p], weights[p]));
    touched_.push_back(id);
    touch(id);
    return {};
  }

 private:
  void touch(UnitId id) { ++model_.handles()[static_cast<std::size_t>(units_[id].layer)].revision; }
  void restore() {
    for (const auto& [part, weight] : before_) *part = weight;
    for (const UnitId id : touched_) touch(id);
  }

  models::Model& model_;
  const UnitTable& units_;
  const TierSet& tiers_;
  const kernels::Device& device_;
  const MeasuredVersions& versions_;
  std::span<std::byte> memory_;
  std::vector<std::pair<kernels::Weight*, kernels::Weight>> before_;
  std::vector<UnitId> touched_;
};

// What a layer's experts cost at the lowest tier, and how it divides among them.
class LayerHarm {
 public:
  LayerHarm(const UnitTable& units, const checkpoint::StoreWriter& store, std::int64_t layer,
            std::int64_t low)
      : first_(units.first(layer)), store_(store), low_(low) {
    for (UnitId id = first_; id < units.first(layer + 1); ++id)
      uses_.push_back(static_cast<double>(store.extent(id, low).calibration_tokens) + min_tokens);
    const double sum = std::reduce(uses_.begin(), uses_.end());
    for (double& use : uses_) use /= sum;
  }

  // Every second one of the most used, or the others.
  std::vector<UnitId> half(std::size_t from) const {
    std::vector<std::size_t> order(uses_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return uses_[i]; });
    std::vector<UnitId> units;
    for (std::size_t i = from; i < order.size(); i += 2)
      units.push_back(first_ + static_cast<UnitId>(order[i]));
    return units;
  }
  bool is_measured(std::int64_t tiers) const {
    for (std::size_t i = 0; i < uses_.size(); ++i)
      for (std::int64_t tier = 0; tier < tiers; ++tier)
        if (store_.extent(id(i), tier).divergence < 0) return false;
    return true;
  }
  // Uses × squared errors, of all experts at a tier.
  double share(std::size_t i, std::int64_t tier) const {
    const auto error = static_cast<double>(store_.extent(id(i), tier).output_error);
    return uses_[i] * error * error;
  }
  double sum() const {
    double sum = 0;
    for (std::size_t i = 0; i < uses_.size(); ++i) sum += share(i, low_);
    return sum;
  }
  UnitId id(std::size_t i) const { return first_ + static_cast<UnitId>(i); }
  std::size_t size() const { return uses_.size(); }

 private:
  static constexpr double min_tokens = 0.5;  // as store_profile.cpp counts what the text did not reach

  UnitId first_;
  const checkpoint::StoreWriter& store_;
  std::int64_t low_;
  std::vector<double> uses_;
};

// Of what was measured, at least this share is the tiers' own.
constexpr double min_own_share = 0.05;

class Divergences {
 public:
  Divergences(models::Model& model, const UnitTable& units, const TierSet& tiers,
              const kernels::Device& device, const MeasuredVersions& versions, checkpoint::StoreWriter& store,
              Meter& meter, std::span<std::byte> memory, const ProgressSink& progress,
              const std::stop_token& stop)
      : model_(model),
        units_(units),
        tiers_(tiers),
        device_(device),
        versions_(versions),
        store_(store),
        meter_(meter),
        memory_(memory),
        progress_(progress),
        stop_(stop) {}

  // One linear layer after the other, at each tier.
  Result<void> of_each_unit() {
    const auto tiers = static_cast<std::int64_t>(tiers_.size());
    for (std::int64_t i = 0; i < units_.size() * tiers; ++i) {
      const auto id = static_cast<UnitId>(i / tiers);
      const std::int64_t tier = i % tiers;
      tell(i, units_.size() * tiers, units_.name(id));
      if (store_.extent(id, tier).divergence >= 0) continue;
      const UnitId one[] = {id};
      FOVEA_TRY(const double found, measured(one, tier));
      FOVEA_CHECK(amend(id, tier, found));
    }
    return {};
  }

  // A change of any size in an early layer lets later ones round and route otherwise, which moves the output
  // by something that does not add up: in each of several layers at once it is there once. With all of a
  // layer's experts and with each half of them the tiers' own part follows: all = own + other, half = its own
  // + other.
  Result<void> of_each_layer() {
    const auto tiers = static_cast<std::int64_t>(tiers_.size());
    for (std::int64_t layer = 0; layer < units_.layers(); ++layer) {
      const LayerHarm harm(units_, store_, layer, tiers - 1);
      tell(units_.first(layer), units_.size(), "blk." + std::to_string(layer));
      if (harm.size() == 0 || harm.is_measured(tiers)) continue;
      const std::vector<UnitId> even = harm.half(0), odd = harm.half(1);
      std::vector<UnitId> all = even;
      all.insert(all.end(), odd.begin(), odd.end());
      FOVEA_TRY(const double whole, measured(all, tiers - 1));
      double own = whole;
      if (!odd.empty()) {
        FOVEA_TRY(const double first, measured(even, tiers - 1));
        FOVEA_TRY(const double second, measured(odd, tiers - 1));
        own = std::clamp(2 * whole - first - second, min_own_share * whole, whole);
      }
      const double sum = harm.sum();
      for (std::size_t i = 0; i < harm.size(); ++i)
        for (std::int64_t tier = 0; tier < tiers; ++tier)
          FOVEA_CHECK(amend(harm.id(i), tier, sum > 0 ? own * harm.share(i, tier) / sum : 0));
    }
    return {};
  }

 private:
  Result<double> measured(std::span<const UnitId> ids, std::int64_t tier) {
    if (!tiers_[static_cast<std::size_t>(tier)].type) return 0.0;  // as the file has it
    Substitution substitution(model_, units_, tiers_, device_, versions_, memory_);
    for (const UnitId id : ids) FOVEA_CHECK(substitution.put(id, tier));
    FOVEA_TRY(const float found, meter_.measure(stop_));
    return static_cast<double>(found);
  }
  Result<void> amend(UnitId id, std::int64_t tier, double divergence) {
    checkpoint::Extent extent = store_.extent(id, tier);
    extent.divergence = static_cast<float>(divergence);
    return store_.amend(id, tier, extent);
  }
  void tell(std::int64_t done, std::int64_t total, const std::string& what) const {
    if (progress_) progress_({Progress::Stage::measuring, done, total, Progress::Unit::versions, what});
  }

  models::Model& model_;
  const UnitTable& units_;
  const TierSet& tiers_;
  const kernels::Device& device_;
  const MeasuredVersions& versions_;
  checkpoint::StoreWriter& store_;
  Meter& meter_;
  std::span<std::byte> memory_;
  const ProgressSink& progress_;
  const std::stop_token& stop_;
};

// Of the versions that are in the model's place at once.
std::int64_t bytes_at_once(const UnitTable& units, std::int64_t tiers, const checkpoint::StoreWriter& store) {
  std::int64_t most = 0;
  for (std::int64_t layer = 0; layer < units.layers(); ++layer) {
    std::int64_t sum = 0;
    for (UnitId id = units.first(layer); id < units.first(layer + 1); ++id) {
      sum += store.extent(id, tiers - 1).bytes;
      for (std::int64_t tier = 0; units.scope() != UnitScope::experts && tier < tiers; ++tier)
        most = std::max(most, store.extent(id, tier).bytes);
    }
    if (units.scope() == UnitScope::experts) most = std::max(most, sum);
  }
  return most;
}

}  // namespace

std::int64_t first_measured_tier(const UnitTable& units, const TierSet& tiers) {
  return units.scope() == UnitScope::experts ? std::ssize(tiers) - 1 : 0;
}

Result<void> measure_divergences(models::Model& model, const UnitTable& units, const TierSet& tiers,
                                 const kernels::Device& device, const MeasuredVersions& versions,
                                 checkpoint::StoreWriter& store, const Windows& windows, int threads,
                                 const ProgressSink& progress, const std::stop_token& stop) {
  std::int64_t longest = 0;
  for (const auto& window : windows) longest = std::max(longest, std::ssize(window));
  FOVEA_TRY(WindowRunner runner, WindowRunner::create(model, device, longest, threads));
  Meter meter(std::move(runner), windows, model.config().vocabulary);
  FOVEA_CHECK(meter.begin(stop));
  const std::int64_t bytes = bytes_at_once(units, std::ssize(tiers) - versions.first_tier, versions.writer);
  const DeviceMemory memory(device, bytes);
  Divergences divergences(model, units, tiers, device, versions, store, meter, memory.first(bytes), progress,
                          stop);
  return units.scope() == UnitScope::experts ? divergences.of_each_layer() : divergences.of_each_unit();
}

}  // namespace fovea::precision
