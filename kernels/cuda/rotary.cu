// rotary: one thread for each pair of a token, for all heads, so that the angle is found once. Bound by the
// latency of that; the values are a few kilobytes.
#include "kernels/cuda/grid.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/platform.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned threads = 128;
constexpr int heads_at_once = 8;

FOVEA_KERNEL(threads) rotary_kernel(Rotary op) {
  const std::int64_t half = op.rotary / 2;
  const std::int64_t at = std::int64_t{block_x()} * threads + thread_index();
  if (at >= op.tokens * half) return;
  const std::int64_t token = at / half;
  const std::int64_t i = at % half;
  // A float angle would be wrong by 0.06 at position 10^6: reduced to ±π in double.
  constexpr double turn = 6.283185307179586477;
  double angle = static_cast<double>(op.positions[token]) * static_cast<double>(op.inverse_frequency[i]);
  angle -= turn * rint(angle / turn);
  const float cosine = cosf(static_cast<float>(angle)) * op.magnitude;
  const float sine = sinf(static_cast<float>(angle)) * op.magnitude;
  const std::int64_t first = op.style == RotaryStyle::half_split ? i : 2 * i;
  const std::int64_t second = op.style == RotaryStyle::half_split ? i + half : 2 * i + 1;
  const std::int64_t begin = std::int64_t{block_y()} * heads_at_once;
  for (std::int64_t head = begin; head < begin + heads_at_once && head < op.heads; ++head) {
    float* const x = op.x + token * op.stride + head * op.head_dim;
    const float a = x[first];
    const float b = x[second];
    x[first] = a * cosine - b * sine;
    x[second] = a * sine + b * cosine;
  }
}

}  // namespace

void rotary(const Rotary& op, Stream& stream) {
  const std::int64_t pairs = op.tokens * (op.rotary / 2);
  if (pairs == 0) return;
  launch<rotary_kernel>({.grid_x = blocks_for(pairs, threads),
                         .grid_y = blocks_for(op.heads, heads_at_once),
                         .threads = threads},
                        on_cuda(stream), op);
}

}  // namespace fovea::kernels::cuda
