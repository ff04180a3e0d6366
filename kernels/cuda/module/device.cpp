#include "kernels/cuda/module/device.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cuda_runtime_api.h>
#include <thread>

#include "kernels/cuda/ceiling.h"
#include "kernels/cuda/module/blas.h"
#include "kernels/cuda/module/stream.h"
#include "kernels/cuda/operations.h"

namespace fovea::kernels::cuda {
namespace {

constexpr std::int64_t page_bytes = 4096;

constexpr int architectures[] = {FOVEA_CUDA_ARCHITECTURES};  // 86: sm_86
constexpr int ptx[] = {FOVEA_CUDA_PTX};                      // for later ones than these

DriverStream& driver_stream(Stream& stream) {
  return static_cast<DriverStream&>(stream);
}

std::size_t size(std::int64_t bytes) {
  return static_cast<std::size_t>(bytes);
}

class DriverEvent final : public Event {
 public:
  DriverEvent(Context& context, cudaEvent_t event) : context_(context), event_(event) {}
  ~DriverEvent() override {
    if (context_.select()) cudaEventDestroy(event_);
  }
  DriverEvent(const DriverEvent&) = delete;
  DriverEvent& operator=(const DriverEvent&) = delete;

  // What has failed will not get further: it is done, and the stream says why.
  bool done() const override {
    if (!context_.select() || !context_.check_launches()) return true;
    const cudaError_t state = cudaEventQuery(event_);
    if (state == cudaErrorNotReady) {
      cudaGetLastError();  // noted as if it were an error
      return false;
    }
    context_.check(state, Action::running_kernels);
    return true;
  }
  void wait() const override { wait(Rest::none); }
  void wait_asleep() const override { wait(Rest::sleep); }
  void record(const DriverStream& stream) {
    last_kernel_ = stream.last_kernel();
    context_.check(cudaEventRecord(event_, stream.stream()), Action::recording_an_event);
  }

 private:
  void wait(Rest rest) const {
    if (context_.select() && context_.check_launches())
      context_.wait([this] { return cudaEventQuery(event_); }, rest, last_kernel_);
  }

  Context& context_;
  cudaEvent_t event_;
  std::atomic<const char*> last_kernel_ = "none";  // before it
};

}  // namespace

std::string said_of(int code) {
  const auto error = static_cast<cudaError_t>(code);
  return std::string(cudaGetErrorString(error)) + " (" + cudaGetErrorName(error) + ")";
}

bool Context::select() {
  return !hangs() && check(cudaSetDevice(ordinal_), Action::choosing_the_device);
}

bool Context::wait(const std::function<int()>& query, Rest rest, const char* last_kernel) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::microseconds shortest_pause(20), longest_pause(500);
  const Clock::time_point end = Clock::now() + patience_;
  std::chrono::microseconds pause = shortest_pause;
  while (true) {
    const int state = query();
    if (state != cudaErrorNotReady) return check(state, Action::running_kernels);
    cudaGetLastError();  // noted as if it were an error
    if (Clock::now() > end) break;
    if (rest == Rest::none) continue;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, longest_pause);
  }
  fail({.action = Action::waiting,
        .waited_s = std::chrono::duration_cast<std::chrono::seconds>(patience_).count(),
        .last_kernel = last_kernel});
  hangs_.store(true, std::memory_order_release);
  return false;
}

bool Context::check(int code, Action action) {
  if (code == cudaSuccess) return true;
  cudaGetLastError();  // it is this device's, and said here
  fail({.action = action, .said = said_of(code)});
  return false;
}

void Context::fail(Failure failure) {
  const std::scoped_lock lock(mutex_);
  if (failure_.empty()) failure_ = std::move(failure);
  failed_.store(true, std::memory_order_release);
}

bool Context::check_launches() {
  return check(cudaGetLastError(), Action::starting_a_kernel);
}

Failure Context::failure() const {
  if (!failed_.load(std::memory_order_acquire)) return {};
  const std::scoped_lock lock(mutex_);
  return failure_;
}

CudaDevice::CudaDevice(int ordinal, const Switches& switches, std::chrono::milliseconds patience,
                       std::int64_t scratch_bytes)
    : switches_(switches), scratch_bytes_(scratch_bytes), context_(ordinal, patience) {
  cudaDeviceProp properties = {};
  if (!context_.check(cudaGetDeviceProperties(&properties, ordinal), Action::asking_for_properties)) return;
  major_ = properties.major;
  minor_ = properties.minor;
  multiprocessors_ = properties.multiProcessorCount;
  facts_.description = properties.name;
  facts_.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  int kilohertz = 0;
  if (cudaDeviceGetAttribute(&kilohertz, cudaDevAttrMemoryClockRate, ordinal) == cudaSuccess) {
    // Both edges of the clock carry data.
    facts_.bandwidth_gb_per_s = 2.0 * kilohertz * 1e3 * properties.memoryBusWidth / 8 / 1e9;
  } else {
    cudaGetLastError();  // not known is no failure
  }
}

Obstacle CudaDevice::why_not() const {
  if (Failure failure = context_.failure(); !failure.empty())
    return {.kind = Obstacle::Kind::failed, .failure = std::move(failure)};
  const int mine = 10 * major_ + minor_;
  std::vector<std::string> names{instruction_set()};
  for (const int built : architectures) {
    if (built / 10 == major_ && built <= mine) return {};
    names.push_back("sm_" + std::to_string(built));
  }
  if (mine >= *std::ranges::min_element(ptx)) return {};
  return {.kind = Obstacle::Kind::architecture, .names = std::move(names)};
}

std::string CudaDevice::name() const {
  return "cuda:" + std::to_string(context_.ordinal());
}
std::string CudaDevice::instruction_set() const {
  return "sm_" + std::to_string(10 * major_ + minor_);
}

DeviceFacts CudaDevice::facts() const {
  DeviceFacts now = facts_;
  std::size_t free = 0, total = 0;
  if (context_.select() && context_.check(cudaMemGetInfo(&free, &total), Action::asking_for_free_memory))
    now.memory_free_bytes = static_cast<std::int64_t>(free);
  return now;
}

const OperationTable& CudaDevice::operations() const {
  return cuda::operations();
}

std::unique_ptr<Stream> CudaDevice::make_stream(const StreamOptions& options) const {
  if (!context_.select()) return nullptr;
  // Programmatic dependent launch, which graphs have captured since CUDA 12.3.
  int driver = 0;
  const bool overlaps =
      switches_.pdl && major_ >= 9 && cudaDriverGetVersion(&driver) == cudaSuccess && driver >= 12030;
  const BlasLibrary* const blas = options.multiplies_bf16 ? &BlasLibrary::get() : nullptr;
  return DriverStream::create(context_,
                              {.multiprocessors = multiprocessors_,
                               .mechanisms = {.overlaps = overlaps, .prefetches = switches_.prefetch},
                               .captures = switches_.graph,
                               .background = options.background,
                               .scratch_bytes = scratch_bytes_,
                               .library = blas && !blas->name.empty() ? blas : nullptr});
}

Bf16Products CudaDevice::bf16_products() const {
  const BlasLibrary& blas = BlasLibrary::get();
  return {.library = blas.full_name(), .obstacle = blas.obstacle};
}

DeviceCeiling CudaDevice::measure_ceiling(Stream& stream) const {
  if (!context_.select()) return {};
  // Several times what the caches of any card have for each of its multiprocessors.
  const std::int64_t bytes = multiprocessors_ * (std::int64_t{4} << 20);
  return cuda::measure_ceiling(*this, stream, {.buffer_bytes = bytes, .min_buffer_bytes = bytes / 4});
}

std::int64_t CudaDevice::packed_bytes(Packing, Type type, std::int64_t rows, std::int64_t columns) const {
  return rows * row_bytes(type, columns);
}

void CudaDevice::pack(Packing packing, Type type, std::int64_t rows, std::int64_t columns,
                      const std::byte* source, std::int64_t first, std::int64_t count,
                      std::byte* packed) const {
  cuda::pack(packing, type, rows, columns, source, first, count, packed);
}

// The driver promises 256 bytes of alignment.
std::byte* CudaDevice::allocate(std::int64_t bytes) const {
  if (!context_.select() || !context_.check_launches()) return nullptr;
  void* memory = nullptr;
  if (cudaMalloc(&memory, size(bytes + page_bytes)) != cudaSuccess) {
    cudaGetLastError();  // no memory is no failure of the device
    return nullptr;
  }
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  auto* const aligned = reinterpret_cast<std::byte*>((address + page_bytes - 1) / page_bytes * page_bytes);
  const std::scoped_lock lock(mutex_);
  allocated_[aligned] = memory;
  return aligned;
}

void CudaDevice::release(std::byte* memory, std::int64_t) const {
  if (memory == nullptr || !context_.select()) return;
  const std::scoped_lock lock(mutex_);
  const auto found = allocated_.find(memory);
  assert(found != allocated_.end());
  context_.check(cudaFree(found->second), Action::releasing_memory);
  allocated_.erase(found);
}

std::byte* CudaDevice::allocate_host(std::int64_t bytes) const {
  if (!context_.select() || !context_.check_launches()) return nullptr;
  void* memory = nullptr;
  if (cudaHostAlloc(&memory, size(bytes > 0 ? bytes : 1), cudaHostAllocPortable) != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  assert(reinterpret_cast<std::uintptr_t>(memory) % page_bytes == 0);
  return static_cast<std::byte*>(memory);
}

void CudaDevice::release_host(std::byte* memory, std::int64_t) const {
  if (memory != nullptr && context_.select())
    context_.check(cudaFreeHost(memory), Action::releasing_pinned_memory);
}

bool CudaDevice::pin(std::byte* memory, std::int64_t bytes) const {
  if (!context_.select() || !context_.check_launches()) return false;
  if (cudaHostRegister(memory, size(bytes), cudaHostRegisterPortable) == cudaSuccess) return true;
  cudaGetLastError();
  return false;
}

void CudaDevice::unpin(std::byte* memory) const {
  if (context_.select()) context_.check(cudaHostUnregister(memory), Action::releasing_pinned_memory);
}

// Copies select the device: a pass begins with one, so that its launches are on the right device too.
void CudaDevice::copy(std::byte* target, const std::byte* host, std::int64_t bytes, Stream& stream) const {
  if (bytes == 0 || !context_.select()) return;
  context_.check(
      cudaMemcpyAsync(target, host, size(bytes), cudaMemcpyHostToDevice, driver_stream(stream).stream()),
      Action::copying_to_the_device);
}

void CudaDevice::read_back(std::byte* host, const std::byte* source, std::int64_t bytes,
                           Stream& stream) const {
  if (bytes == 0 || !context_.select()) return;
  context_.check(
      cudaMemcpyAsync(host, source, size(bytes), cudaMemcpyDeviceToHost, driver_stream(stream).stream()),
      Action::copying_from_the_device);
}

void CudaDevice::copy_within(std::byte* target, const std::byte* source, std::int64_t bytes,
                             std::int64_t stride, std::int64_t count, Stream& stream) const {
  if (bytes == 0 || count == 0 || !context_.select()) return;
  context_.check(cudaMemcpy2DAsync(target, size(stride), source, size(stride), size(bytes), size(count),
                                   cudaMemcpyDeviceToDevice, driver_stream(stream).stream()),
                 Action::copying_on_the_device);
}

std::unique_ptr<Event> CudaDevice::make_event() const {
  cudaEvent_t event = nullptr;
  if (!context_.select() ||
      !context_.check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), Action::making_an_event))
    return nullptr;
  return std::make_unique<DriverEvent>(context_, event);
}

void CudaDevice::record(Event& event, Stream& stream) const {
  if (context_.select()) static_cast<DriverEvent&>(event).record(driver_stream(stream));
}

}  // namespace fovea::kernels::cuda
