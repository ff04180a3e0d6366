#include "fake_runtime.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace fovea::tests::fake_runtime {
namespace {

struct Stream {
  bool captures = false;
  bool spoiled = false;
};

std::array<std::atomic<int>, devices> used;
std::atomic<int> asks_left = 0, asked = 0;
std::atomic<cudaError_t> lost = cudaSuccess;
std::atomic<bool> no_memory = false, no_clearing = false, no_attributes = false;
std::atomic<int> architecture = 90;
std::atomic<int> living = 0;
thread_local int current = 0;  // the first device, unless another is chosen
thread_local cudaError_t last = cudaSuccess;
thread_local Stream* capturing = nullptr;

cudaError_t note(cudaError_t error) {
  if (error != cudaSuccess) last = error;
  return error;
}

// What most calls do first.
cudaError_t enter() {
  used[static_cast<std::size_t>(current)] = 1;
  return note(lost);
}
// Likewise what a capturing thread may not call.
cudaError_t enter_outside_capture() {
  if (const cudaError_t error = enter(); error != cudaSuccess) return error;
  if (!capturing) return cudaSuccess;
  capturing->spoiled = true;
  return note(cudaErrorStreamCaptureUnsupported);
}

template <typename Handle>
cudaError_t give(Handle* handle, void* object) {
  *handle = static_cast<Handle>(object);
  ++living;
  return cudaSuccess;
}
cudaError_t take_back(void* object) {
  if (object != nullptr) --living;
  std::free(object);
  return enter();
}

}  // namespace

void reset() {
  for (auto& context : used) context = 0;
  asks_left = asked = 0;
  lost = cudaSuccess;
  no_memory = no_clearing = no_attributes = false;
  architecture = 90;
  current = 0;
  last = cudaSuccess;
  capturing = nullptr;
}
void refuse_launch() {
  note(cudaErrorInvalidConfiguration);
}
void keep_events_waiting(int asks) {
  asks_left = asks;
}
int asks() {
  return asked;
}
void fail_with(cudaError_t error) {
  lost = error;
}
void take_memory(bool all) {
  no_memory = all;
}
void refuse_clearing() {
  no_clearing = true;
}
int objects() {
  return living;
}
void be_architecture(int sm) {
  architecture = sm;
}
void know_no_attributes() {
  no_attributes = true;
}
int contexts(int device) {
  return used[static_cast<std::size_t>(device)];
}

}  // namespace fovea::tests::fake_runtime

using namespace fovea::tests::fake_runtime;

extern "C" {

const char* cudaGetErrorString(cudaError_t) {
  return "planted";
}
const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaErrorNotReady               ? "cudaErrorNotReady"
         : error == cudaErrorInvalidConfiguration ? "cudaErrorInvalidConfiguration"
         : error == cudaErrorLaunchFailure        ? "cudaErrorLaunchFailure"
                                                  : "another";
}
cudaError_t cudaGetLastError() {
  return std::exchange(last, cudaSuccess);
}
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= devices) return note(cudaErrorInvalidDevice);
  current = device;
  return enter();
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device < 0 || device >= devices) return note(cudaErrorInvalidDevice);
  *properties = {};
  properties->major = architecture / 10;
  properties->minor = architecture % 10;
  properties->multiProcessorCount = 2;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 1000;
  return no_attributes ? note(cudaErrorInvalidValue) : cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = *total = std::size_t{1} << 30;
  return enter_outside_capture();
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  if (const cudaError_t error = enter_outside_capture(); error != cudaSuccess) return error;
  if (no_memory) return note(cudaErrorMemoryAllocation);
  return give(memory, std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
}
cudaError_t cudaFree(void* memory) {
  take_back(memory);
  return enter_outside_capture();
}
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  return cudaMalloc(memory, bytes);
}
cudaError_t cudaFreeHost(void* memory) {
  return cudaFree(memory);
}
cudaError_t cudaHostRegister(void*, std::size_t, unsigned) {
  return no_memory ? note(cudaErrorMemoryAllocation) : enter_outside_capture();
}
cudaError_t cudaHostUnregister(void*) {
  return enter_outside_capture();
}
cudaError_t cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t) {
  return enter();
}
cudaError_t cudaMemcpy2DAsync(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t,
                              cudaMemcpyKind, cudaStream_t) {
  return enter();
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t) {
  if (no_clearing) return note(cudaErrorLaunchFailure);
  std::memset(memory, value, bytes);
  return enter();
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  if (const cudaError_t error = enter(); error != cudaSuccess) return error;
  return give(event, std::malloc(1));
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return take_back(event);
}
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  return enter();
}
// Not ready is noted as errors are.
cudaError_t cudaEventQuery(cudaEvent_t) {
  if (const cudaError_t error = enter_outside_capture(); error != cudaSuccess) return error;
  ++asked;
  return asks_left-- > 0 ? note(cudaErrorNotReady) : cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -1;
  return enter();
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  if (const cudaError_t error = enter(); error != cudaSuccess) return error;
  return give(stream, std::calloc(1, sizeof(Stream)));
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return take_back(stream);
}
cudaError_t cudaStreamQuery(cudaStream_t) {
  return cudaEventQuery(nullptr);
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (const cudaError_t error = enter(); error != cudaSuccess) return error;
  capturing = reinterpret_cast<Stream*>(stream);
  *capturing = {.captures = true};
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  capturing = nullptr;
  const bool spoiled = reinterpret_cast<Stream*>(stream)->spoiled;
  if (spoiled) return note(cudaErrorStreamCaptureInvalidated);
  return give(graph, std::malloc(1));
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t, unsigned long long) {
  return give(executable, std::malloc(1));
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return take_back(graph);
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return take_back(executable);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) {
  return enter();
}
}
