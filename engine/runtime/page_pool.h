// The memory of the KV cache: one arena, cut into pages when a model is loaded and never resized.
//
// A page holds `page_tokens` positions of every layer. Within it lie, for each layer, first the keys and then
// the values, each [kv_heads, page_tokens, head_dim] as kernels::KvPages describes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/api/error.h"
#include "kernels/api/device.h"
#include "kernels/api/types.h"

namespace fovea::runtime {

struct PageShape {
  std::int64_t layers = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t page_tokens = 64;
  kernels::Type type = kernels::Type::f16;

  std::int64_t row_bytes() const { return kernels::row_bytes(type, head_dim); }  // one head at one position
  std::int64_t plane_bytes() const { return kv_heads * page_tokens * row_bytes(); }  // one layer's keys
  std::int64_t page_bytes() const { return layers * 2 * plane_bytes(); }
  std::int64_t token_bytes() const { return layers * 2 * kv_heads * row_bytes(); }
};

using PageId = std::int32_t;
inline constexpr PageId no_page = -1;

class PagePool {
 public:
  // Pages are copied in the stream's order. ErrorKind::memory says how many bytes the pages need.
  static Result<PagePool> create(const PageShape& shape, std::int64_t pages, const kernels::Device& device,
                                 kernels::Stream& stream);

  const PageShape& shape() const { return shape_; }
  std::int64_t pages() const { return pages_; }
  std::int64_t bytes() const { return pages_ * shape_.page_bytes(); }

  std::byte* keys(PageId page, std::int64_t layer) const { return plane(page, 2 * layer); }
  std::byte* values(PageId page, std::int64_t layer) const { return plane(page, 2 * layer + 1); }
  // The first `tokens` positions of every layer.
  void copy(PageId from, PageId to, std::int64_t tokens) const;
  // Fills the page with bytes that are not-a-number in every type, so that a read of what nobody wrote shows.
  void poison(PageId page) const;

 private:
  struct Release {
    const kernels::Device* device;
    std::int64_t bytes;
    void operator()(std::byte* memory) const { device->release(memory, bytes); }
  };
  using Arena = std::unique_ptr<std::byte, Release>;
  PagePool(const PageShape& shape, std::int64_t pages, Arena arena, const kernels::Device& device,
           kernels::Stream& stream)
      : shape_(shape), pages_(pages), arena_(std::move(arena)), device_(&device), stream_(&stream) {}
  std::byte* plane(PageId page, std::int64_t index) const {
    return arena_.get() + page * shape_.page_bytes() + index * shape_.plane_bytes();
  }

  PageShape shape_;
  std::int64_t pages_ = 0;
  Arena arena_;
  const kernels::Device* device_;
  kernels::Stream* stream_;
};

}  // namespace fovea::runtime
