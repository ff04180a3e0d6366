#include "engine/layers/graphs.h"

#include <algorithm>
#include <string>

#include "engine/core/log.h"

namespace fovea::layers {
namespace {

constexpr std::int64_t fewest_pages = 4;  // of the shortest reach
constexpr std::size_t most_shapes = 64;   // far more than a context's reaches, observed and not

bool equal(const kernels::Weight& a, const kernels::Weight& b) {
  return a.data == b.data && a.type == b.type && a.packing == b.packing && a.rows == b.rows &&
         a.columns == b.columns;
}

}  // namespace

std::int64_t Graphs::most_first(std::int64_t first, std::int64_t page_tokens) {
  std::int64_t room = fewest_pages * page_tokens;
  while (room <= first) room *= 2;
  return room - 1;
}

std::int64_t Graphs::driver_bytes(std::int64_t layers, std::int64_t context, std::int64_t page_tokens) {
  constexpr std::int64_t kernels_of_layer = 14;  // and copies: about 12 are
  constexpr std::int64_t kernel_bytes = 64 << 10;
  std::int64_t graphs = 1;
  for (std::int64_t reach = fewest_pages * page_tokens; reach < context; reach *= 2) ++graphs;
  return graphs * (layers + 1) * kernels_of_layer * kernel_bytes;
}

bool Graphs::run(const Shape& shape, std::span<const kernels::Weight> inside, kernels::Stream& stream,
                 const Work& work) {
  if (!captures_) {
    work();
    return false;
  }
  if (&stream != stream_ || known_.size() > most_shapes || !std::ranges::equal(inside, inside_, equal)) {
    known_.clear();
    inside_.assign(inside.begin(), inside.end());
    stream_ = &stream;
  }
  const auto found = std::ranges::find(known_, shape, &Known::shape);
  if (found == known_.end()) {
    known_.push_back({shape, nullptr});
    work();
    return false;
  }
  if (found->graph == nullptr && !capture(*found, stream, work)) {
    work();
    return false;
  }
  stream.launch(*found->graph);
  ++use_.launched;
  return true;
}

bool Graphs::capture(Known& known, kernels::Stream& stream, const Work& work) {
  captures_ = stream.begin_capture();
  if (!captures_) return false;
  work();
  std::string why;
  known.graph = stream.end_capture(why);
  captures_ = known.graph != nullptr;
  if (!captures_) {
    log::warning("layers", "decoding goes on without graphs, which is slower: ", why);
    return false;
  }
  ++use_.captured;
  log::debug("layers", "captured decoding up to position ", known.shape.most_first, " as graph ",
             use_.captured);
  return true;
}

}  // namespace fovea::layers
