// A CUDA stream as the operations see it: where kernels are started, memory for intermediate values. The
// device's part (module/stream.h) implements it. C++20.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "kernels/api/operations.h"

namespace fovea::kernels::cuda {

constexpr int counter_count = 64;
constexpr std::int64_t counter_bytes = 4 * counter_count;

// out[t, r] = Σ_k weights[r, k] · x[t, k], in bfloat16 with sums in float. Strides are those of rows, in
// elements.
struct Bfloat16Product {
  const std::byte* weights = nullptr;  // [rows, columns]
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const std::uint32_t* x = nullptr;  // [tokens, x_stride], in pairs
  std::int64_t x_stride = 0;
  std::int64_t tokens = 0;
  float* out = nullptr;  // [tokens, out_stride]
  std::int64_t out_stride = 0;
};

// What makes kernels faster and changes none of their results.
struct Mechanisms {
  bool overlaps = false;    // a kernel that says so may begin before the one before it has ended
  bool prefetches = false;  // kernels give hints of the weights that they will read
};

class CudaStream : public Stream {
 public:
  using Handle = void*;  // cudaStream_t

  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;

  Handle handle() const { return handle_; }
  int multiprocessors() const { return multiprocessors_; }  // of the device, to choose how work is split

  bool overlaps() const { return mechanisms_.overlaps; }
  bool prefetches() const { return mechanisms_.prefetches; }

  // The kernel that was started last; a text that stays.
  const char* last_kernel() const { return last_kernel_; }
  void note_kernel(const char* name) { last_kernel_ = name; }

  // Gives the product to a library, in the stream's order. False: there is none, and nothing is done.
  virtual bool multiply_bfloat16(const Bfloat16Product&) { return false; }

  // Device memory, aligned to 256, for the intermediate values of the operation that is being started. The
  // next operation uses the same bytes, in the stream's order. Operations divide their work so that it is
  // enough.
  std::byte* scratch() const { return scratch_; }
  std::int64_t scratch_bytes() const { return scratch_bytes_; }

  // Zeros in the device's memory, by which a kernel's blocks learn which of them is the last to end. It
  // leaves zeros behind.
  int* counters() const { return reinterpret_cast<int*>(scratch_ + scratch_bytes_); }

 protected:
  // The memory's last counter_bytes are zero when the first kernel starts.
  CudaStream(Handle handle, std::byte* memory, std::int64_t memory_bytes, int multiprocessors,
             const Mechanisms& mechanisms)
      : handle_(handle),
        scratch_(memory),
        scratch_bytes_(memory_bytes - counter_bytes),
        multiprocessors_(multiprocessors),
        mechanisms_(mechanisms) {}

 private:
  Handle handle_;
  std::byte* scratch_;
  std::int64_t scratch_bytes_;
  int multiprocessors_;
  Mechanisms mechanisms_;
  const char* last_kernel_ = "none";
};

inline CudaStream& on_cuda(Stream& stream) {
  return static_cast<CudaStream&>(stream);
}

// The smallest memory that a stream may have.
constexpr std::int64_t min_scratch_bytes = std::int64_t{4} << 20;

}  // namespace fovea::kernels::cuda
