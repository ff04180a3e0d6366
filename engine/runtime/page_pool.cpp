#include "engine/runtime/page_pool.h"

#include <string>
#include <vector>

#include "engine/core/result.h"

namespace fovea::runtime {

Result<PagePool> PagePool::create(const PageShape& shape, std::int64_t pages, const kernels::Device& device,
                                  kernels::Stream& stream) {
  const kernels::BlockShape block = kernels::block_shape(shape.type);
  if (shape.head_dim % block.elements != 0) {
    return fail(ErrorKind::unsupported, "kv",
                "a KV cache of " + std::string(kernels::type_name(shape.type)) +
                    " needs heads of a multiple of " + std::to_string(block.elements) +
                    " elements, the model's have " + std::to_string(shape.head_dim),
                "Choose f16 or f32 for the KV cache");
  }
  const std::int64_t bytes = pages * shape.page_bytes();
  Arena arena(device.allocate(bytes), Release{&device, bytes});
  if (!arena) {
    return fail(ErrorKind::memory, "KV cache",
                std::to_string(bytes) + " bytes for " + std::to_string(pages * shape.page_tokens) +
                    " tokens are not available",
                "Choose a shorter context or a smaller KV type");
  }
  return PagePool(shape, pages, std::move(arena), device, stream);
}

void PagePool::copy(PageId from, PageId to, std::int64_t tokens) const {
  // A page is nothing but heads, one behind the other.
  device_->copy_within(plane(to, 0), plane(from, 0), tokens * shape_.row_bytes(),
                       shape_.page_tokens * shape_.row_bytes(), 2 * shape_.layers * shape_.kv_heads,
                       *stream_);
}

void PagePool::poison(PageId page) const {
  const std::vector<std::byte> bytes(static_cast<std::size_t>(shape_.page_bytes()), std::byte{0xFF});
  device_->copy(plane(page, 0), bytes.data(), shape_.page_bytes(), *stream_);
  stream_->synchronize();  // the bytes go
}

}  // namespace fovea::runtime
