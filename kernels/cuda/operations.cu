#include "kernels/cuda/kernels.h"
#include "kernels/cuda/operations.h"

namespace fovea::kernels::cuda {

const OperationTable& operations() {
  static const OperationTable table = {
      .embed_rows = cuda::embed_rows,
      .rms_norm = cuda::rms_norm,
      .linear = cuda::linear,
      .rotary = cuda::rotary,
      .kv_store = cuda::kv_store,
      .attention = cuda::attention,
      .route = cuda::route,
      .feed_forward = cuda::feed_forward,
      .sigmoid = cuda::sigmoid,
      .add = cuda::add,
  };
  return table;
}

}  // namespace fovea::kernels::cuda
