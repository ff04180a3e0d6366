// ask_host and add_answer. A block asks, of few tokens; as many as there are tokens wait for the answer, add
// it, and go on with the norm behind it. Where no token chose an expert of the host's, that is two kernels
// that find nothing to do. Bound by latency: of the link where there is a question, of a launch where not.
//
// Memory of the host's is written and read around the caches: a question's values are on the host before its
// number, and an answer's are read when its number has been seen.
#include "kernels/cuda/norm.h"
#include "kernels/cuda/operations.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned threads = 512;
constexpr int normed_columns = 8;  // that a thread keeps of a row

__global__ void __launch_bounds__(threads, 1) ask_kernel(HostQuestion op) {
  wait_for_earlier_kernels();
  __shared__ int missing;
  if (threadIdx.x == 0) missing = op.always ? 1 : 0;
  __syncthreads();
  const std::int64_t choices = op.tokens * op.used;
  for (std::int64_t i = threadIdx.x; i < choices && !op.always; i += threads) {
    if (!op.table[op.ids[i]].gate.data) atomicAdd(&missing, 1);
  }
  __syncthreads();
  const bool asks = missing > 0;
  if (asks) {
    for (std::int64_t i = threadIdx.x; i < op.tokens * op.d; i += threads) op.host_x[i] = op.x[i];
    for (std::int64_t i = threadIdx.x; i < choices; i += threads) {
      op.host_ids[i] = op.ids[i];
      op.host_weights[i] = op.weights[i];
    }
    __threadfence_system();
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  const std::uint32_t round = op.round->number + 1;
  *op.round = {round, asks ? 1U : 0U};
  tell_host(op.asked, 2 * round + (asks ? 1 : 0));
}

__global__ void __launch_bounds__(threads, 1)
    answer_kernel(HostAnswer op, Quantised quantised, bool prefetches) {
  if (prefetches) prefetch_norm(op.then);
  wait_for_earlier_kernels();
  __shared__ int in_time;
  const std::int64_t row = blockIdx.x;
  if (op.round->asked != 0) {
    if (threadIdx.x == 0) {
      in_time = wait_for_host(op.answered, op.round->number, op.late, op.name) ? 1 : 0;
    }
    __syncthreads();
    float* const out = op.out + row * op.d;
    for (std::int64_t i = threadIdx.x; i < op.d; i += threads) {
      const float share = in_time ? load_from_host(op.host_out + row * op.d + i) : 0.0F;
      out[i] = op.alone ? share : out[i] + share;
    }
    __syncthreads();
  }
  if (op.then.x) norm_row<normed_columns>(op.then, quantised, row);
}

}  // namespace

void ask_host(const HostQuestion& op, Stream& stream) {
  launch<ask_kernel>({.threads = threads, .overlaps = true}, on_cuda(stream), op);
}

void add_answer(const HostAnswer& op, Stream& stream) {
  const RmsNorm& then = op.then;
  launch<answer_kernel>({.grid_x = static_cast<unsigned>(op.tokens), .threads = threads, .overlaps = true},
                        on_cuda(stream), op, quantised_arrays(then.quantised, then.rows, then.columns),
                        then && on_cuda(stream).prefetches());
}

}  // namespace fovea::kernels::cuda
