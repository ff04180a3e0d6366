#include "runtime.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "card.h"

namespace fovea::tests::ptx {
namespace {

constexpr std::uint32_t max_blocks_beside = 65535;  // of a grid's second and third side

// Of one object of nvcc's: its PTX is read when one of its kernels is first started.
struct Object {
  std::string_view text;
  std::unique_ptr<Program> program;
};
struct Kernel {
  Object* object = nullptr;
  std::string name;
  const Function* function = nullptr;  // once it is known
};
// Objects register their kernels before main().
struct Kernels {
  std::vector<std::unique_ptr<Object>> objects;
  std::map<const void*, Kernel> by_name;  // the host's
};
Kernels& kernels() {
  static Kernels all;
  return all;
}

struct Planted {
  int asks_left = 0, asked = 0;
  bool no_memory = false, no_clearing = false, no_attributes = false;
  int architecture = 90;
};
Planted planted;
std::atomic<int> living = 0;

using Lock = std::scoped_lock<std::recursive_mutex>;

Stream& stream_of(cudaStream_t stream) {
  return *reinterpret_cast<Stream*>(stream);
}

// What most calls do first.
cudaError_t enter() {
  Card* const card = current_card();
  if (!card) return note(cudaErrorInvalidDevice);
  card->is_used = true;
  return note(card->lost);
}

Kernel* kernel_named(const void* host_name) {
  const auto found = kernels().by_name.find(host_name);
  if (found == kernels().by_name.end()) return nullptr;
  Kernel& kernel = found->second;
  if (!kernel.function) {
    if (!kernel.object->program) {
      kernel.object->program =
          kernel.object->text.empty() ? std::make_unique<Program>() : parse(kernel.object->text);
      for (const auto& [name, bytes] : kernel.object->program->constants)
        all().pinned.add(bytes.data(), static_cast<std::int64_t>(bytes.size()));
    }
    kernel.function = kernel.object->program->functions.at(kernel.name).get();
  }
  return &kernel;
}

bool overlaps(const cudaLaunchConfig_t& config) {
  const std::span attributes(config.attrs, config.numAttrs);
  return std::ranges::any_of(attributes, [](const cudaLaunchAttribute& one) {
    return one.id == cudaLaunchAttributeProgrammaticStreamSerialization &&
           one.val.programmaticStreamSerializationAllowed != 0;
  });
}

bool is_possible(const cudaLaunchConfig_t& config, const Card& card, const Function& kernel) {
  const auto given = card.dynamic_bytes.find(&kernel);
  const std::int64_t dynamic_bytes = given == card.dynamic_bytes.end() ? usual_shared_bytes : given->second;
  const dim3 &grid = config.gridDim, &block = config.blockDim;
  return grid.x > 0 && grid.y > 0 && grid.z > 0 && grid.x < 1U << 31 && grid.y <= max_blocks_beside &&
         grid.z <= max_blocks_beside && block.x > 0 && block.x <= kernel.max_threads && block.y == 1 &&
         block.z == 1 && static_cast<std::int64_t>(config.dynamicSmemBytes) <= dynamic_bytes;
}

cudaError_t copy(void* target, std::size_t target_stride, const void* source, std::size_t source_stride,
                 std::size_t bytes, std::size_t count, cudaStream_t of) {
  const Lock lock(all().mutex);
  if (const cudaError_t error = enter(); error != cudaSuccess) return error;
  Stream& stream = stream_of(of);
  const auto is_known = [&](const void* memory) {
    return stream.card.memory.number(reinterpret_cast<Slot>(memory), bytes) != 0;
  };
  if (stream.captures && !(is_known(target) && is_known(source)))
    return spoil("copies host memory that is not pinned");
  const auto run = [=, &card = stream.card] {
    for (std::size_t i = 0; i < count; ++i) {
      std::byte* const to = card.reach(static_cast<std::byte*>(target) + i * target_stride, bytes);
      const std::byte* const from =
          card.reach(static_cast<const std::byte*>(source) + i * source_stride, bytes);
      if (to && from) {
        std::memmove(to, from, bytes);
      } else {
        card.fail("a copy beyond the device's memory");
      }
    }
    return true;
  };
  return give(stream, {run, "a copy", {stream.card.named(target), stream.card.named(source)}});
}

// Whether all is done that was given to the stream up to there. Events bring it on a little.
cudaError_t query(Stream& stream, std::uint64_t given, bool all_of_it) {
  if (all_of_it) ++stream.waited_for;
  for (bool more = true; more && !stream.is_done(given); more &= all_of_it || stream.card.random() % 2 == 0)
    more = stream.go_on();
  return stream.is_done(given) ? note(stream.card.lost) : note(cudaErrorNotReady);
}
// A test says that it is not ready.
bool is_kept_waiting() {
  ++planted.asked;
  return planted.asks_left > 0 && planted.asks_left-- > 0;
}

template <typename Handle>
cudaError_t hand_out(Handle* handle, void* object) {
  *handle = reinterpret_cast<Handle>(object);
  ++living;
  return cudaSuccess;
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

Card& card(int ordinal) {
  return *all().cards.at(ordinal);
}

}  // namespace

int add_card(CardOptions options) {
  const Lock lock(all().mutex);
  const int ordinal = all().cards.empty() ? 0 : all().cards.rbegin()->first + 1;
  all().cards[ordinal] = std::make_unique<Card>(ordinal, std::move(options), all().pinned);
  return ordinal;
}
void remove_card(int ordinal) {
  const Lock lock(all().mutex);
  all().cards.erase(ordinal);
}

void use_seed(std::uint64_t seed, int ordinal) {
  card(ordinal).machine.use_seed(seed);
  card(ordinal).random.seed(seed);
}
std::string fault(int ordinal) {
  const Lock lock(all().mutex);
  card(ordinal).lost = cudaSuccess;
  return std::exchange(card(ordinal).fault, {});
}
void watch(bool races, int ordinal) {
  card(ordinal).machine.watch(races);
}
std::int64_t waited_unasked(int ordinal) {
  return card(ordinal).waited_unasked;
}
std::int64_t kernels_run(int ordinal) {
  return card(ordinal).kernels_run;
}
std::int64_t instructions_run(int ordinal) {
  return card(ordinal).machine.instructions();
}

void do_later(cudaStream_t stream, std::function<void()> work) {
  give(stream_of(stream), {[work = std::move(work)] {
                             work();
                             return true;
                           },
                           "a library's work"});
}
std::byte* reach(cudaStream_t stream, const void* memory, std::size_t bytes) {
  return stream_of(stream).card.reach(memory, bytes);
}

void reset(int cards) {
  const Lock lock(all().mutex);
  planted = {};
  all().cards.clear();
  for (int i = 0; i < cards; ++i) add_card({});
  current = 0;
  last_error = cudaSuccess;
  capturing = nullptr;
}
void refuse_launch() {
  note(cudaErrorInvalidConfiguration);
}
void keep_events_waiting(int asks) {
  planted.asks_left = asks;
}
int asks() {
  return planted.asked;
}
void fail_with(cudaError_t error) {
  for (auto& [ordinal, each] : all().cards) each->lost = error;
}
void take_memory(bool all) {
  planted.no_memory = all;
}
void refuse_clearing() {
  planted.no_clearing = true;
}
void know_no_attributes() {
  planted.no_attributes = true;
}
void be_architecture(int sm) {
  planted.architecture = sm;
}
int objects() {
  return living;
}
int contexts(int ordinal) {
  return card(ordinal).is_used ? 1 : 0;
}

}  // namespace fovea::tests::ptx

using namespace fovea::tests::ptx;

extern "C" {

// --- what nvcc's objects call ---

void** __cudaRegisterFatBinary(void* wrapper) {
  kernels().objects.push_back(std::make_unique<Object>(Object{ptx_within(wrapper), nullptr}));
  return reinterpret_cast<void**>(kernels().objects.back().get());
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void** object, const char* host_name, char*, const char* name, int, void*, void*,
                            void*, void*, int*) {
  kernels().by_name[host_name] = {reinterpret_cast<Object*>(object), name, nullptr};
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

cudaError_t cudaFuncSetAttribute(const void* host_name, cudaFuncAttribute attribute, int value) {
  const Lock lock(all().mutex);
  if (const cudaError_t error = enter(); error != cudaSuccess) return error;
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value > max_shared_bytes)
    return note(cudaErrorInvalidValue);
  current_card()->dynamic_bytes[kernel_named(host_name)->function] = value;
  return cudaSuccess;
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* host_name, void** arguments) {
  const Lock lock(all().mutex);
  if (const cudaError_t error = enter(); error != cudaSuccess) return error;
  Stream& stream = stream_of(config->stream);
  Card& card = stream.card;
  if (current_card() != &card) {
    card.report("a kernel is launched by a thread that has chosen another device than the stream's");
    return note(cudaErrorInvalidResourceHandle);
  }
  const Kernel* const found = kernel_named(host_name);
  if (!found) return note(cudaErrorInvalidDeviceFunction);
  const Function& kernel = *found->function;
  if (!is_possible(*config, card, kernel)) return note(cudaErrorInvalidConfiguration);
  const Grid grid = {.blocks = {config->gridDim.x, config->gridDim.y, config->gridDim.z},
                     .threads = config->blockDim.x,
                     .shared_bytes = static_cast<std::int64_t>(config->dynamicSmemBytes),
                     .overlaps = overlaps(*config)};
  if (card.options.on_launch) {
    card.options.on_launch({.grid = {grid.blocks[0], grid.blocks[1], grid.blocks[2]},
                            .threads = grid.threads,
                            .shared_bytes = config->dynamicSmemBytes});
    return cudaSuccess;
  }
  std::vector<std::vector<std::byte>> kept;
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const auto* const argument = static_cast<const std::byte*>(arguments[i]);
    kept.emplace_back(argument, argument + kernel.parameters[i].bytes);
  }
  // Whatever of its arguments may be an address.
  std::vector<Named> words;
  for (const auto& bytes : kept) {
    for (std::size_t at = 0; stream.captures && at + sizeof(void*) <= bytes.size(); at += sizeof(void*)) {
      const void* word = nullptr;
      std::memcpy(&word, bytes.data() + at, sizeof word);
      words.push_back(card.named(word));
    }
  }
  const auto run = [&card, &program = *found->object->program, &kernel, grid, kept] {
    std::vector<const void*> parameters;
    for (const auto& bytes : kept) parameters.push_back(bytes.data());
    const std::string wrong = card.machine.execute(program, kernel, grid, parameters.data());
    if (card.machine.waits_for_host()) return false;
    ++card.kernels_run;
    card.waited_unasked += card.machine.waited_unasked() ? 1 : 0;
    if (!wrong.empty()) card.fail(wrong);
    return true;
  };
  return give(stream, {run, kernel.name, words});
}

// --- cards ---

// What went wrong, where the card's own kernels did.
const char* cudaGetErrorString(cudaError_t error) {
  const Lock lock(all().mutex);
  const Card* const card = current_card();
  return error == cudaSuccess || !card || card->fault.empty() ? "planted" : lasting(card->fault);
}
const char* cudaGetErrorName(cudaError_t error) {
  return error == cudaErrorNotReady                   ? "cudaErrorNotReady"
         : error == cudaErrorInvalidConfiguration     ? "cudaErrorInvalidConfiguration"
         : error == cudaErrorLaunchFailure            ? "cudaErrorLaunchFailure"
         : error == cudaErrorInvalidResourceHandle    ? "cudaErrorInvalidResourceHandle"
         : error == cudaErrorStreamCaptureUnsupported ? "cudaErrorStreamCaptureUnsupported"
         : error == cudaErrorStreamCaptureInvalidated ? "cudaErrorStreamCaptureInvalidated"
                                                      : "another";
}
cudaError_t cudaGetLastError() {
  return std::exchange(last_error, cudaSuccess);
}
cudaError_t cudaSetDevice(int ordinal) {
  const Lock lock(all().mutex);
  if (!all().cards.contains(ordinal)) return note(cudaErrorInvalidDevice);
  current = ordinal;
  return enter();
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  const Lock lock(all().mutex);
  *count = static_cast<int>(all().cards.size());
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int ordinal) {
  const Lock lock(all().mutex);
  const auto found = all().cards.find(ordinal);
  if (found == all().cards.end()) return note(cudaErrorInvalidDevice);
  *properties = {};
  std::strcpy(properties->name, "PTX on the processor");
  properties->major = planted.architecture / 10;
  properties->minor = planted.architecture % 10;
  properties->multiProcessorCount = found->second->options.multiprocessors;
  properties->totalGlobalMem = found->second->options.memory_bytes;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr, int) {
  *value = 1000;
  return planted.no_attributes ? note(cudaErrorInvalidValue) : cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  if (capturing) return spoil("asks for free memory");
  const Lock lock(all().mutex);
  if (const cudaError_t error = enter(); error != cudaSuccess) return error;
  *free = current_card()->free_bytes;
  *total = current_card()->options.memory_bytes;
  return cudaSuccess;
}

// --- memory ---

cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  if (capturing) return spoil("allocates pinned memory");
  const Lock lock(all().mutex);
  if (const cudaError_t error = enter(); error != cudaSuccess) return error;
  void* const made = planted.no_memory ? nullptr : std::aligned_alloc(4096, (bytes + 4096) / 4096 * 4096);
  if (!made) return note(cudaErrorMemoryAllocation);
  std::memset(made, 0xFF, bytes);  // no numbers
  all().pinned.add(made, static_cast<std::int64_t>(bytes));
  return hand_out(memory, made);
}
cudaError_t cudaFreeHost(void* memory) {
  if (capturing) return spoil("releases pinned memory");
  const Lock lock(all().mutex);
  if (all().pinned.remove(memory) > 0) {
    std::free(memory);
    --living;
  }
  return enter();
}
cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  if (capturing) return spoil("allocates memory");
  const Lock lock(all().mutex);
  if (const cudaError_t error = enter(); error != cudaSuccess) return error;
  Card& card = *current_card();
  const bool fits = !planted.no_memory && bytes <= card.free_bytes;
  void* const made = fits ? card.memory.allocate(bytes) : nullptr;
  if (!made) return note(cudaErrorMemoryAllocation);
  card.free_bytes -= bytes;
  return hand_out(memory, made);
}
cudaError_t cudaFree(void* memory) {
  if (capturing) return spoil("releases memory");
  const Lock lock(all().mutex);
  for (auto& [ordinal, card] : all().cards) {
    const std::size_t bytes = card->memory.remove(memory);
    card->free_bytes += bytes;
    if (bytes > 0) --living;
  }
  return enter();
}
cudaError_t cudaHostRegister(void* memory, std::size_t bytes, unsigned) {
  if (capturing) return spoil("pins memory");
  const Lock lock(all().mutex);
  if (planted.no_memory) return note(cudaErrorMemoryAllocation);
  all().pinned.add(memory, static_cast<std::int64_t>(bytes), false);
  return enter();
}
cudaError_t cudaHostUnregister(void* memory) {
  if (capturing) return spoil("releases pinned memory");
  const Lock lock(all().mutex);
  all().pinned.remove(memory);
  return enter();
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
  const Lock lock(all().mutex);
  if (planted.no_clearing) return note(cudaErrorLaunchFailure);
  if (const cudaError_t error = enter(); error != cudaSuccess) return error;
  Card& card = stream_of(stream).card;
  const auto run = [=, &card] {
    if (std::byte* const to = card.reach(memory, bytes)) {
      std::memset(to, value, bytes);
    } else {
      card.fail("a copy beyond the device's memory");
    }
    return true;
  };
  return give(stream_of(stream), {run, "a copy", {card.named(memory)}});
}

// --- events, streams, graphs ---

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  const Lock lock(all().mutex);
  if (const cudaError_t error = enter(); error != cudaSuccess) return error;
  return hand_out(event, new Event);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const Lock lock(all().mutex);
  delete reinterpret_cast<Event*>(event);
  --living;
  return enter();
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t of) {
  if (capturing) return spoil("records an event");
  const Lock lock(all().mutex);
  if (const cudaError_t error = enter(); error != cudaSuccess) return error;
  Stream& stream = stream_of(of);
  *reinterpret_cast<Event*>(event) = {stream.card.streams.at(&stream), stream.given};
  return note(stream.card.lost);
}
// Not ready is noted as errors are.
cudaError_t cudaEventQuery(cudaEvent_t of) {
  if (capturing) return spoil("asks an event");
  const Lock lock(all().mutex);
  if (const cudaError_t error = enter(); error != cudaSuccess) return error;
  if (is_kept_waiting()) return note(cudaErrorNotReady);
  const Event& event = *reinterpret_cast<Event*>(of);
  const auto stream = event.stream.lock();
  return stream ? query(*stream, event.given, false) : cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  const Lock lock(all().mutex);
  *least = 0;
  *greatest = -1;
  return enter();
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  const Lock lock(all().mutex);
  if (const cudaError_t error = enter(); error != cudaSuccess) return error;
  const auto made = std::make_shared<Stream>(*current_card());
  made->card.streams[made.get()] = made;
  return hand_out(stream, made.get());
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  const Lock lock(all().mutex);
  stream_of(stream).card.streams.erase(&stream_of(stream));
  --living;
  return enter();
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (capturing) return spoil("waits for a stream");
  const Lock lock(all().mutex);
  if (const cudaError_t error = enter(); error != cudaSuccess) return error;
  if (is_kept_waiting()) return note(cudaErrorNotReady);
  return query(stream_of(stream), stream_of(stream).given, true);
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (capturing) return spoil("begins another capture");
  const Lock lock(all().mutex);
  if (const cudaError_t error = enter(); error != cudaSuccess) return error;
  capturing = &stream_of(stream);
  capturing->captures = true;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t of, cudaGraph_t* graph) {
  const Lock lock(all().mutex);
  Stream& stream = stream_of(of);
  *graph = nullptr;
  if (!stream.captures) {
    stream.card.report("a capture ends that has not begun");
    return note(cudaErrorIllegalState);
  }
  capturing = nullptr;
  stream.captures = false;
  std::vector<Work> work = std::exchange(stream.captured, {});
  if (!std::exchange(stream.spoiled, {}).empty()) return note(cudaErrorStreamCaptureInvalidated);
  return hand_out(graph, new Graph{stream.card.streams.at(&stream), std::move(work)});
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  const Graph& captured = *reinterpret_cast<Graph*>(graph);
  return hand_out(executable, new Graph{captured.stream, captured.work});
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const Lock lock(all().mutex);
  delete reinterpret_cast<Graph*>(graph);
  --living;
  return enter();
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  const Lock lock(all().mutex);
  *reinterpret_cast<Graph*>(executable)->is_gone = true;
  delete reinterpret_cast<Graph*>(executable);
  --living;
  return enter();
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t of) {
  if (capturing) return spoil("launches a graph");
  const Lock lock(all().mutex);
  if (const cudaError_t error = enter(); error != cudaSuccess) return error;
  const Graph& graph = *reinterpret_cast<Graph*>(executable);
  Stream& stream = stream_of(of);
  // It has that stream's memory for intermediate values.
  if (graph.stream.lock().get() != &stream) {
    stream.card.fail("a graph is launched in a stream that has not captured it");
    return note(stream.card.lost);
  }
  for (Work work : graph.work) {
    work.graph_is_gone = graph.is_gone;
    if (const cudaError_t error = give(stream, std::move(work)); error != cudaSuccess) return error;
  }
  return note(stream.card.lost);
}
}
