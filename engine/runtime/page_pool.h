// The memory of the KV cache: one arena, cut into pages when a model is loaded and never resized.
//
// A page holds `page_tokens` positions of every layer. Within it lie, for each layer, first the keys and then
// the values, each [kv_heads, page_tokens, head_dim] as kernels::KvPages describes; of a layer that keeps no
// keys and values nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/api/error.h"
#include "kernels/api/device.h"
#include "kernels/api/types.h"

namespace fovea::runtime {

// Of a token in all layers, which may be spread over several pools.
struct PageShape {
  struct Layer {
    std::int64_t kv_heads = 0;  // 0: it keeps no keys and values
    std::int64_t head_dim = 0;
    bool has_window = false;  // it sees the last positions only
    bool operator==(const Layer&) const = default;
  };
  std::vector<Layer> layers;
  std::int64_t page_tokens = 64;
  kernels::Type type = kernels::Type::f16;

  // One head at one position, and one layer's keys.
  std::int64_t row_bytes(const Layer& layer) const { return kernels::row_bytes(type, layer.head_dim); }
  std::int64_t plane_bytes(const Layer& layer) const {
    return layer.kv_heads * page_tokens * row_bytes(layer);
  }
  std::int64_t token_bytes() const {
    std::int64_t bytes = 0;
    for (const Layer& layer : layers) bytes += 2 * layer.kv_heads * row_bytes(layer);
    return bytes;
  }
  std::int64_t page_bytes() const { return token_bytes() * page_tokens; }
  Result<void> check() const;  // that heads are whole blocks of the type
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

  std::byte* page(PageId page) const { return arena_.get() + page * page_bytes_; }
  std::byte* keys(PageId page, std::size_t layer) const { return this->page(page) + offsets_[layer]; }
  std::byte* values(PageId page, std::size_t layer) const {
    return keys(page, layer) + shape_.plane_bytes(shape_.layers[layer]);
  }
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
           kernels::Stream& stream);

  PageShape shape_;
  std::int64_t page_bytes_ = 0;
  std::vector<std::int64_t> offsets_;  // [layers], of the keys in a page
  std::int64_t pages_ = 0;
  Arena arena_;
  const kernels::Device* device_;
  kernels::Stream* stream_;
};

}  // namespace fovea::runtime
