#include "engine/layers/steps.h"

#include <algorithm>
#include <array>

namespace fovea::layers {

void DeviceSteps::logits(std::int64_t first, kernels::Linear linear, const kernels::Weight& weight,
                         float cap) {
  for (std::int64_t left = linear.tokens; left > 0; left -= linear.tokens) {
    const Staging::LogitsRoom room = staging_.logits_room(first);
    linear.tokens = std::min(left, room.rows);
    const std::array output{
        kernels::Projection{.weight = weight, .out = room.values, .out_stride = weight.rows}};
    linear.projections = output;
    op_.linear(linear, stream_);
    if (cap != 0) op_.soft_cap({.x = room.values, .count = linear.tokens * weight.rows, .cap = cap}, stream_);
    staging_.read_logits(first, linear.tokens, stream_);
    linear.x += linear.tokens * linear.columns;
    linear.quantised = nullptr;
    first += linear.tokens;
  }
}

}  // namespace fovea::layers
