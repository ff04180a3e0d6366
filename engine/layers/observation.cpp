#include "engine/layers/observation.h"

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

void ObservedSteps::read_history() const {
  if (!tells_later()) return;
  std::int64_t last = config_.layer_count() - 1;
  while (last >= 0 && routed_rows(last) == 0) --last;
  if (last >= 0) staging_.read_choices(0, last, routed_rows(last), stream_);
}

bool ObservedSteps::tell_history() const {
  if (!tells_later() || !stream_.failure().empty()) return true;
  for (std::int64_t layer = 0; layer < config_.layer_count(); ++layer) {
    if (routed_rows(layer) > 0 && !tell(layer, batch_.routed(layer, config_.layer_count()), nullptr))
      return false;
  }
  return true;
}

}  // namespace fovea::layers
