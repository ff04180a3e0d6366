// Bandwidth: every thread reads 16 bytes at a time, four reads under way, neighbours side by side, over a
// buffer that no cache holds. Arithmetic: products of small matrices on tensor cores with operands in
// registers, eight of each warp under way, as mma.sync reaches them (Hopper's own instruction does more);
// each begins with its last result, or the compiler would find that all rounds are the same. Launches: a
// captured graph of kernels that do nothing.
#include <algorithm>
#include <chrono>

#include "kernels/cuda/ceiling.h"
#include "kernels/cuda/grid.h"
#include "kernels/cuda/device_code.h"

namespace fovea::kernels::cuda {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned threads = 256;
constexpr unsigned warps = threads / 32;
constexpr int reads_under_way = 4;
constexpr int products_under_way = 8;
constexpr std::int64_t max_rounds = std::int64_t{1} << 24;

__device__ __forceinline__ std::int64_t thread_of_grid() {
  return std::int64_t{blockIdx.x} * threads + threadIdx.x;
}

// Arbitrary, and different everywhere.
__device__ __forceinline__ std::uint32_t scattered(std::int64_t i) {
  auto word = static_cast<std::uint32_t>(i) * 2654435761U;
  word ^= word >> 15;
  return word * 2246822519U;
}

__global__ void __launch_bounds__(threads, 1) fill_kernel(Words4* memory, std::int64_t count) {
  const std::int64_t stride = std::int64_t{gridDim.x} * threads;
  for (std::int64_t i = thread_of_grid(); i < count; i += stride) {
    Words4 words;
#pragma unroll
    for (int k = 0; k < 4; ++k) words.v[k] = scattered(4 * i + k);
    memory[i] = words;
  }
}

// `rounds` times reads_under_way words for each thread of the grid. sums [threads of the grid]
__global__ void __launch_bounds__(threads, 1)
    read_kernel(const Words4* memory, std::int64_t rounds, std::uint32_t* sums) {
  const std::int64_t stride = std::int64_t{gridDim.x} * threads;
  const Words4* next = memory + thread_of_grid();
  std::uint32_t sum = 0;
  for (std::int64_t round = 0; round < rounds; ++round) {
    Words4 words[reads_under_way];
#pragma unroll
    for (int k = 0; k < reads_under_way; ++k) words[k] = load_constant<Words4>(next + k * stride);
#pragma unroll
    for (int k = 0; k < reads_under_way; ++k)
      sum ^= words[k].v[0] ^ words[k].v[1] ^ words[k].v[2] ^ words[k].v[3];
    next += reads_under_way * stride;
  }
  sums[thread_of_grid()] = sum;
}

__global__ void __launch_bounds__(threads, 1) byte_products_kernel(std::int64_t rounds, int* sums) {
  std::uint32_t a[4], b[2];
#pragma unroll
  for (int k = 0; k < 4; ++k) a[k] = scattered(4 * thread_of_grid() + k);
#pragma unroll
  for (int k = 0; k < 2; ++k) b[k] = scattered(~(2 * thread_of_grid() + k));
  int c[products_under_way][4] = {};
#pragma unroll
  for (int p = 0; p < products_under_way; ++p) c[p][0] = p;
#pragma unroll 1
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma unroll
    for (int p = 0; p < products_under_way; ++p) multiply_bytes(c[p], a, b, c[p]);
  }
  int sum = 0;
#pragma unroll
  for (int p = 0; p < products_under_way; ++p) sum ^= c[p][0] ^ c[p][1] ^ c[p][2] ^ c[p][3];
  sums[thread_of_grid()] = sum;
}

__global__ void __launch_bounds__(threads, 1) half_products_kernel(std::int64_t rounds, float* sums) {
  // Of 1 … 2 and either sign, so that sums stay small.
  constexpr std::uint32_t kept = 0x83FF83FFU, exponents = 0x3C003C00U;
  std::uint32_t a[4], b[2];
#pragma unroll
  for (int k = 0; k < 4; ++k) a[k] = (scattered(4 * thread_of_grid() + k) & kept) | exponents;
#pragma unroll
  for (int k = 0; k < 2; ++k) b[k] = (scattered(~(2 * thread_of_grid() + k)) & kept) | exponents;
  float c[products_under_way][4] = {};
#pragma unroll 1
  for (std::int64_t round = 0; round < rounds; ++round) {
#pragma unroll
    for (int p = 0; p < products_under_way; ++p) multiply_halves(c[p], a, b);
  }
  float sum = 0;
#pragma unroll
  for (int p = 0; p < products_under_way; ++p) sum += c[p][0] + c[p][1] + c[p][2] + c[p][3];
  sums[thread_of_grid()] = sum;
}

__global__ void __launch_bounds__(32, 1) empty_kernel() {}
__global__ void __launch_bounds__(32, 1) empty_overlapping_kernel() {
  wait_for_earlier_kernels();
}

double seconds_of(Stream& stream, const auto& start, std::int64_t rounds) {
  const auto begin = Clock::now();
  start(rounds);
  stream.synchronize();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Rounds in a second. start(rounds) gives so many to the stream.
double best_rate(Stream& stream, const CeilingEffort& effort, const auto& start) {
  seconds_of(stream, start, 1);  // a kernel is loaded when it is first started
  std::int64_t rounds = 1;
  while (rounds < max_rounds && seconds_of(stream, start, rounds) < effort.min_seconds) rounds *= 2;
  double best = 0;
  for (int i = 0; i < effort.repetitions; ++i)
    best = std::max(best, static_cast<double>(rounds) / seconds_of(stream, start, rounds));
  return stream.failure().empty() ? best : 0;
}

double read_gb_per_s(const Device& device, CudaStream& stream, const CeilingEffort& effort) {
  std::byte* memory = nullptr;
  std::int64_t bytes = effort.buffer_bytes;
  while (!memory && bytes >= effort.min_buffer_bytes) {
    memory = device.allocate(bytes);
    if (!memory) bytes /= 2;
  }
  if (!memory) return 0;
  const unsigned blocks = 8 * static_cast<unsigned>(stream.multiprocessors());
  const std::int64_t round_bytes = std::int64_t{blocks} * threads * reads_under_way * 16;
  const std::int64_t rounds = bytes / round_bytes;
  auto* const words = reinterpret_cast<Words4*>(memory);
  launch<fill_kernel>({.grid_x = blocks, .threads = threads}, stream, words, bytes / 16);
  auto* const sums = Scratch(stream).take<std::uint32_t>(std::int64_t{blocks} * threads);
  const double rate = best_rate(stream, effort, [&](std::int64_t times) {
    for (std::int64_t i = 0; i < times; ++i)
      launch<read_kernel>({.grid_x = blocks, .threads = threads}, stream, words, rounds, sums);
  });
  stream.synchronize();
  device.release(memory, bytes);
  return rate * static_cast<double>(rounds * round_bytes) / 1e9;
}

// A multiply-add is two operations.
template <auto kernel, typename Sum>
double gop_per_s(CudaStream& stream, const CeilingEffort& effort, std::int64_t multiply_adds) {
  const unsigned blocks = 4 * static_cast<unsigned>(stream.multiprocessors());
  auto* const sums = Scratch(stream).take<Sum>(std::int64_t{blocks} * threads);
  const double rate = best_rate(stream, effort, [&](std::int64_t rounds) {
    launch<kernel>({.grid_x = blocks, .threads = threads}, stream, rounds, sums);
  });
  const std::int64_t products = std::int64_t{blocks} * warps * products_under_way;
  return rate * static_cast<double>(2 * products * multiply_adds) / 1e9;
}

template <auto kernel>
double node_us(CudaStream& stream, const CeilingEffort& effort, bool overlaps) {
  if ((overlaps && !stream.overlaps()) || !stream.begin_capture()) return 0;
  for (int i = 0; i < effort.nodes; ++i) launch<kernel>({.threads = 32, .overlaps = overlaps}, stream);
  std::string why;
  const auto graph = stream.end_capture(why);
  if (!graph) return 0;
  const double graphs_per_s = best_rate(stream, effort, [&](std::int64_t times) {
    for (std::int64_t i = 0; i < times; ++i) stream.launch(*graph);
  });
  return graphs_per_s > 0 ? 1e6 / (graphs_per_s * effort.nodes) : 0;
}

}  // namespace

DeviceCeiling measure_ceiling(const Device& device, Stream& stream, const CeilingEffort& effort) {
  CudaStream& cuda = on_cuda(stream);
  return {.read_gb_per_s = read_gb_per_s(device, cuda, effort),
          .byte_gop_per_s = gop_per_s<byte_products_kernel, int>(cuda, effort, 16 * 8 * 32),
          .half_gop_per_s = gop_per_s<half_products_kernel, float>(cuda, effort, 16 * 8 * 16),
          .node_us = node_us<empty_kernel>(cuda, effort, false),
          .overlapping_node_us = node_us<empty_overlapping_kernel>(cuda, effort, true)};
}

}  // namespace fovea::kernels::cuda
