// kv_store: one warp for each 32 values of a head's key or value. A few kilobytes: bound by the launch.
#include "kernels/cuda/cache.h"
#include "kernels/cuda/grid.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/reduce.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned threads = 128;

template <Type type>
FOVEA_DEVICE void store(float value, bool wanted, std::byte* entry, int i) {
  if constexpr (type == Type::f32) {
    if (wanted) reinterpret_cast<float*>(entry)[i] = value;
  } else if constexpr (type == Type::f16) {
    if (wanted) reinterpret_cast<std::uint16_t*>(entry)[i] = float_to_half(value);
  } else {
    // head_dim is a multiple of 32: the warp holds a block.
    const float scale = largest_of_lanes(fabsf(value)) / 127.0F;
    const int q = scale > 0.0F ? float_to_int_nearest(value / scale) : 0;
    if (!wanted) return;
    auto* const block = reinterpret_cast<formats::BlockQ8_0*>(entry) + i / 32;
    block->qs[i % 32] = static_cast<std::int8_t>(q);
    if (i % 32 == 0) block->d = float_to_half(scale);
  }
}

template <Type type>
FOVEA_KERNEL(threads)
store_kernel(KvStore op) {
  const int dim = static_cast<int>(op.pages.head_dim);
  const int parts = (dim + 31) / 32;
  const std::int64_t item = std::int64_t{block_x()} * (threads / 32) + thread_index() / 32;
  const std::int64_t token = item / (op.pages.kv_heads * parts);
  const std::int64_t head = item / parts % op.pages.kv_heads;
  const int i = static_cast<int>(item % parts) * 32 + static_cast<int>(thread_index() % 32);
  const bool wanted = token < op.tokens && i < dim;
  const bool is_value = block_y() == 1;
  const float* const x = is_value ? op.v + token * op.v_stride : op.k + token * op.k_stride;
  const float value = wanted ? x[head * dim + i] : 0.0F;
  const std::int64_t first = op.position ? *op.position : op.first;
  std::byte* const at =
      wanted ? entry<type>(op.pages, is_value ? op.pages.values : op.pages.keys, first + token, head)
             : nullptr;
  store<type>(value, wanted, at, i);
}

}  // namespace

void kv_store(const KvStore& op, Stream& stream) {
  if (op.tokens == 0) return;
  const std::int64_t items = op.tokens * op.pages.kv_heads * quotient_up(op.pages.head_dim, 32);
  const LaunchShape shape = {.grid_x = blocks_for(items, threads / 32), .grid_y = 2, .threads = threads};
  switch (op.pages.type) {
    case Type::f32:
      return launch<store_kernel<Type::f32>>(shape, on_cuda(stream), op);
    case Type::f16:
      return launch<store_kernel<Type::f16>>(shape, on_cuda(stream), op);
    default:
      assert(op.pages.type == Type::q8_0);
      return launch<store_kernel<Type::q8_0>>(shape, on_cuda(stream), op);
  }
}

}  // namespace fovea::kernels::cuda
