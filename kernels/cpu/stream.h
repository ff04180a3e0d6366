// A CPU stream: the thread pool, the scratch memory, and the kernels of its device's instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/api/operations.h"
#include "kernels/cpu/thread_pool.h"

namespace fovea::kernels::cpu {

struct Kernels;

class CpuStream final : public Stream {
 public:
  CpuStream(int threads, const Kernels& kernels) : pool_(threads), kernels_(kernels) {}
  ~CpuStream() override;

  void synchronize() override {}  // operations return when they are done

  ThreadPool& pool() { return pool_; }
  const Kernels& kernels() const { return kernels_; }

  // At least `bytes` of memory, aligned to 64, valid until the next call. An operation asks once; the memory
  // grows to the largest wish and is used again.
  std::byte* scratch(std::int64_t bytes);

 private:
  ThreadPool pool_;
  const Kernels& kernels_;
  std::byte* scratch_ = nullptr;
  std::int64_t scratch_bytes_ = 0;
};

inline CpuStream& on_cpu(Stream& stream) {
  return static_cast<CpuStream&>(stream);
}

}  // namespace fovea::kernels::cpu
