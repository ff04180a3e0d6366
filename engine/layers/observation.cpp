#include "engine/layers/observation.h"

#include <algorithm>
#include <vector>

namespace fovea::layers {

template <class F>
bool ObservedSteps::each_segment(std::int64_t layer, const Rows& rows, F&& f) const {
  for (std::size_t segment = 0; segment < batch_.parts.size(); ++segment) {
    const Rows own = common(rows, batch_.parts[segment].rows);
    if (own.count == 0) continue;
    const PassObserver::Where where{
        .segment = segment, .layer = layer, .tokens = own.count, .last = own.end() == rows.end()};
    if (!f(where, own.first - rows.first)) return false;
  }
  return true;
}

void ObservedSteps::tell_input(std::int64_t layer, Input input, const Rows& rows, const float* x,
                               std::int64_t columns) const {
  if (staging_.comes_late() && needs_ != PassObserver::Needs::activations) return;
  // Of q, k and v the first row is the pass's, of the others the first that is left: x begins with it.
  const float* const values = staging_.read(x, rows.count * columns, stream_);
  each_segment(layer, rows, [&](const PassObserver::Where& where, std::int64_t first) {
    observer_.input(where, input, values + first * columns);
    return true;
  });
}

bool ObservedSteps::tell_choices(std::int64_t layer, const Rows& rows,
                                 const kernels::FeedForward& block) const {
  staging_.read_choices(layer, layer, rows.count, stream_);
  const float* x = nullptr;
  if (needs_ == PassObserver::Needs::activations) {
    x = staging_.read(block.x, rows.count * block.d, stream_);
  } else if (staging_.comes_late()) {
    stream_.synchronize();
  }
  // What a device that has failed leaves here are no choices.
  return stream_.failure().empty() && tell(layer, rows, x);
}

bool ObservedSteps::tell(std::int64_t layer, const Rows& rows, const float* x) const {
  const Choices choices = staging_.choices(layer, rows.count);
  const std::int64_t d = config_.hidden, used = config_.layer(layer).experts->used;
  return each_segment(layer, rows, [&](const PassObserver::Where& where, std::int64_t first) {
    return observer_.routed(where, x ? x + first * d : nullptr, choices.ids + first * used,
                            choices.weights + first * used);
  });
}

// Once more, where the observer has other weights for them.
bool ObservedSteps::compute_first_tokens(std::int64_t layer, const Rows& rows,
                                         const kernels::FeedForward& block) {
  const auto used = static_cast<std::size_t>(block.used);
  for (const Batch::Part& part : batch_.parts) {
    const Rows first{part.rows.first, 1};
    if (part.first != 0 || common(rows, first).count == 0) continue;
    const std::int64_t row = first.first - rows.first;
    const std::span<const std::int32_t> chosen(block.ids + row * block.used, used);
    const auto instead = observer_.first_token(layer, chosen);
    if (instead.empty()) continue;
    std::vector<kernels::Expert> experts(used);
    std::vector<std::int32_t> ids(used);
    for (std::size_t i = 0; i < used; ++i) {
      // In the order of their numbers, in which the processor adds them up.
      const auto rank = std::ranges::count_if(chosen, [&](std::int32_t other) { return other < chosen[i]; });
      ids[i] = static_cast<std::int32_t>(rank);
      kernels::Expert& expert = experts[static_cast<std::size_t>(rank)];
      expert = block.experts[static_cast<std::size_t>(chosen[i])];
      const auto& [gate, up, down] = instead[i];
      expert.gate = gate;
      expert.up = up;
      expert.down = down;
    }
    kernels::FeedForward one = block;
    one.x += row * block.d;
    one.tokens = 1;
    one.experts = experts;
    one.ids = ids.data();
    one.weights += row * block.used;
    if (one.shared_weights != nullptr) one.shared_weights += row;
    one.out += row * block.d;
    one.quantised = nullptr;  // it is of all rows
    if (!inner_.feed_forward(layer, first, one)) return false;
  }
  return true;
}

void ObservedSteps::read_history() const {
  if (!tells_later()) return;
  std::int64_t last = layers_.end - 1;
  while (last >= layers_.first && routed_rows(last) == 0) --last;
  if (last >= layers_.first) staging_.read_choices(layers_.first, last, routed_rows(last), stream_);
}

bool ObservedSteps::tell_history() const {
  if (!tells_later() || !stream_.failure().empty()) return true;
  for (std::int64_t layer = layers_.first; layer < layers_.end; ++layer) {
    if (routed_rows(layer) > 0 && !tell(layer, batch_.routed(layer, config_.layer_count()), nullptr))
      return false;
  }
  return true;
}

}  // namespace fovea::layers
