// top_k, in two launches. Blocks with 2,048 logits each keep the largest, and add up what all of their own
// weigh beside their largest; one block takes the largest of what they kept, and joins the sums. Bound by
// latency: nothing is sorted before the last few are known. A block finds the smallest key that it keeps
// digit by digit: it counts how many keys lie in each of 256 ranges, and goes on within the one that the key
// is in.
#include "kernels/cuda/grid.h"
#include "kernels/cuda/operations.h"
#include "kernels/cuda/device_code.h"
#include "kernels/cuda/reduce.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned threads = 512;
constexpr unsigned last_threads = 1024;
constexpr unsigned run = 2048;  // keys of a block of the first launch
constexpr int digit_bits = 8;
constexpr unsigned digits = 1U << digit_bits;
static_assert(run >= max_top_k);

// A logit and its index, so that a larger key stands before a smaller one: the logit's bits as an integer of
// the same order, then the index's complement. No logit has the key 0.
using Key = std::uint64_t;

__device__ __forceinline__ Key key_of(float logit, std::uint32_t id) {
  return Key{ordered_bits(logit == logit ? logit : -INFINITY)} << 32 | ~id;
}
__device__ __forceinline__ float logit_of(Key key) {
  return float_of_ordered(static_cast<std::uint32_t>(key >> 32));
}

// Σ e^(inverse_temperature · d), Σ e^d and Σ d · e^d of some logits, d being a logit less the largest of
// them.
struct Sums {
  float largest = 0, scaled = 0, plain = 0, weighted = 0;
};

__device__ __forceinline__ void add_up(Sums& sums, float d, float inverse_temperature) {
  const float weight = expf(d);
  sums.scaled += expf(inverse_temperature * d);
  sums.plain += weight;
  sums.weighted += d * weight;
}

__device__ __forceinline__ Sums sums_of_block(Sums sums) {
  sums.scaled = sum_of_block(sums.scaled);
  __syncthreads();
  sums.plain = sum_of_block(sums.plain);
  __syncthreads();
  sums.weighted = sum_of_block(sums.weighted);
  return sums;
}

__device__ __forceinline__ int bits_of_width(Key width) {
  int bits = 0;
  for (; width > 0; width >>= 1) ++bits;
  return bits;
}

// The smallest of the `wanted` largest of `count` keys, which lie in smallest … largest and all differ;
// key_at(i) may give 0 where there is none. The whole block calls it.
template <typename KeyAt>
__device__ __forceinline__ Key smallest_kept(const KeyAt& key_at, unsigned count, unsigned wanted,
                                             Key smallest, Key largest) {
  __shared__ alignas(16) int counts[digits];
  __shared__ alignas(16) Key range[2];       // where the key is: from, and
  __shared__ alignas(16) unsigned state[2];  // how many of it are wanted, of how many
  int shift = bits_of_width(largest - smallest);
  Key from = smallest;
  for (;;) {
    const int range_bits = shift;
    shift = shift > digit_bits ? shift - digit_bits : 0;
    for (unsigned i = threadIdx.x; i < digits; i += blockDim.x) counts[i] = 0;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
      const Key key = key_at(i);
      if (key >= from && (range_bits >= 64 || (key - from) >> range_bits == 0))
        atomicAdd(&counts[static_cast<std::int64_t>((key - from) >> shift)], 1);
    }
    __syncthreads();
    if (threadIdx.x < 32) {
      // Eight digits of each lane, the largest keys' in the first.
      constexpr unsigned lane_digits = digits / 32;
      const unsigned first = digits - 1 - threadIdx.x * lane_digits;
      unsigned own = 0;
#pragma unroll
      for (unsigned k = 0; k < lane_digits; ++k) own += static_cast<unsigned>(counts[first - k]);
      unsigned larger = 0;  // keys of the lanes before
      unsigned together = own;
      for (unsigned apart = 1; apart < 32; apart *= 2) {
        const unsigned others = __shfl_xor_sync(whole_warp, together, apart);
        if ((threadIdx.x & apart) != 0) larger += others;
        together += others;
      }
      if (larger < wanted && wanted <= larger + own) {
        unsigned digit = first;
        for (;; --digit) {
          const auto here = static_cast<unsigned>(counts[digit]);
          if (wanted <= larger + here) {
            state[0] = wanted - larger;
            state[1] = here;
            break;
          }
          larger += here;
        }
        range[0] = from + (Key{digit} << shift);
      }
    }
    __syncthreads();
    from = range[0];
    wanted = state[0];
    if (shift == 0 || wanted == state[1]) return from;
  }
}

// The largest and the smallest key of the block's threads, of which one may have none: smallest > largest.
struct Bounds {
  Key smallest = ~Key{0};
  Key largest = 0;

  __device__ __forceinline__ void add(Key key) {
    if (key == 0) return;
    if (key < smallest) smallest = key;
    if (key > largest) largest = key;
  }
};
__device__ __forceinline__ Bounds bounds_of_lanes(Bounds bounds) {
  for (unsigned apart = 16; apart > 0; apart /= 2) {
    const Key smallest = __shfl_xor_sync(whole_warp, bounds.smallest, apart);
    const Key largest = __shfl_xor_sync(whole_warp, bounds.largest, apart);
    if (smallest < bounds.smallest) bounds.smallest = smallest;
    if (largest > bounds.largest) bounds.largest = largest;
  }
  return bounds;
}
__device__ __forceinline__ Bounds bounds_of_block(Bounds bounds) {
  __shared__ alignas(16) Bounds of_warps[32];
  bounds = bounds_of_lanes(bounds);
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = bounds;
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  return bounds_of_lanes(lane < blockDim.x / 32 ? static_cast<Bounds>(of_warps[lane]) : Bounds{});
}

// Each block keeps op.listed keys of its run of logits, zeros behind them where it has fewer, and their sums.
__global__ void __launch_bounds__(threads, 1) top_of_run_kernel(TopK op, Key* kept, Sums* run_sums) {
  wait_for_earlier_kernels();
  __shared__ alignas(16) Key keys[run];
  __shared__ int count;
  const std::int64_t begin = std::int64_t{blockIdx.x} * run;
  const auto there = static_cast<unsigned>(op.count - begin < run ? op.count - begin : run);
  Bounds bounds;
#pragma unroll
  for (unsigned k = 0; k < run / threads; ++k) {
    const unsigned i = threadIdx.x + k * threads;
    const Key key = i < there ? key_of(op.logits[begin + i], static_cast<std::uint32_t>(begin + i)) : 0;
    keys[i] = key;
    bounds.add(key);
  }
  if (threadIdx.x == 0) count = 0;
  bounds = bounds_of_block(bounds);
  const float largest = logit_of(bounds.largest);
  const float inverse_temperature = *op.inverse_temperature;
  Sums sums;
#pragma unroll
  for (unsigned k = 0; k < run / threads; ++k) {
    const Key key = keys[threadIdx.x + k * threads];
    if (key != 0 && logit_of(key) > -INFINITY) add_up(sums, logit_of(key) - largest, inverse_temperature);
  }
  sums = sums_of_block(sums);
  sums.largest = largest;
  if (threadIdx.x == 0) run_sums[blockIdx.x] = sums;
  const auto listed = static_cast<unsigned>(op.listed);
  const auto key_at = [&](unsigned i) { return Key{keys[i]}; };
  const Key from =
      there <= listed ? 1 : smallest_kept(key_at, there, listed, bounds.smallest, bounds.largest);
  Key* const out = kept + std::int64_t{blockIdx.x} * listed;
#pragma unroll
  for (unsigned k = 0; k < run / threads; ++k) {
    const Key key = keys[threadIdx.x + k * threads];
    if (key >= from) out[atomicAdd(&count, 1)] = key;
  }
  for (unsigned i = there + threadIdx.x; i < listed; i += threads) out[i] = 0;
}

// The one block of the second launch: of what `runs` blocks have kept.
__global__ void __launch_bounds__(last_threads, 1)
    top_of_all_kernel(TopK op, const Key* kept, std::int64_t runs, const Sums* run_sums) {
  wait_for_earlier_kernels();
  __shared__ alignas(16) Key best[max_top_k];
  __shared__ int count;
  const auto listed = static_cast<unsigned>(op.listed);
  const auto all_kept = static_cast<unsigned>(runs) * listed;
  if (threadIdx.x == 0) count = 0;
  Bounds bounds;
  for (unsigned i = threadIdx.x; i < all_kept; i += last_threads) bounds.add(kept[i]);
  bounds = bounds_of_block(bounds);
  const float largest = logit_of(bounds.largest);
  const auto key_at = [&](unsigned i) { return kept[i]; };
  const Key from = smallest_kept(key_at, all_kept, listed, bounds.smallest, bounds.largest);
  for (unsigned i = threadIdx.x; i < all_kept; i += last_threads) {
    const Key key = kept[i];
    if (key >= from) best[atomicAdd(&count, 1)] = key;
  }
  __syncthreads();
  // Each stands behind as many as are larger.
  for (unsigned i = threadIdx.x; i < listed; i += last_threads) {
    const Key key = best[i];
    unsigned rank = 0;
    for (unsigned j = 0; j < listed; ++j) rank += best[j] > key ? 1 : 0;
    op.ids[rank] = static_cast<std::int32_t>(~static_cast<std::uint32_t>(key));
    op.values[rank] = logit_of(key);
  }

  const float inverse_temperature = *op.inverse_temperature;
  const bool is_finite = largest < INFINITY && largest > -INFINITY;
  Sums all;
  for (std::int64_t i = threadIdx.x; i < runs && is_finite; i += last_threads) {
    const Sums sums = run_sums[i];
    if (!(sums.largest > -INFINITY)) continue;
    const float below = sums.largest - largest, weight = expf(below);
    all.scaled += expf(inverse_temperature * below) * sums.scaled;
    all.plain += weight * sums.plain;
    all.weighted += weight * (sums.weighted + below * sums.plain);
  }
  all = sums_of_block(all);
  if (threadIdx.x > 0) return;
  op.sums[0] = all.scaled;
  op.sums[1] = all.plain;
  op.sums[2] = all.weighted;
}

}  // namespace

void top_k(const TopK& op, Stream& stream) {
  CudaStream& cuda = on_cuda(stream);
  Scratch scratch(cuda);
  const std::int64_t runs = quotient_up(op.count, run);
  Sums* const sums = scratch.take<Sums>(runs);
  Key* const kept = scratch.take<Key>(runs * op.listed);
  launch<top_of_run_kernel>({.grid_x = static_cast<unsigned>(runs), .threads = threads, .overlaps = true},
                            cuda, op, kept, sums);
  launch<top_of_all_kernel>({.threads = last_threads, .overlaps = true}, cuda, op, kept, runs, sums);
}

}  // namespace fovea::kernels::cuda
