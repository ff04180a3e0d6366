// A stream of the driver and its scratch memory.
#pragma once

#include <cuda_runtime_api.h>
#include <memory>

#include "kernels/cuda/module/blas.h"
#include "kernels/cuda/module/device.h"
#include "kernels/cuda/stream.h"

namespace fovea::kernels::cuda {

class DriverStream final : public CudaStream {
 public:
  // Null where there is no memory, and where the device failed. A background stream has no scratch memory: it
  // copies. `library` may be null.
  static std::unique_ptr<DriverStream> create(Context& context, int multiprocessors, bool overlaps,
                                              bool background, const BlasLibrary* library);
  ~DriverStream() override;

  void synchronize() override;
  std::string failure() const override { return context_.failure(); }
  bool begin_capture() override;
  std::unique_ptr<Graph> end_capture(std::string& why) override;
  void launch(const Graph& graph) override;
  bool multiply_brains(const BrainProduct& product) override;

  cudaStream_t stream() const { return static_cast<cudaStream_t>(handle()); }

 private:
  DriverStream(Context& context, cudaStream_t stream, std::byte* scratch, std::int64_t scratch_bytes,
               int multiprocessors, bool overlaps)
      : CudaStream(stream, scratch, scratch_bytes, multiprocessors, overlaps), context_(context) {}

  Context& context_;
  std::unique_ptr<Blas> blas_;
};

}  // namespace fovea::kernels::cuda
