// A CUDA stream as the operations see it: where kernels are started, memory for intermediate values. The
// device's part implements it over the driver, the emulation over a queue. C++20.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "kernels/api/operations.h"

namespace fovea::kernels::cuda {

class CudaStream : public Stream {
 public:
  using Handle = void*;  // cudaStream_t, or the emulation's queue

  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  Handle handle() const { return handle_; }
  int multiprocessors() const { return multiprocessors_; }  // of the device, to choose how work is split

  // Device memory, aligned to 256, for the intermediate values of the operation that is being started. The
  // next operation uses the same bytes, in the stream's order. Operations divide their work so that it is
  // enough.
  std::byte* scratch() const { return scratch_; }
  std::int64_t scratch_bytes() const { return scratch_bytes_; }

 protected:
  CudaStream(Handle handle, std::byte* scratch, std::int64_t scratch_bytes, int multiprocessors)
      : handle_(handle),
        scratch_(scratch),
        scratch_bytes_(scratch_bytes),
        multiprocessors_(multiprocessors) {}

 private:
  Handle handle_;
  std::byte* scratch_;
  std::int64_t scratch_bytes_;
  int multiprocessors_;
};

inline CudaStream& on_cuda(Stream& stream) {
  return static_cast<CudaStream&>(stream);
}

// The smallest scratch memory that a stream may have.
constexpr std::int64_t least_scratch_bytes = std::int64_t{4} << 20;

}  // namespace fovea::kernels::cuda
