// A stream of the driver and its scratch memory.
#pragma once

#include <cuda_runtime_api.h>
#include <memory>

#include "kernels/cuda/module/blas.h"
#include "kernels/cuda/module/device.h"
#include "kernels/cuda/stream.h"

namespace fovea::kernels::cuda {

struct DriverStreamOptions {
  int multiprocessors = 1;
  Mechanisms mechanisms = {};
  bool captures = true;
  bool background = false;  // it copies, and has no scratch memory
  std::int64_t scratch_bytes = usual_scratch_bytes;
  const BlasLibrary* library = nullptr;  // or null
};

class DriverStream final : public CudaStream {
 public:
  // Null where there is no memory, and where the device failed.
  static std::unique_ptr<DriverStream> create(Context& context, const DriverStreamOptions& options);
  ~DriverStream() override;

  void synchronize() override;
  Failure failure() const override { return context_.failure(); }
  bool begin_capture() override;
  std::unique_ptr<Graph> end_capture(std::string& why) override;
  void launch(const Graph& graph) override;
  bool multiply_bfloat16(const Bfloat16Product& product) override;

  cudaStream_t stream() const { return static_cast<cudaStream_t>(handle()); }

 private:
  DriverStream(Context& context, cudaStream_t stream, std::byte* scratch, std::int64_t scratch_bytes,
               const DriverStreamOptions& options)
      : CudaStream(stream, scratch, scratch_bytes, options.multiprocessors, options.mechanisms),
        captures_(options.captures),
        context_(context) {}

  const bool captures_;
  Context& context_;
  std::unique_ptr<Blas> blas_;
};

}  // namespace fovea::kernels::cuda
