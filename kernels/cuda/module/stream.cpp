#include "kernels/cuda/module/stream.h"

#include <algorithm>
#include <cstring>

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
  std::unique_ptr<DriverStream> made(
      new DriverStream(failure, stream, static_cast<std::byte*>(scratch), scratch_bytes, multiprocessors));
  if (background) return made;
  void* arguments = nullptr;
  if (cudaHostAlloc(&arguments, halves * half_bytes, cudaHostAllocDefault) != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  made->arguments_ = static_cast<std::byte*>(arguments);
  for (cudaEvent_t& event : made->ended_) {
    if (!failure.check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event"))
      return nullptr;
  }
  return made;
}

DriverStream::~DriverStream() {
  synchronize();
  for (cudaEvent_t event : ended_) {
    if (event != nullptr) cudaEventDestroy(event);
  }
  if (arguments_ != nullptr) cudaFreeHost(arguments_);
  if (scratch() != nullptr) cudaFree(scratch());
  cudaStreamDestroy(stream());
}

void DriverStream::synchronize() {
  failure_.check(cudaGetLastError(), "starting a kernel");
  failure_.check(cudaStreamSynchronize(stream()), "running kernels");
}

// Part of the pinned memory whose last copies have ended. `bytes` fit a half.
std::byte* DriverStream::room_for(std::int64_t bytes) {
  if (used_ + bytes > half_bytes) {
    failure_.check(cudaEventRecord(ended_[half_], stream()), "recording an event");
    half_ = (half_ + 1) % halves;
    failure_.check(cudaEventSynchronize(ended_[half_]), "waiting for copies");
    used_ = 0;
  }
  std::byte* const room = arguments_ + half_ * half_bytes + used_;
  used_ += (bytes + 15) / 16 * 16;
  return room;
}

void DriverStream::upload(std::byte* target, const void* arguments, std::int64_t bytes) {
  const auto* source = static_cast<const std::byte*>(arguments);
  while (bytes > 0) {
    const std::int64_t piece = std::min(bytes, half_bytes);
    std::byte* const room = room_for(piece);
    std::memcpy(room, source, static_cast<std::size_t>(piece));
    failure_.check(
        cudaMemcpyAsync(target, room, static_cast<std::size_t>(piece), cudaMemcpyHostToDevice, stream()),
        "copying to the device");
    target += piece;
    source += piece;
    bytes -= piece;
  }
}

}  // namespace fovea::kernels::cuda
