#include "engine/layers/graphs.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/core/log.h"

namespace fovea::layers {
namespace {

constexpr std::int64_t min_pages = 4;   // of the shortest reach
constexpr std::size_t max_shapes = 64;  // far more than a context's reaches, observed and not
// Of several sequences, whose reaches can be mixed in many ways: a mix stays for hundreds of tokens.
constexpr std::int64_t max_batches = 2;

bool equal(const kernels::Weight& a, const kernels::Weight& b) {
  return a.data == b.data && a.type == b.type && a.packing == b.packing && a.rows == b.rows &&
         a.columns == b.columns;
}

}  // namespace

std::int64_t Graphs::max_first(std::int64_t first, std::int64_t page_tokens) {
  std::int64_t room = min_pages * page_tokens;
  while (room <= first) room *= 2;
  return room - 1;
}

std::int64_t Graphs::driver_bytes(std::int64_t layers, std::int64_t context, std::int64_t page_tokens,
                                  std::int64_t sequences) {
  // Seven to ten of a layer with experts, two more where the processor has a part, and more where a layer has
  // norms and inputs of its own; of each further sequence those of attention.
  constexpr std::int64_t kernels_of_layer = 14, kernels_of_attention = 3;
  constexpr std::int64_t kernel_bytes = 64 << 10;
  std::int64_t graphs = 1;
  for (std::int64_t reach = min_pages * page_tokens; reach < context; reach *= 2) ++graphs;
  std::int64_t kernels = graphs * kernels_of_layer;
  if (sequences > 1) kernels += max_batches * (kernels_of_layer + (sequences - 1) * kernels_of_attention);
  return (layers + 1) * kernels * kernel_bytes;
}

Graphs::Ran Graphs::run(const Shape& shape, std::span<const kernels::Weight> inside, kernels::Stream& stream,
                        const std::stop_token& stop, const Work& work) {
  if (!captures_) return {.whole = work()};
  if (&stream != stream_ || known_.size() > max_shapes || !std::ranges::equal(inside, inside_, equal)) {
    known_.clear();
    inside_.assign(inside.begin(), inside.end());
    stream_ = &stream;
  }
  const auto found = std::ranges::find(known_, shape, &Known::shape);
  if (found == known_.end()) {
    if (shape.parts.size() > 1) forget_a_batch();
    known_.push_back({shape, {}});
    return {.whole = work()};
  }
  std::rotate(found, found + 1, known_.end());  // the last one used is the last
  Known& known = known_.back();
  if (!known.graph) return capture(known, stop, work);
  ++use_.launched;
  return {.by_graph = true, .whole = launch(known, stop)};
}

// The one that was not used for the longest time, if there are as many as are kept.
void Graphs::forget_a_batch() {
  if (std::ranges::count_if(known_, &Known::is_batch) < max_batches) return;
  known_.erase(std::ranges::find_if(known_, &Known::is_batch));
}

bool Graphs::launch(const Known& known, const std::stop_token& stop) const {
  stream_->launch(*known.graph);
  bool whole = true;
  for (const Beside& step : known.beside) {
    whole = whole && !stop.stop_requested();
    whole = step(whole) && whole;
  }
  return whole;
}

Graphs::Ran Graphs::capture(Known& known, const std::stop_token& stop, const Work& work) {
  captures_ = stream_->begin_capture();
  if (!captures_) return {.whole = work()};
  known.beside.clear();  // of a capture that failed
  noted_ = &known.beside;
  const bool whole = work();
  noted_ = nullptr;
  std::string why;
  known.graph = stream_->end_capture(why);
  captures_ = known.graph != nullptr;
  if (!captures_) {
    log::warning("layers", "decoding goes on without graphs, which is slower: ", why);
    return {.whole = work()};
  }
  if (!whole) {  // it was only noted
    known.graph = nullptr;
    known.beside.clear();
    return {.whole = false};
  }
  ++use_.captured;
  ++use_.launched;
  log::debug("layers", "captured decoding of ", known.shape.parts.size(), " up to position ",
             known.shape.parts.front().max_first, " as graph ", use_.captured);
  return {.by_graph = true, .whole = launch(known, stop)};
}

bool Graphs::beside(Beside step) {
  if (noted_ == nullptr) return step(true);
  noted_->push_back(std::move(step));
  return true;
}

}  // namespace fovea::layers
