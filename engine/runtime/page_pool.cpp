#include "engine/runtime/page_pool.h"

#include <string>
#include <vector>

#include "engine/core/result.h"
#include "engine/runtime/errors.h"

namespace fovea::runtime {

Result<void> PageShape::check() const {
  const kernels::BlockShape block = kernels::block_shape(type);
  for (const Layer& layer : layers) {
    if (layer.head_dim % block.elements == 0) continue;
    return fail(phrases::option_place("kv"),
                errors::kv_type_needs_heads(kernels::type_name(type), block.elements, layer.head_dim));
  }
  return {};
}

Result<PagePool> PagePool::create(const PageShape& shape, std::int64_t pages, const kernels::Device& device,
                                  kernels::Stream& stream) {
  FOVEA_CHECK(shape.check());
  const std::int64_t bytes = pages * shape.page_bytes();
  Arena arena(bytes > 0 ? device.allocate(bytes) : nullptr, Release{&device, bytes});
  if (!arena && bytes > 0) {
    return fail(phrases::kv_cache_place(),
                errors::no_memory_for_tokens(Bytes{bytes}, pages * shape.page_tokens));
  }
  return PagePool(shape, pages, std::move(arena), device, stream);
}

PagePool::PagePool(const PageShape& shape, std::int64_t pages, Arena arena, const kernels::Device& device,
                   kernels::Stream& stream)
    : shape_(shape), pages_(pages), arena_(std::move(arena)), device_(&device), stream_(&stream) {
  for (const PageShape::Layer& layer : shape_.layers) {
    offsets_.push_back(page_bytes_);
    page_bytes_ += 2 * shape_.plane_bytes(layer);
  }
}

void PagePool::copy(PageId from, PageId to, std::int64_t tokens) const {
  // Layers of one shape are nothing but heads, one behind the other.
  const std::vector<PageShape::Layer>& layers = shape_.layers;
  for (std::size_t first = 0, end = 0; first < layers.size(); first = end) {
    while (end < layers.size() && layers[end] == layers[first]) ++end;
    const std::int64_t row = shape_.row_bytes(layers[first]);
    const std::int64_t heads = 2 * static_cast<std::int64_t>(end - first) * layers[first].kv_heads;
    if (heads == 0) continue;
    device_->copy_within(keys(to, first), keys(from, first), tokens * row, shape_.page_tokens * row, heads,
                         *stream_);
  }
}

void PagePool::poison(PageId page) const {
  if (page_bytes_ == 0) return;
  const std::vector<std::byte> bytes(static_cast<std::size_t>(page_bytes_), std::byte{0xFF});
  device_->copy(this->page(page), bytes.data(), page_bytes_, *stream_);
  stream_->synchronize();  // the bytes go
}

}  // namespace fovea::runtime
