#include "kernels/cuda/operations.h"

namespace fovea::kernels::cuda {

const OperationTable& operations() {
  static const OperationTable table = {
      .embed_rows = cuda::embed_rows,
      .rms_norm = cuda::rms_norm,
      .linear = cuda::linear,
      .attention_inputs = cuda::attention_inputs,
      .attention = cuda::attention,
      .gating = cuda::gating,
      .short_convolution = cuda::short_convolution,
      .gated_delta = cuda::gated_delta,
      .router = cuda::router,
      .feed_forward = cuda::feed_forward,
      .add = cuda::add,
      .soft_cap = cuda::soft_cap,
      .top_k = cuda::top_k,
      .ask_host = cuda::ask_host,
      .add_answer = cuda::add_answer,
      .repack = cuda::repack,
  };
  return table;
}

}  // namespace fovea::kernels::cuda
