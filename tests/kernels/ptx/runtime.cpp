#include "runtime.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime_api.h>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <stdexcept>
#include <utility>

#include "machine.h"

namespace fovea::tests::ptx {
namespace {

// What a multiprocessor of every architecture that Fovea is built for has, and what a launch gets unasked.
constexpr std::int64_t max_shared_bytes = 99 << 10, usual_shared_bytes = 48 << 10;
constexpr std::uint32_t max_blocks_beside = 65535;  // of a grid's second and third side
constexpr std::size_t memory_bytes = std::size_t{8} << 30;

struct Kernel {
  const Program* program = nullptr;
  const Function* function = nullptr;
  std::int64_t dynamic_bytes = usual_shared_bytes;
};

// Memory that a captured piece of work names.
struct Named {
  Slot address = 0;
  std::uint64_t number = 0;  // of the allocation that it lies in
};
struct Work {
  std::function<bool()> run;  // false: it waits for the host, and has done nothing
  std::string what;
  std::vector<Named> named = {};                   // of a captured one
  std::shared_ptr<const bool> graph_is_gone = {};  // of a graph's
};
struct Stream {
  bool captures = false;
  std::vector<Work> captured;
  std::string spoiled;  // what the capture cannot have
  std::deque<Work> waiting;
  std::uint64_t given = 0;
};
struct Event {
  Stream* stream = nullptr;  // null: it was never recorded
  std::uint64_t given = 0;
};
struct Graph {
  Stream* stream = nullptr;
  std::vector<Work> work;
  std::shared_ptr<bool> is_gone = std::make_shared<bool>(false);
};
struct Piece {
  std::size_t bytes = 0;
  std::uint64_t number = 0;
};

struct Device {
  std::recursive_mutex mutex;
  std::vector<std::unique_ptr<Program>> programs;
  std::map<const void*, Kernel> kernels;  // by the host's name of it
  Memory memory;
  Machine machine{memory};
  std::map<Slot, Piece> pieces;  // of its memory and of the host's that is pinned
  std::uint64_t pieces_made = 0;
  std::size_t free_bytes = memory_bytes;
  std::mt19937_64 random;
  std::string fault;
  cudaError_t lost = cudaSuccess;
  std::int64_t kernels_run = 0, waited_unasked = 0;
};
// Objects register their kernels before main().
Device& device() {
  static Device one;
  return one;
}

thread_local cudaError_t last = cudaSuccess;

cudaError_t note(cudaError_t error) {
  if (error != cudaSuccess) last = error;
  return error;
}

Stream& stream_of(cudaStream_t stream) {
  return *reinterpret_cast<Stream*>(stream);
}

void fail(const std::string& what) {
  if (device().fault.empty()) device().fault = what;
  device().lost = cudaErrorLaunchFailure;
}

// The allocation that has these bytes; 0: none.
std::uint64_t number_of(Slot address, std::size_t bytes = 1) {
  auto found = device().pieces.upper_bound(address);
  if (found == device().pieces.begin()) return 0;
  --found;
  return address + bytes <= found->first + found->second.bytes ? found->second.number : 0;
}

// What a thread may not do while it captures is an error of the call's, of the capture's, and a fault.
thread_local Stream* capturing = nullptr;

cudaError_t spoil(const std::string& what) {
  const std::scoped_lock lock(device().mutex);
  capturing->spoiled = "while a stream captures, its thread " + what;
  if (device().fault.empty()) device().fault = capturing->spoiled;
  return note(cudaErrorStreamCaptureUnsupported);
}

// Empty, or what keeps it from being done.
std::string obstacle_of(const Work& work) {
  if (work.graph_is_gone && *work.graph_is_gone)
    return work.what + " was launched with a graph that has been released before it was done";
  for (const Named& named : work.named) {
    if (number_of(named.address) != named.number)
      return work.what + " was captured with memory that has been released since";
  }
  return {};
}

// As far as it goes; whether the first `given` pieces have been done.
bool go_on(Stream& stream, std::uint64_t given) {
  const std::scoped_lock lock(device().mutex);
  while (!stream.waiting.empty()) {
    const Work& first = stream.waiting.front();
    if (device().lost == cudaSuccess) {
      if (const std::string obstacle = obstacle_of(first); !obstacle.empty()) {
        fail(obstacle);
      } else if (!first.run()) {
        break;
      }
    }
    stream.waiting.pop_front();
  }
  return stream.given - stream.waiting.size() >= given;
}

cudaError_t give(cudaStream_t of, Work work) {
  const std::scoped_lock lock(device().mutex);
  Stream& stream = stream_of(of);
  if (device().lost != cudaSuccess) return note(device().lost);
  if (stream.captures) {
    std::erase_if(work.named, [](const Named& named) { return named.number == 0; });
    stream.captured.push_back(std::move(work));
  } else {
    if (!work.graph_is_gone) work.named.clear();
    stream.waiting.push_back(std::move(work));
    ++stream.given;
    if (device().random() % 4 != 0) go_on(stream, stream.given);
  }
  return note(device().lost);
}

Named named(const void* memory) {
  const auto address = reinterpret_cast<Slot>(memory);
  return {address, number_of(address)};
}

bool overlaps(const cudaLaunchConfig_t& config) {
  const std::span attributes(config.attrs, config.numAttrs);
  return std::ranges::any_of(attributes, [](const cudaLaunchAttribute& one) {
    return one.id == cudaLaunchAttributeProgrammaticStreamSerialization &&
           one.val.programmaticStreamSerializationAllowed != 0;
  });
}

// The host's address of memory that both know by different ones; null where the device does not have it all.
std::byte* within_device(const void* memory, std::size_t bytes) {
  const auto address = reinterpret_cast<Slot>(memory);
  const bool there = (address & device_window) == 0 || bytes == 0 ||
                     device().memory.holds(address, static_cast<std::int64_t>(bytes));
  return there ? reinterpret_cast<std::byte*>(address & ~device_window) : nullptr;
}
cudaError_t copy(void* target, std::size_t target_stride, const void* source, std::size_t source_stride,
                 std::size_t bytes, std::size_t count, cudaStream_t stream) {
  const bool is_pinned = number_of(reinterpret_cast<Slot>(target), bytes) != 0 &&
                         number_of(reinterpret_cast<Slot>(source), bytes) != 0;
  if (stream_of(stream).captures && !is_pinned) return spoil("copies host memory that is not pinned");
  const auto run = [=] {
    for (std::size_t i = 0; i < count; ++i) {
      std::byte* const to = within_device(static_cast<std::byte*>(target) + i * target_stride, bytes);
      const std::byte* const from =
          within_device(static_cast<const std::byte*>(source) + i * source_stride, bytes);
      if (to && from) {
        std::memmove(to, from, bytes);
      } else {
        fail("a copy beyond the device's memory");
      }
    }
    return true;
  };
  return give(stream, {run, "a copy", {named(target), named(source)}});
}

// Null where there is no more. Kernels reach it by the address that is given, which `window` is a part of.
void* allocate(std::size_t bytes, Slot window) {
  void* const memory = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (!memory) return nullptr;
  std::memset(memory, 0xFF, bytes);  // no numbers
  const Slot address = reinterpret_cast<Slot>(memory) | window;
  device().memory.add(reinterpret_cast<void*>(address), static_cast<std::int64_t>(bytes));
  device().pieces[address] = {bytes, ++device().pieces_made};
  return reinterpret_cast<void*>(address);
}
std::size_t release(void* memory) {
  const auto found = device().pieces.find(reinterpret_cast<Slot>(memory));
  if (found == device().pieces.end()) return 0;
  const std::size_t bytes = found->second.bytes;
  device().memory.remove(memory);
  device().pieces.erase(found);
  std::free(reinterpret_cast<void*>(reinterpret_cast<Slot>(memory) & ~device_window));
  return bytes;
}

// The PTX of an object lies within its fat binary as it is, up to a zero.
std::string_view ptx_within(const void* wrapper) {
  struct Wrapper {
    int magic, version;
    const char* data;
  };
  const char* const data = static_cast<const Wrapper*>(wrapper)->data;
  std::uint64_t bytes = 0;
  std::uint16_t header = 0;
  std::memcpy(&header, data + 6, sizeof header);
  std::memcpy(&bytes, data + 8, sizeof bytes);
  const std::string_view all(data, header + bytes);
  const std::size_t begin = all.find(".version");
  if (begin == std::string_view::npos) return {};
  return all.substr(begin, all.find('\0', begin) - begin);
}

}  // namespace

void use_seed(std::uint64_t seed) {
  device().machine.use_seed(seed);
  device().random.seed(seed);
}
std::string fault() {
  const std::scoped_lock lock(device().mutex);
  device().lost = cudaSuccess;
  return std::exchange(device().fault, {});
}
void watch(bool races) {
  device().machine.watch(races);
}
std::int64_t waited_unasked() {
  return device().waited_unasked;
}
std::int64_t kernels_run() {
  return device().kernels_run;
}
std::int64_t instructions_run() {
  return device().machine.instructions();
}

}  // namespace fovea::tests::ptx

using namespace fovea::tests::ptx;

extern "C" {

// --- what nvcc's objects call ---

void** __cudaRegisterFatBinary(void* wrapper) {
  const std::string_view text = ptx_within(wrapper);
  device().programs.push_back(text.empty() ? std::make_unique<Program>() : parse(text));
  for (const auto& [name, bytes] : device().programs.back()->constants)
    device().memory.add(bytes.data(), static_cast<std::int64_t>(bytes.size()));
  return reinterpret_cast<void**>(device().programs.back().get());
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void** program, const char* host_name, char*, const char* name, int, void*, void*,
                            void*, void*, int*) {
  const auto* const of = reinterpret_cast<const Program*>(program);
  device().kernels[host_name] = {of, of->functions.at(name).get(), usual_shared_bytes};
}
cudaError_t __cudaGetKernel(cudaKernel_t*, const void*) {
  return cudaErrorNotSupported;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t, dim3, dim3, void**, std::size_t, cudaStream_t) {
  return cudaErrorNotSupported;
}
cudaError_t __cudaPopCallConfiguration(dim3*, dim3*, std::size_t*, void*) {
  return cudaErrorNotSupported;
}

// --- launches ---

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  const std::scoped_lock lock(device().mutex);
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value > max_shared_bytes)
    return note(cudaErrorInvalidValue);
  device().kernels.at(kernel).dynamic_bytes = value;
  return cudaSuccess;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* host_name, void** arguments) {
  const std::scoped_lock lock(device().mutex);
  const auto found = device().kernels.find(host_name);
  if (found == device().kernels.end()) return note(cudaErrorInvalidDeviceFunction);
  const Kernel kernel = found->second;
  const Grid grid = {.blocks = {config->gridDim.x, config->gridDim.y, config->gridDim.z},
                     .threads = config->blockDim.x,
                     .shared_bytes = static_cast<std::int64_t>(config->dynamicSmemBytes),
                     .overlaps = overlaps(*config)};
  const bool sizes_are_right = grid.blocks[0] > 0 && grid.blocks[1] > 0 && grid.blocks[2] > 0 &&
                               grid.blocks[0] < 1U << 31 && grid.blocks[1] <= max_blocks_beside &&
                               grid.blocks[2] <= max_blocks_beside && grid.threads > 0 &&
                               grid.threads <= kernel.function->max_threads && config->blockDim.y == 1 &&
                               config->blockDim.z == 1 && grid.shared_bytes <= kernel.dynamic_bytes;
  if (!sizes_are_right) return note(cudaErrorInvalidConfiguration);
  std::vector<std::vector<std::byte>> kept;
  for (std::size_t i = 0; i < kernel.function->parameters.size(); ++i) {
    const auto* const argument = static_cast<const std::byte*>(arguments[i]);
    kept.emplace_back(argument, argument + kernel.function->parameters[i].bytes);
  }
  // Whatever of its arguments may be an address.
  std::vector<Named> words;
  for (const auto& bytes : kept) {
    for (std::size_t at = 0; at + sizeof(void*) <= bytes.size(); at += sizeof(void*)) {
      const void* word = nullptr;
      std::memcpy(&word, bytes.data() + at, sizeof word);
      if (stream_of(config->stream).captures) words.push_back(named(word));
    }
  }
  const auto run = [kernel, grid, kept] {
    std::vector<const void*> parameters;
    for (const auto& bytes : kept) parameters.push_back(bytes.data());
    const std::string wrong =
        device().machine.execute(*kernel.program, *kernel.function, grid, parameters.data());
    if (device().machine.waits_for_host()) return false;
    ++device().kernels_run;
    device().waited_unasked += device().machine.waited_unasked() ? 1 : 0;
    if (!wrong.empty()) fail(wrong);
    return true;
  };
  return give(config->stream, {run, kernel.function->name, words});
}

// --- the device ---

const char* cudaGetErrorString(cudaError_t) {
  return "see the fault";
}
const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaErrorLaunchFailure ? "cudaErrorLaunchFailure" : "another";
}
cudaError_t cudaGetLastError() {
  return std::exchange(last, cudaSuccess);
}
cudaError_t cudaSetDevice(int) {
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "PTX on the processor");
  properties->major = 9;
  properties->multiProcessorCount = 4;
  properties->totalGlobalMem = memory_bytes;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int*, cudaDeviceAttr, int) {
  return note(cudaErrorInvalidValue);
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = device().free_bytes;
  *total = memory_bytes;
  return cudaSuccess;
}

// --- memory ---

cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  if (capturing) return spoil("allocates pinned memory");
  const std::scoped_lock lock(device().mutex);
  *memory = allocate(bytes, 0);
  return *memory ? cudaSuccess : note(cudaErrorMemoryAllocation);
}
cudaError_t cudaFreeHost(void* memory) {
  if (capturing) return spoil("releases pinned memory");
  const std::scoped_lock lock(device().mutex);
  release(memory);
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  if (capturing) return spoil("allocates memory");
  const std::scoped_lock lock(device().mutex);
  *memory = bytes <= device().free_bytes ? allocate(bytes, device_window) : nullptr;
  if (!*memory) return note(cudaErrorMemoryAllocation);
  device().free_bytes -= bytes;
  return cudaSuccess;
}
cudaError_t cudaFree(void* memory) {
  if (capturing) return spoil("releases memory");
  const std::scoped_lock lock(device().mutex);
  device().free_bytes += release(memory);
  return cudaSuccess;
}
cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned) {
  if (capturing) return spoil("pins memory");
  const std::scoped_lock lock(device().mutex);
  device().pieces[reinterpret_cast<Slot>(memory)] = {bytes, ++device().pieces_made};
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* memory) {
  if (capturing) return spoil("releases pinned memory");
  const std::scoped_lock lock(device().mutex);
  device().pieces.erase(reinterpret_cast<Slot>(memory));
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* target, const void* source, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t stream) {
  return copy(target, 0, source, 0, bytes, 1, stream);
}
cudaError_t cudaMemcpy2DAsync(void* target, std::size_t target_stride, const void* source,
                              std::size_t source_stride, std::size_t bytes, std::size_t count, cudaMemcpyKind,
                              cudaStream_t stream) {
  return copy(target, target_stride, source, source_stride, bytes, count, stream);
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  const auto run = [=] {
    if (std::byte* const to = within_device(memory, bytes)) {
      std::memset(to, value, bytes);
    } else {
      fail("a copy beyond the device's memory");
    }
    return true;
  };
  return give(stream, {run, "a copy", {named(memory)}});
}

// --- events, streams, graphs ---

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new Event);
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete reinterpret_cast<Event*>(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (capturing) return spoil("records an event");
  *reinterpret_cast<Event*>(event) = {&stream_of(stream), stream_of(stream).given};
  return note(device().lost);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (capturing) return spoil("asks an event");
  const Event& of = *reinterpret_cast<Event*>(event);
  if (of.stream && !go_on(*of.stream, of.given)) return cudaErrorNotReady;
  return note(device().lost);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  *stream = reinterpret_cast<cudaStream_t>(new Stream);
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete &stream_of(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (capturing) return spoil("waits for a stream");
  if (!go_on(stream_of(stream), stream_of(stream).given)) return cudaErrorNotReady;
  return note(device().lost);
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (capturing) return spoil("begins another capture");
  capturing = &stream_of(stream);
  capturing->captures = true;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t of, cudaGraph_t* graph) {
  Stream& stream = stream_of(of);
  *graph = nullptr;
  if (!stream.captures) return note(cudaErrorIllegalState);
  capturing = nullptr;
  stream.captures = false;
  std::vector<Work> work = std::exchange(stream.captured, {});
  if (!std::exchange(stream.spoiled, {}).empty()) return note(cudaErrorStreamCaptureInvalidated);
  *graph = reinterpret_cast<cudaGraph_t>(new Graph{&stream, std::move(work)});
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  const Graph& captured = *reinterpret_cast<Graph*>(graph);
  *executable = reinterpret_cast<cudaGraphExec_t>(new Graph{captured.stream, captured.work});
  return cudaSuccess;
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete reinterpret_cast<Graph*>(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  const std::scoped_lock lock(device().mutex);
  *reinterpret_cast<Graph*>(executable)->is_gone = true;
  delete reinterpret_cast<Graph*>(executable);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  if (capturing) return spoil("launches a graph");
  const Graph& graph = *reinterpret_cast<Graph*>(executable);
  // It has that stream's memory for intermediate values.
  if (graph.stream != &stream_of(stream)) fail("a graph is launched in a stream that has not captured it");
  for (Work work : graph.work) {
    work.graph_is_gone = graph.is_gone;
    if (const cudaError_t error = give(stream, std::move(work)); error != cudaSuccess) return error;
  }
  return note(device().lost);
}
}
