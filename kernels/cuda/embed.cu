// embed_rows: a thread for each unit of 32 weights, or for each weight of a plain type. A few kilobytes:
// bound by the latency of one launch.
#include "kernels/cuda/codes.h"
#include "kernels/cuda/dispatch.h"
#include "kernels/cuda/grid.h"
#include "kernels/cuda/operations.h"
#include "kernels/cuda/plain.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned threads = 64;

template <Type type>
__global__ void __launch_bounds__(threads, 1) embed_kernel(EmbedRows op) {
  wait_for_earlier_kernels();
  const int unit = static_cast<int>(blockIdx.x * threads + threadIdx.x);
  if (unit * 32 >= op.table.columns) return;
  const std::int64_t token = blockIdx.y;
  const Codes codes = decode(Row<type, false>(op.table, op.ids[token]), unit);
  for (int h = 0; h < 2; ++h) {
    float* const out = op.out + token * op.table.columns + unit_column<type>(unit, h);
    for (int i = 0; i < 16; ++i) {
      const auto q = static_cast<std::int8_t>(codes.q[4 * h + i / 4] >> (8 * (i % 4)));
      out[i] = op.scale * (codes.scale[h] * static_cast<float>(q) - codes.minimum[h]);
    }
  }
}

template <Type type>
__global__ void __launch_bounds__(threads, 1) embed_plain_kernel(EmbedRows op) {
  wait_for_earlier_kernels();
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= op.table.columns) return;
  const std::int64_t token = blockIdx.y;
  const std::byte* const row = op.table.data + op.ids[token] * op.table.columns * plain_bytes<type>;
  op.out[token * op.table.columns + i] = op.scale * plain_element<type>(row, i);
}

}  // namespace

void embed_rows(const EmbedRows& op, Stream& stream) {
  if (op.tokens == 0) return;
  const auto tokens = static_cast<unsigned>(op.tokens);
  const bool quantised = is_quantised(op.table.type);
  const LaunchShape shape = {.grid_x = blocks_for(op.table.columns, threads * (quantised ? 32 : 1)),
                             .grid_y = tokens,
                             .threads = threads,
                             .overlaps = true};
  dispatch(op.table.type, [&]<Type type>() {
    if constexpr (is_quantised(type)) {
      launch<embed_kernel<type>>(shape, on_cuda(stream), op);
    } else {
      launch<embed_plain_kernel<type>>(shape, on_cuda(stream), op);
    }
  });
}

}  // namespace fovea::kernels::cuda
