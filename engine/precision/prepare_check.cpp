#include "engine/precision/prepare_check.h"

#include <cmath>

namespace fovea::precision {
namespace {

constexpr std::int64_t min_inputs = 64;  // for a metric
constexpr float shrinkage = 0.1F;
constexpr float max_kept = 0.5F;
constexpr std::int64_t measured_share = 4;  // every fourth input is kept from the quantiser

constexpr std::int64_t together = 8;  // inputs, for each pass over the moments
constexpr std::size_t tile = 16;

// sums[j] += Σ over the inputs of factors[r] · inputs[r, j], for the tile of columns j.
void add_tile(const float* const (&inputs)[together], const float (&factors)[together], std::size_t column,
              float* sums) {
  float kept[tile];
  for (std::size_t j = 0; j < tile; ++j) kept[j] = sums[column + j];
  for (std::size_t r = 0; r < together; ++r) {
    for (std::size_t j = 0; j < tile; ++j) kept[j] += factors[r] * inputs[r][column + j];
  }
  for (std::size_t j = 0; j < tile; ++j) sums[column + j] = kept[j];
}

// Σ x xᵀ of rows [count, columns]; the lower triangle, and some of what is above it. columns is a multiple of
// 16.
std::vector<float> second_moments(std::span<const float> rows, std::int64_t columns) {
  const auto n = static_cast<std::size_t>(columns);
  const std::size_t count = rows.size() / n;
  const std::vector<float> none(n);
  std::vector<float> sums(n * n);
  for (std::size_t first = 0; first < count; first += together) {
    const float* inputs[together];
    for (std::size_t r = 0; r < together; ++r)
      inputs[r] = first + r < count ? rows.data() + (first + r) * n : none.data();
    for (std::size_t i = 0; i < n; ++i) {
      float factors[together];
      for (std::size_t r = 0; r < together; ++r) factors[r] = inputs[r][i];
      for (std::size_t column = 0; column <= i; column += tile)
        add_tile(inputs, factors, column, sums.data() + i * n);
    }
  }
  return sums;
}

// What columns mean together comes from few inputs, `rows` [count, columns], and half of that is chance or
// goes with the text: more than half makes the errors on other inputs larger (docs/tiers.md). What they mean
// each comes from all inputs of the calibration.
std::optional<kernels::formats::InputMetric> metric_of(std::span<const float> rows, std::int64_t columns,
                                                       std::span<const float> mean_squares) {
  constexpr std::int64_t metric_block = 32;
  if (columns % metric_block != 0) return std::nullopt;
  std::vector<float> sums = second_moments(rows, columns);
  const auto count = static_cast<float>(std::ssize(rows) / columns);
  const float kept = max_kept * count / (count + shrinkage * static_cast<float>(columns));
  const auto n = static_cast<std::size_t>(columns);
  std::vector<float> scales(n);
  for (std::size_t i = 0; i < n; ++i) {
    float& square = sums[i * n + i];
    const float wanted = mean_squares.empty() ? square : mean_squares[i] * count;
    scales[i] = square > 0 ? std::sqrt(wanted / square) : 0;
    square = wanted;
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) sums[i * n + j] *= kept * scales[i] * scales[j];
  }
  return kernels::formats::InputMetric::make(sums.data(), columns);
}

}  // namespace

OutputCheck::OutputCheck(const PrepareParts& parts, std::int64_t bytes)
    : parts_(parts), maker_(parts.checkpoint), reference_(parts.computes, bytes) {
  if (bytes > 0) stream_ = parts.computes.make_stream({.threads = 1});
}

Result<void> OutputCheck::begin(UnitId id) {
  const Tier as_file{"file", std::nullopt};
  unit_ = id;
  input_metric_.reset();
  hidden_metric_.reset();
  const Unit& unit = parts_.units[id];
  for (std::size_t i = 0; i < biases_.size(); ++i) {
    biases_[i].resize(static_cast<std::size_t>(unit.biases[i].count));
    if (unit.biases[i]) unit.biases[i].read(parts_.checkpoint, biases_[i].data());
  }
  const std::int64_t bytes = version_layout(as_file, unit, parts_.computes).bytes;
  const VersionMaker::Target target{parts_.computes, reference_.first(bytes)};
  FOVEA_CHECK(maker_.make(as_file, unit, {}, {&target, 1}));
  inputs_ = parts_.calibration->inputs(id);
  const std::int64_t columns = unit.parts[0].columns;
  if (std::ssize(inputs_) / columns >= min_inputs) {
    std::vector<float> learned, measured;
    for (std::int64_t row = 0; row < std::ssize(inputs_) / columns; ++row) {
      std::vector<float>& target = row % measured_share == 0 ? measured : learned;
      target.insert(target.end(), inputs_.begin() + row * columns, inputs_.begin() + (row + 1) * columns);
    }
    learn(learned);
    inputs_ = std::move(measured);
  }
  run(as_file, reference_.first(bytes).data(), expected_);
  return {};
}

void OutputCheck::learn(std::span<const float> inputs) {
  const Unit& unit = parts_.units[unit_];
  const std::int64_t columns = unit.parts[0].columns;
  const Importance importance = parts_.calibration->importance(unit_);
  input_metric_ = metric_of(inputs, columns, importance[0]);
  if (unit.part_count < 3) return;
  const auto weights = weights_at({"file", std::nullopt}, unit, parts_.computes, reference_.first(1).data());
  hidden_metric_ = metric_of(hidden_activations(expert(weights), inputs, parts_.computes, *stream_),
                             unit.parts[2].columns, importance[2]);
}

std::array<const kernels::formats::InputMetric*, 3> OutputCheck::metrics() const {
  const auto* input = input_metric_ ? &*input_metric_ : nullptr;
  const auto* hidden = hidden_metric_ ? &*hidden_metric_ : nullptr;
  return {input, input, hidden};
}

float OutputCheck::error(const Tier& tier, const std::byte* memory) {
  run(tier, memory, actual_);
  double distance = 0, size = 0;
  for (std::size_t i = 0; i < expected_.size(); ++i) {
    const double difference = static_cast<double>(expected_[i]) - static_cast<double>(actual_[i]);
    distance += difference * difference;
    size += static_cast<double>(expected_[i]) * static_cast<double>(expected_[i]);
  }
  const double error = size > 0 ? std::sqrt(distance / size) : 0;
  return std::isfinite(error) ? static_cast<float>(error) : 0.0F;
}

kernels::Expert OutputCheck::expert(const std::array<kernels::Weight, 3>& weights) const {
  const auto bias = [this](std::size_t part) {
    return biases_[part].empty() ? nullptr : biases_[part].data();
  };
  return {.gate = weights[0],
          .up = weights[1],
          .down = weights[2],
          .activation = parts_.units[unit_].activation,
          .gate_bias = bias(0),
          .up_bias = bias(1),
          .down_bias = bias(2)};
}

void OutputCheck::run(const Tier& tier, const std::byte* memory, std::vector<float>& out) {
  const Unit& unit = parts_.units[unit_];
  const auto weights = weights_at(tier, unit, parts_.computes, memory);
  const std::int64_t columns = unit.parts[0].columns;
  const std::int64_t outputs = unit.parts[static_cast<std::size_t>(unit.part_count) - 1].rows;
  const std::int64_t tokens = std::ssize(inputs_) / columns;
  out.assign(static_cast<std::size_t>(tokens * outputs), 0.0F);
  if (tokens == 0) return;
  const kernels::OperationTable& op = parts_.computes.operations();
  if (unit.part_count == 3) {
    const kernels::Expert expert = this->expert(weights);
    op.feed_forward({.x = inputs_.data(),
                     .tokens = tokens,
                     .d = columns,
                     .experts = {},
                     .shared = &expert,
                     .out = out.data()},
                    *stream_);
  } else {
    const kernels::Projection projection{.weight = weights[0], .out = out.data(), .out_stride = outputs};
    op.linear({.x = inputs_.data(), .tokens = tokens, .columns = columns, .projections = {&projection, 1}},
              *stream_);
  }
  stream_->synchronize();
}

}  // namespace fovea::precision
