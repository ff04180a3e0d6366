#include "engine/precision/prepare_check.h"

#include <cmath>

namespace fovea::precision {

OutputCheck::OutputCheck(const PrepareParts& parts, std::int64_t bytes)
    : parts_(parts), reference_(parts.device, bytes) {
  if (bytes > 0) stream_ = parts.device.make_stream({.threads = 1});
}

Result<void> OutputCheck::begin(VersionMaker& maker, UnitId id) {
  const Tier as_file{"file", std::nullopt};
  unit_ = id;
  inputs_ = parts_.calibration->inputs(id);
  const Unit& unit = parts_.units[id];
  const std::int64_t bytes = version_layout(as_file, unit, parts_.device).bytes;
  FOVEA_CHECK(maker.make(as_file, unit, {}, reference_.first(bytes)));
  run(as_file, reference_.first(bytes).data(), expected_);
  return {};
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

void OutputCheck::run(const Tier& tier, const std::byte* memory, std::vector<float>& out) {
  const Unit& unit = parts_.units[unit_];
  const auto weights = weights_at(tier, unit, parts_.device, memory);
  const std::int64_t columns = unit.parts[0].columns;
  const std::int64_t outputs = unit.parts[static_cast<std::size_t>(unit.part_count) - 1].rows;
  const std::int64_t tokens = std::ssize(inputs_) / columns;
  out.assign(static_cast<std::size_t>(tokens * outputs), 0.0F);
  if (tokens == 0) return;
  const kernels::OperationTable& op = parts_.device.operations();
  if (unit.part_count == 3) {
    const kernels::Expert expert{weights[0], weights[1], weights[2]};
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
