#include "engine/runtime/page_pool.h"

#include <cstring>
#include <string>

#include "engine/core/result.h"

namespace fovea::runtime {

Result<PagePool> PagePool::create(const PageShape& shape, std::int64_t pages, const kernels::Device& device) {
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
  return PagePool(shape, pages, std::move(arena));
}

void PagePool::copy(PageId from, PageId to, std::int64_t tokens) const {
  const auto bytes = static_cast<std::size_t>(tokens * shape_.row_bytes());
  const std::int64_t head_bytes = shape_.page_tokens * shape_.row_bytes();
  for (std::int64_t index = 0; index < 2 * shape_.layers; ++index) {
    for (std::int64_t head = 0; head < shape_.kv_heads; ++head)
      std::memcpy(plane(to, index) + head * head_bytes, plane(from, index) + head * head_bytes, bytes);
  }
}

void PagePool::poison(PageId page) const {
  std::memset(plane(page, 0), 0xFF, static_cast<std::size_t>(shape_.page_bytes()));
}

}  // namespace fovea::runtime
