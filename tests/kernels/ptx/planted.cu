#include "planted.h"

#include <utility>

namespace fovea::tests::ptx {
namespace {

constexpr int many = 96;

__device__ void wait_for_earlier() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}
__device__ void copy_async(int* target, const int* source, bool wanted) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(target))),
               "l"(source), "r"(wanted ? 16 : 0)
               : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
}
__device__ void wait_for_copies() {
  asm volatile("cp.async.wait_group 0;" ::: "memory");
}

// --- without a mistake ---

__global__ void each_its_own(int* x, int* y) {
  char* const bytes = reinterpret_cast<char*>(y);
  const unsigned i = blockIdx.x * many + threadIdx.x;
  bytes[i] = static_cast<char>(x[i]);
  x[i] += bytes[i];
}
__global__ void shares_behind_a_barrier(int* x, int*) {
  int* const mine = x + blockIdx.x * many;
  mine[threadIdx.x] = 1;
  __syncthreads();
  const int other = mine[(threadIdx.x + 40) % many];
  __syncthreads();
  mine[threadIdx.x] = other;
}
__global__ void counts(int* x, int* y) {
  __shared__ int inside[1];
  if (threadIdx.x == 0) inside[0] = 0;
  __syncthreads();
  atomicAdd(inside, 2);
  if (threadIdx.x % 32 == 0) atomicAdd(x, 1);
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = inside[0];
}
__global__ void sums(int* x, int* y) {
  __shared__ int sums[many / 32];
  int sum = x[blockIdx.x * many + threadIdx.x];
  for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0U, sum, lanes);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = sums[0] + sums[1] + sums[2];
}
__global__ void copies(int* x, int* y) {
  __shared__ alignas(16) int tile[4 * many];
  copy_async(tile + 4 * threadIdx.x, x + 4 * threadIdx.x, threadIdx.x % 5 != 0);
  wait_for_copies();
  const int4 own = *reinterpret_cast<const int4*>(tile + 4 * threadIdx.x);
  __syncthreads();
  y[threadIdx.x] = own.x + own.w + tile[(4 * threadIdx.x + 17) % (4 * many)];
}
__global__ void waits(int* x, int*) {
  wait_for_earlier();
  x[threadIdx.x] += 2;
}
__global__ void has_warp_barrier(int* x, int*) {
  __shared__ int row[many];
  row[threadIdx.x] = 1;
  __syncwarp();
  x[threadIdx.x] = row[threadIdx.x ^ 1U];
}
// The last block adds what all have written.
__global__ void last_block_adds(int* x, int* y) {
  __shared__ bool is_last;
  x[1 + blockIdx.x * many + threadIdx.x] = 1;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(x, 1) + 1 == static_cast<int>(gridDim.x);
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += x[1 + b * many + (threadIdx.x + 40) % many];
  y[threadIdx.x] = sum;
}

// --- device memory ---

__global__ void blocks_write_the_same(int* x, int*) {
  if (threadIdx.x == 0) x[5] = static_cast<int>(blockIdx.x);
}
__global__ void blocks_read_what_others_write(int* x, int*) {
  if (threadIdx.x == 0) x[blockIdx.x] = x[(blockIdx.x + 1) % gridDim.x];
}
__global__ void warps_write_the_same(int* x, int*) {
  if (threadIdx.x % 32 == 0) x[blockIdx.x] = 1;
}
__global__ void lanes_write_the_same(int* x, int*) {
  if (threadIdx.x < 32) x[blockIdx.x] = static_cast<int>(threadIdx.x);
}
__global__ void warps_read_without_a_barrier(int* x, int*) {
  int* const mine = x + blockIdx.x * many;
  mine[threadIdx.x] = mine[(threadIdx.x + 40) % many];
}
__global__ void reads_a_count_of_others(int* x, int*) {
  if (threadIdx.x == 0) x[1 + blockIdx.x] = atomicAdd(x, 1);
  if (threadIdx.x == 32) x[9 + blockIdx.x] = x[0];
}
__global__ void last_block_adds_unfenced(int* x, int* y) {
  __shared__ bool is_last;
  x[1 + blockIdx.x * many + threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(x, 1) + 1 == static_cast<int>(gridDim.x);
  __syncthreads();
  if (!is_last) return;
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; ++b) sum += x[1 + b * many + (threadIdx.x + 40) % many];
  y[threadIdx.x] = sum;
}
__global__ void writes_past_its_array(int* x, int*) {
  if (threadIdx.x == 7) x[1000] = 1;
}
__global__ void writes_far_past_its_array(int* x, int*) {
  if (threadIdx.x == 7) x[500000] = 1;
}
__global__ void reads_host_memory(int*, int* host) {
  if (threadIdx.x == 7) *const_cast<volatile int*>(host);
}
__global__ void reads_before_it_waits(int* x, int*) {
  const int value = x[threadIdx.x];
  wait_for_earlier();
  x[threadIdx.x] = value + 2;
}
__global__ void waits_too_late(int* x, int*) {
  __shared__ int row[many];
  row[threadIdx.x] = 2;
  __syncthreads();
  wait_for_earlier();
  x[threadIdx.x] += row[0];
}
__global__ void waits_in_part(int* x, int*) {
  if (threadIdx.x == 7) return;
  wait_for_earlier();
  x[threadIdx.x] += 2;
}
__global__ void depends_on_order(int* x, int*) {
  x[0] = static_cast<int>(static_cast<unsigned>(x[0]) * 3U + threadIdx.x);
}

// --- shared memory ---

__global__ void writes_past_shared(int* x, int*) {
  __shared__ int row[16];
  if (threadIdx.x < 17) row[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x < 16) x[threadIdx.x] = row[threadIdx.x ^ 1U];
}
__global__ void fills_dynamic_shared(int* x, int*) {
  extern __shared__ int dynamic[];
  dynamic[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = dynamic[threadIdx.x ^ 1U];
}
__global__ void reads_unwritten_shared(int* x, int*) {
  __shared__ int row[many + 1];
  row[threadIdx.x] = 1;
  __syncthreads();
  x[threadIdx.x] = row[threadIdx.x + 1];
}
__global__ void lacks_barrier_before_read(int* x, int*) {
  __shared__ int row[many];
  row[threadIdx.x] = 1;
  x[threadIdx.x] = row[(threadIdx.x + 40) % many];
}
__global__ void lacks_barrier_before_write(int* x, int*) {
  __shared__ int row[many];
  row[threadIdx.x] = 1;
  __syncthreads();
  const int other = row[(threadIdx.x + 40) % many];
  row[threadIdx.x] = other + 1;
  __syncthreads();
  x[threadIdx.x] = row[threadIdx.x ^ 1U];
}
__global__ void lacks_warp_barrier(int* x, int*) {
  __shared__ int row[many];
  row[threadIdx.x] = 1;
  x[threadIdx.x] = row[threadIdx.x ^ 1U];
}
__global__ void writes_twice(int* x, int*) {
  __shared__ int row[many];
  row[threadIdx.x / 2] = 1;
  __syncthreads();
  x[threadIdx.x] = row[threadIdx.x / 4];
}
__global__ void reads_before_its_copy_landed(int* x, int* y) {
  __shared__ alignas(16) int tile[4 * many];
  copy_async(tile + 4 * threadIdx.x, x, true);
  y[threadIdx.x] = tile[4 * threadIdx.x];
  wait_for_copies();
}
__global__ void ends_before_its_copy_landed(int* x, int*) {
  __shared__ alignas(16) int tile[4 * many];
  copy_async(tile + 4 * threadIdx.x, x, true);
}
__global__ void loads_unaligned(int* x, int*) {
  __shared__ alignas(16) int tile[4 * many];
  for (int i = 0; i < 4; ++i) tile[4 * threadIdx.x + i] = x[i];
  __syncthreads();
  const int4 four = *reinterpret_cast<const int4*>(tile + 1);
  x[threadIdx.x] = four.x + four.y + four.z + four.w;
}

// --- threads that wait ---

__global__ void some_miss_the_barrier(int* x, int*) {
  if (threadIdx.x < 5) __syncthreads();
  x[threadIdx.x] = 0;
}
__global__ void waits_at_two_barriers(int* x, int*) {
  if (threadIdx.x < 5) {
    __syncthreads();
    x[threadIdx.x] = 1;
  } else {
    __syncthreads();
  }
}
__device__ void multiply(int* x) {
  unsigned sums[4] = {};
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %4, %4, %4}, {%4, %4}, "
      "{%0, %1, %2, %3};"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(0));
  x[threadIdx.x] = static_cast<int>(sums[0]);
}
__global__ void multiplies_without_a_lane(int* x, int*) {
  if (threadIdx.x != 21) multiply(x);
}
__global__ void multiplies_while_others_wait(int* x, int*) {
  if (threadIdx.x % 32 != 3) multiply(x);
  __syncthreads();
}
__global__ void shuffles_with_the_ended(int* x, int*) {
  if (threadIdx.x == 9) return;
  x[threadIdx.x] = __shfl_xor_sync(~0U, x[threadIdx.x], 1);
}
__global__ void shuffles_outside_its_mask(int* x, int*) {
  x[threadIdx.x] = __shfl_xor_sync(0xFFFFU, x[threadIdx.x], 1);
}
__global__ void shuffles_while_others_wait(int* x, int*) {
  if (threadIdx.x % 32 != 3) x[threadIdx.x] = __shfl_xor_sync(~0U, x[threadIdx.x], 1);
  __syncthreads();
}

using Kernel = void (*)(int*, int*);
#define PLANTED(name) {#name, name}
constexpr std::pair<std::string_view, Kernel> kernels[] = {PLANTED(each_its_own),
                                                           PLANTED(shares_behind_a_barrier),
                                                           PLANTED(counts),
                                                           PLANTED(sums),
                                                           PLANTED(copies),
                                                           PLANTED(waits),
                                                           PLANTED(has_warp_barrier),
                                                           PLANTED(last_block_adds),
                                                           PLANTED(blocks_write_the_same),
                                                           PLANTED(blocks_read_what_others_write),
                                                           PLANTED(warps_write_the_same),
                                                           PLANTED(lanes_write_the_same),
                                                           PLANTED(warps_read_without_a_barrier),
                                                           PLANTED(reads_a_count_of_others),
                                                           PLANTED(last_block_adds_unfenced),
                                                           PLANTED(writes_past_its_array),
                                                           PLANTED(writes_far_past_its_array),
                                                           PLANTED(reads_host_memory),
                                                           PLANTED(reads_before_it_waits),
                                                           PLANTED(waits_too_late),
                                                           PLANTED(waits_in_part),
                                                           PLANTED(depends_on_order),
                                                           PLANTED(writes_past_shared),
                                                           PLANTED(fills_dynamic_shared),
                                                           PLANTED(waits_at_two_barriers),
                                                           PLANTED(multiplies_without_a_lane),
                                                           PLANTED(multiplies_while_others_wait),
                                                           PLANTED(reads_unwritten_shared),
                                                           PLANTED(lacks_barrier_before_read),
                                                           PLANTED(lacks_barrier_before_write),
                                                           PLANTED(lacks_warp_barrier),
                                                           PLANTED(writes_twice),
                                                           PLANTED(reads_before_its_copy_landed),
                                                           PLANTED(ends_before_its_copy_landed),
                                                           PLANTED(loads_unaligned),
                                                           PLANTED(some_miss_the_barrier),
                                                           PLANTED(shuffles_with_the_ended),
                                                           PLANTED(shuffles_outside_its_mask),
                                                           PLANTED(shuffles_while_others_wait)};
#undef PLANTED

}  // namespace

cudaError_t start_planted(std::string_view name, const PlantedLaunch& launch, cudaStream_t stream, int* x,
                          int* y) {
  cudaLaunchAttribute overlap = {};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(launch.blocks);
  config.blockDim = dim3(launch.threads);
  config.dynamicSmemBytes = launch.shared_bytes;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = launch.overlaps ? 1 : 0;
  for (const auto& [known, kernel] : kernels)
    if (known == name) return cudaLaunchKernelEx(&config, kernel, x, y);
  return cudaErrorInvalidDeviceFunction;
}

}  // namespace fovea::tests::ptx
