#include "engine/layers/graphs.h"

#include <algorithm>
#include <string>

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
  // Eight of a layer with experts, and where the processor has a part three copies, an addition and a norm
  // more; of each further sequence those of attention.
  constexpr std::int64_t kernels_of_layer = 13, kernels_of_attention = 3;
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
  if (known.steps.empty()) return capture(known, work);
  ++use_.launched;
  return {.by_graph = true, .whole = replay(known, stop)};
}

// The one that was not used for the longest time, if there are as many as are kept.
void Graphs::forget_a_batch() {
  if (std::ranges::count_if(known_, &Known::is_batch) < max_batches) return;
  known_.erase(std::ranges::find_if(known_, &Known::is_batch));
}

bool Graphs::replay(const Known& known, const std::stop_token& stop) const {
  for (const Step& step : known.steps) {
    if (step.section) {
      stream_->launch(*step.section);
    } else if (!step.aside() || stop.stop_requested()) {
      return false;
    }
  }
  return true;
}

// The pass is done meanwhile, section by section.
Graphs::Ran Graphs::capture(Known& known, const Work& work) {
  noted_ = &known.steps;
  bool whole = begin_section() && work();
  if (capturing_) whole = end_section() && whole;
  noted_ = nullptr;
  if (whole) {
    const auto sections =
        std::ranges::count_if(known.steps, [](const Step& s) { return s.section != nullptr; });
    ++use_.captured;
    ++use_.launched;
    use_.sections += sections;
    log::debug("layers", "captured decoding of ", known.shape.parts.size(), " up to position ",
               known.shape.parts.front().max_first, " in ", sections, " sections, as graph ", use_.captured);
    return {.by_graph = true};
  }
  stream_->synchronize();  // what has begun of it
  known.steps.clear();
  return {.whole = !captures_ && work()};
}

bool Graphs::begin_section() {
  captures_ = capturing_ = stream_->begin_capture();
  return capturing_;
}

bool Graphs::end_section() {
  std::string why;
  Step step{.section = stream_->end_capture(why), .aside = {}};
  capturing_ = false;
  captures_ = step.section != nullptr;
  if (!captures_) {
    log::warning("layers", "decoding goes on without graphs, which is slower: ", why);
    return false;
  }
  stream_->launch(*step.section);
  noted_->push_back(std::move(step));
  return true;
}

bool Graphs::aside(Aside step) {
  if (noted_ == nullptr) return step();
  if (!end_section() || !step()) return false;
  noted_->push_back({.section = nullptr, .aside = std::move(step)});
  return begin_section();
}

}  // namespace fovea::layers
