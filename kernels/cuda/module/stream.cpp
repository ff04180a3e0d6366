#include "kernels/cuda/module/stream.h"

namespace fovea::kernels::cuda {
namespace {

constexpr std::int64_t compute_scratch_bytes = std::int64_t{64} << 20;
static_assert(compute_scratch_bytes >= least_scratch_bytes);

}  // namespace

std::unique_ptr<DriverStream> DriverStream::create(Failure& failure, int multiprocessors, bool background) {
  int least = 0, greatest = 0;
  cudaStream_t stream = nullptr;
  if (!failure.check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "asking for stream priorities") ||
      !failure.check(
          cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, background ? least : greatest),
          "making a stream"))
    return nullptr;
  void* scratch = nullptr;
  const std::int64_t scratch_bytes = background ? 0 : compute_scratch_bytes;
  if (!background && cudaMalloc(&scratch, static_cast<std::size_t>(scratch_bytes)) != cudaSuccess) {
    cudaGetLastError();  // no memory is no failure of the device
    cudaStreamDestroy(stream);
    return nullptr;
  }
  return std::unique_ptr<DriverStream>(
      new DriverStream(failure, stream, static_cast<std::byte*>(scratch), scratch_bytes, multiprocessors));
}

DriverStream::~DriverStream() {
  synchronize();
  if (scratch() != nullptr) cudaFree(scratch());
  cudaStreamDestroy(stream());
}

void DriverStream::synchronize() {
  failure_.check(cudaGetLastError(), "starting a kernel");
  failure_.check(cudaStreamSynchronize(stream()), "running kernels");
}

}  // namespace fovea::kernels::cuda
