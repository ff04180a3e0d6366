#include "kernels/cuda/kernels.h"
#include "kernels/cuda/operations.h"

namespace fovea::kernels::cuda {

const OperationTable& operations() {
  static const OperationTable table = [] {
    OperationTable all = {};
    all.sigmoid = cuda::sigmoid;
    all.add = cuda::add;
    return all;
  }();
  return table;
}

}  // namespace fovea::kernels::cuda
