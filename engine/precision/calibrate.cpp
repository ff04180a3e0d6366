#include "engine/precision/calibrate.h"

#include <algorithm>
#include <cmath>

#include "engine/checkpoint/checksum.h"
#include "engine/precision/errors.h"

namespace fovea::precision {
namespace {

float times_sigmoid(float g, float x) {
  return g / (1 + std::exp(-x));
}

// See kernels::Activation.
float activated(kernels::Activation activation, float g, float u) {
  switch (activation) {
    case kernels::Activation::gelu_tanh:
      return times_sigmoid(g, 1.59576912F * (g + 0.044715F * g * g * g)) * u;  // 2 √(2/π)
    case kernels::Activation::clamped_silu:
      g = std::min(g, kernels::clamped_silu_limit);
      u = std::clamp(u, -kernels::clamped_silu_limit, kernels::clamped_silu_limit);
      return times_sigmoid(g, kernels::clamped_silu_alpha * g) * (u + 1);
    case kernels::Activation::silu:
      break;
  }
  return times_sigmoid(g, g) * u;
}

}  // namespace

std::vector<float> hidden_activations(const kernels::Expert& expert, std::span<const float> x,
                                      const kernels::Device& device, kernels::Stream& stream) {
  const std::int64_t width = expert.gate.rows, columns = expert.gate.columns;
  const std::int64_t tokens = std::ssize(x) / columns;
  std::vector<float> gate(static_cast<std::size_t>(tokens * width)), up(gate.size());
  const kernels::Projection projections[] = {
      {.weight = expert.gate, .bias = expert.gate_bias, .out = gate.data(), .out_stride = width},
      {.weight = expert.up, .bias = expert.up_bias, .out = up.data(), .out_stride = width}};
  device.operations().linear(
      {.x = x.data(), .tokens = tokens, .columns = columns, .projections = projections}, stream);
  stream.synchronize();
  for (std::size_t i = 0; i < gate.size(); ++i) gate[i] = activated(expert.activation, gate[i], up[i]);
  return gate;
}

std::int64_t Calibration::tokens(UnitId id) const {
  const std::int32_t first = units_[static_cast<std::size_t>(id)].statistics[0];
  return first < 0 ? 0 : statistics_[static_cast<std::size_t>(first)].tokens;
}

std::int64_t Calibration::reached_units() const {
  std::int64_t count = 0;
  for (UnitId id = 0; id < std::ssize(units_); ++id) count += tokens(id) > 0 ? 1 : 0;
  return count;
}

Importance Calibration::importance(UnitId id) const {
  Importance importance;
  if (tokens(id) == 0) return importance;
  const UnitInputs& unit = units_[static_cast<std::size_t>(id)];
  for (std::size_t part = 0; part < importance.size(); ++part) {
    if (unit.statistics[part] >= 0)
      importance[part] = statistics_[static_cast<std::size_t>(unit.statistics[part])].mean_squares;
  }
  return importance;
}

std::vector<float> Calibration::inputs(UnitId id) const {
  const UnitInputs& unit = units_[static_cast<std::size_t>(id)];
  if (unit.rows < 0) return {};
  const Rows& rows = rows_[static_cast<std::size_t>(unit.rows)];
  std::vector<float> inputs;
  inputs.reserve(unit.chosen.size() * static_cast<std::size_t>(rows.columns));
  for (const std::int32_t row : unit.chosen) {
    const auto begin = rows.values.begin() + std::int64_t{row} * rows.columns;
    inputs.insert(inputs.end(), begin, begin + rows.columns);
  }
  return inputs;
}

// Sees every pass; its passes' stream computes the hidden activations that a pass does not show.
class Collector : public layers::PassObserver {
 public:
  Collector(const models::Model& model, const UnitTable& units, const kernels::Device& device,
            const CalibrationSettings& settings, std::int64_t total_tokens, kernels::Stream& stream)
      : model_(model),
        units_(units),
        device_(device),
        settings_(settings),
        stream_(stream),
        total_tokens_(total_tokens),
        seen_(model.layers().size()) {
    out_.units_.resize(static_cast<std::size_t>(units.size()));
    std::int64_t row_bytes = 0;  // of one row of each store
    for (UnitId id = 0; id < units.size(); ++id) row_bytes += assign(id);
    max_rows_ = row_bytes > 0 ? settings.row_memory_bytes / row_bytes : 0;
  }

  bool routed(const Where& where, const float* x, const std::int32_t* ids, const float*) override {
    if (units_.scope() != UnitScope::experts) return true;
    const std::int64_t layer = where.layer, tokens = where.tokens;
    const models::LayerWeights& weights = model_.layers()[static_cast<std::size_t>(layer)];
    const std::int64_t used = model_.config().experts_used();
    const UnitId first = units_.first(layer);
    chosen_.assign(weights.experts.size(), {});
    std::int64_t& seen = seen_[static_cast<std::size_t>(layer)];
    seen += tokens;
    // In leaps through the pass, so that those kept are not its first.
    const std::int64_t leap = tokens % leap_tokens == 0 ? 1 : leap_tokens;
    for (std::int64_t i = 0; i < tokens; ++i) {
      const std::int64_t t = (tokens / 2 + i * leap) % tokens;
      keep_routed(x + t * model_.config().hidden, first, rows_until(seen),
                  std::span(ids + t * used, static_cast<std::size_t>(used)));
    }
    for (std::int64_t t = 0; t < tokens; ++t) {
      for (std::int64_t j = 0; j < used; ++j)
        chosen_[static_cast<std::size_t>(ids[t * used + j])].push_back(static_cast<std::int32_t>(t));
    }
    for (std::size_t e = 0; e < chosen_.size(); ++e) {
      if (!chosen_[e].empty()) expert(first + static_cast<UnitId>(e), weights.experts[e], x, chosen_[e]);
    }
    return true;
  }

  void input(const Where& where, Input which, const float* x) override {
    if (units_.scope() != UnitScope::linear_layers) return;
    const std::int64_t layer = where.layer, tokens = where.tokens;
    const models::LayerWeights& weights = model_.layers()[static_cast<std::size_t>(layer)];
    switch (which) {
      case Input::attention:
        return linear(layer, LinearRole::q, x, tokens);
      case Input::attention_output:
        return linear(layer, LinearRole::attention_output, x, tokens);
      case Input::feed_forward: {
        linear(layer, LinearRole::gate, x, tokens);
        const std::vector<float> hidden = hidden_activations(
            weights.shared, {x, static_cast<std::size_t>(tokens * weights.shared.gate.columns)}, device_,
            stream_);
        return linear(layer, LinearRole::down, hidden.data(), tokens);
      }
    }
  }

  Calibration finish(std::uint64_t fingerprint) {
    for (Calibration::Statistics& s : out_.statistics_) {
      for (const double sum : s.sums)
        s.mean_squares.push_back(
            static_cast<float>(sum / static_cast<double>(std::max<std::int64_t>(s.tokens, 1))));
      s.sums = {};
      // Activations that overflow say nothing about columns.
      if (!std::ranges::all_of(s.mean_squares, [](float value) { return std::isfinite(value); }))
        s.mean_squares.clear();
    }
    out_.fingerprint_ = fingerprint;
    return std::move(out_);
  }

 private:
  Calibration::UnitInputs& inputs_of(UnitId id) { return out_.units_[static_cast<std::size_t>(id)]; }

  std::int32_t new_statistics(std::int64_t columns) {
    out_.statistics_.emplace_back().sums.resize(static_cast<std::size_t>(columns));
    return static_cast<std::int32_t>(out_.statistics_.size() - 1);
  }
  std::int32_t new_rows(std::int64_t columns) {
    out_.rows_.push_back({columns, {}});
    return static_cast<std::int32_t>(out_.rows_.size() - 1);
  }

  // Which statistics and rows are the unit's; units with the same inputs share them. Returns the bytes of a
  // row of the store that it adds.
  std::int64_t assign(UnitId id) {
    const Unit& unit = units_[id];
    Calibration::UnitInputs& mine = inputs_of(id);
    const std::int64_t columns = unit.parts[0].columns;
    const bool begins_layer = id == units_.first(unit.layer);
    if (units_.scope() == UnitScope::experts) {
      mine.statistics[0] = mine.statistics[1] = new_statistics(columns);
      mine.statistics[2] = new_statistics(unit.parts[2].columns);
      mine.rows = begins_layer ? new_rows(columns) : inputs_of(id - 1).rows;
      return begins_layer ? columns * 4 : 0;
    }
    const auto role = static_cast<LinearRole>(unit.index);
    const bool shares = !begins_layer && (role == LinearRole::k || role == LinearRole::v ||
                                          role == LinearRole::z || role == LinearRole::up);
    if (shares) {
      mine = inputs_of(id - 1);
      return 0;
    }
    mine.statistics[0] = new_statistics(columns);
    mine.rows = new_rows(columns);
    return columns * 4;
  }

  void add(std::int32_t statistics, const float* x, std::int64_t tokens) {
    Calibration::Statistics& s = out_.statistics_[static_cast<std::size_t>(statistics)];
    s.tokens += tokens;
    for (std::int64_t t = 0; t < tokens; ++t) {
      for (std::size_t i = 0; i < s.sums.size(); ++i) {
        const auto value = static_cast<double>(*x++);
        s.sums[i] += value * value;
      }
    }
  }

  // Inputs that a unit may have kept after so many tokens: they come from the whole text.
  std::int64_t rows_until(std::int64_t seen) const {
    return (settings_.rows_per_unit * seen + total_tokens_ - 1) / total_tokens_;
  }

  // A token's input is kept while one of its experts has fewer than `most`.
  void keep_routed(const float* x, UnitId first, std::int64_t most, std::span<const std::int32_t> experts) {
    const auto full = [&](std::int32_t e) { return std::ssize(inputs_of(first + e).chosen) >= most; };
    if (std::ranges::all_of(experts, full)) return;
    Calibration::Rows& rows = out_.rows_[static_cast<std::size_t>(inputs_of(first).rows)];
    if (rows.count() >= max_rows_) return;
    const auto index = static_cast<std::int32_t>(rows.count());
    rows.values.insert(rows.values.end(), x, x + rows.columns);
    for (const std::int32_t e : experts) {
      if (!full(e)) inputs_of(first + e).chosen.push_back(index);
    }
  }

  void expert(UnitId id, const kernels::Expert& weights, const float* x,
              const std::vector<std::int32_t>& tokens) {
    const std::int64_t d = weights.gate.columns;
    gathered_.clear();
    for (const std::int32_t t : tokens) gathered_.insert(gathered_.end(), x + t * d, x + (t + 1) * d);
    add(inputs_of(id).statistics[0], gathered_.data(), std::ssize(tokens));
    const std::vector<float> hidden = hidden_activations(weights, gathered_, device_, stream_);
    add(inputs_of(id).statistics[2], hidden.data(), std::ssize(tokens));
  }

  // The layer's unit of that role holds the statistics for those that share its input.
  void linear(std::int64_t layer, LinearRole role, const float* x, std::int64_t tokens) {
    for (UnitId id = units_.first(layer); id < units_.first(layer + 1); ++id) {
      if (units_[id].index != static_cast<std::int32_t>(role)) continue;
      const Calibration::UnitInputs mine = inputs_of(id);
      add(mine.statistics[0], x, tokens);
      Calibration::Rows& rows = out_.rows_[static_cast<std::size_t>(mine.rows)];
      const std::int64_t seen = out_.statistics_[static_cast<std::size_t>(mine.statistics[0])].tokens;
      const std::int64_t room = std::min(rows_until(seen), max_rows_) - rows.count();
      const std::int64_t count = std::clamp<std::int64_t>(room, 0, tokens);
      for (std::int64_t i = 0; i < count; ++i) {
        const float* const row = x + (i * tokens + tokens / 2) / count * rows.columns;
        rows.values.insert(rows.values.end(), row, row + rows.columns);
      }
      for (UnitId other = id; other < units_.first(layer + 1); ++other) {
        if (inputs_of(other).rows != mine.rows) continue;
        for (std::int64_t i = std::ssize(inputs_of(other).chosen); i < rows.count(); ++i)
          inputs_of(other).chosen.push_back(static_cast<std::int32_t>(i));
      }
      return;
    }
  }

  static constexpr std::int64_t leap_tokens = 181;

  const models::Model& model_;
  const UnitTable& units_;
  const kernels::Device& device_;
  const CalibrationSettings& settings_;
  kernels::Stream& stream_;
  std::int64_t total_tokens_;       // of the calibration
  std::vector<std::int64_t> seen_;  // [layers], routed tokens so far
  Calibration out_;
  std::int64_t max_rows_ = 0;                      // of each store
  std::vector<std::vector<std::int32_t>> chosen_;  // [experts], tokens of the pass
  std::vector<float> gathered_;
};

std::uint64_t calibration_fingerprint(const Windows& windows, const CalibrationSettings& settings) {
  checkpoint::RunningChecksum sum;
  const std::int64_t numbers[] = {settings.rows_per_unit, settings.row_memory_bytes, std::ssize(windows)};
  sum.add(std::as_bytes(std::span(numbers)));
  for (const auto& window : windows) sum.add(std::as_bytes(std::span(window)));
  return std::max<std::uint64_t>(sum.value(), 1);
}

Result<Calibration> calibrate(const models::Model& model, const UnitTable& units,
                              const kernels::Device& device, const Windows& windows,
                              const CalibrationSettings& settings, const ProgressSink& progress,
                              std::stop_token stop) {
  std::int64_t longest = 0, total = 0, done = 0;
  for (const auto& window : windows) {
    longest = std::max(longest, std::ssize(window));
    total += std::ssize(window);
  }
  if (longest < 2) return fail(phrases::calibration_place(), errors::calibration_text_too_short());
  FOVEA_TRY(WindowRunner runner, WindowRunner::create(model, device, longest, settings.threads));
  Collector collector(model, units, device, settings, total, runner.stream());
  for (const auto& window : windows) {
    if (progress) progress({Progress::Stage::calibrating, done, total, Progress::Unit::tokens, {}});
    FOVEA_CHECK(runner.run(window, &collector, {}, stop));
    done += std::ssize(window);
  }
  return collector.finish(calibration_fingerprint(windows, settings));
}

}  // namespace fovea::precision
