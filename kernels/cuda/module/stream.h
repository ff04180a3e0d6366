// A stream of the driver, its scratch memory, and the pinned memory through which small arguments go.
#pragma once

#include <cuda_runtime_api.h>
#include <memory>

#include "kernels/cuda/module/device.h"
#include "kernels/cuda/stream.h"

namespace fovea::kernels::cuda {

class DriverStream final : public CudaStream {
 public:
  // Null where there is no memory. A background stream has no scratch memory: it copies.
  static std::unique_ptr<DriverStream> create(Failure& failure, int multiprocessors, bool background);
  ~DriverStream() override;

  void synchronize() override;
  std::string failure() const override { return failure_.text(); }
  void upload(std::byte* target, const void* arguments, std::int64_t bytes) override;

  cudaStream_t stream() const { return static_cast<cudaStream_t>(handle()); }

 private:
  static constexpr int halves = 2;
  static constexpr std::int64_t half_bytes = std::int64_t{1} << 20;

  DriverStream(Failure& failure, cudaStream_t stream, std::byte* scratch, std::int64_t scratch_bytes,
               int multiprocessors)
      : CudaStream(stream, scratch, scratch_bytes, multiprocessors), failure_(failure) {}
  std::byte* room_for(std::int64_t bytes);

  Failure& failure_;
  // Arguments on their way. One half is written while the other one's copies end.
  std::byte* arguments_ = nullptr;  // [halves, half_bytes], pinned
  cudaEvent_t ended_[halves] = {};  // the copies out of a half, when it was left
  int half_ = 0;
  std::int64_t used_ = 0;  // of the half
};

}  // namespace fovea::kernels::cuda
