// top_k. A block sorts 2,048 logits in shared memory (bitonic sort), keeps the largest, and adds up what
// all of its own weigh beside its largest; the same kernel sorts what blocks have kept until one block is
// left, which joins the sums. For a vocabulary of 150,000 that is three launches. Bound by latency: 66 steps
// of a sort.
#include <utility>

#include "kernels/cuda/grid.h"
#include "kernels/cuda/operations.h"
#include "kernels/cuda/platform.h"
#include "kernels/cuda/reduce.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned threads = 512;
constexpr unsigned run = 2048;  // keys that a block sorts
static_assert(run >= 2 * max_top_k);

// A logit and its index, so that a larger key stands before a smaller one: the logit's bits as an integer of
// the same order, then the index's complement. No logit has the key 0.
using Key = std::uint64_t;

FOVEA_DEVICE Key key_of(float logit, std::uint32_t id) {
  return Key{ordered_bits(logit == logit ? logit : -INFINITY)} << 32 | ~id;
}
FOVEA_DEVICE float logit_of(Key key) {
  return float_of_ordered(static_cast<std::uint32_t>(key >> 32));
}

// Σ e^(inverse_temperature · d), Σ e^d and Σ d · e^d of some logits, d being a logit less the largest of
// them.
struct Sums {
  float largest = 0, scaled = 0, plain = 0, weighted = 0;
};

FOVEA_DEVICE void add_up(Sums& sums, float d, float inverse_temperature) {
  const float weight = expf(d);
  sums.scaled += expf(inverse_temperature * d);
  sums.plain += weight;
  sums.weighted += d * weight;
}

FOVEA_DEVICE Sums sums_of_block(Sums sums) {
  sums.scaled = sum_of_block(sums.scaled);
  sync_block();
  sums.plain = sum_of_block(sums.plain);
  sync_block();
  sums.weighted = sum_of_block(sums.weighted);
  return sums;
}

// In descending order. The block's threads may read any key behind it.
FOVEA_DEVICE void sort(const Shared<Key>& keys) {
  for (unsigned size = 2; size <= run; size *= 2) {
    for (unsigned apart = size / 2; apart > 0; apart /= 2) {
      sync_block();
      for (unsigned pair = thread_index(); pair < run / 2; pair += threads) {
        const unsigned i = 2 * pair - (pair & (apart - 1));
        const Key a = keys[i], b = keys[i + apart];
        if ((a < b) != ((i & size) == 0)) continue;
        keys[i] = b;
        keys[i + apart] = a;
      }
    }
  }
  sync_block();
}

// Blocks have the runs of op.logits, or of the keys that earlier ones kept; each keeps op.listed keys, and of
// logits their sums. The only block of a launch is the last one.
FOVEA_KERNEL(threads)
top_k_kernel(TopK op, const Key* earlier, std::int64_t count, Key* kept, Sums* run_sums) {
  wait_for_earlier();
  FOVEA_SHARED(Key, keys, run);
  const std::int64_t begin = std::int64_t{block_x()} * run;
  for (unsigned i = thread_index(); i < run; i += threads) {
    const std::int64_t at = begin + i;
    Key key = 0;
    if (at < count) key = earlier ? earlier[at] : key_of(op.logits[at], static_cast<std::uint32_t>(at));
    keys[i] = key;
  }
  sort(keys);
  const float largest = logit_of(keys[0]);
  const float inverse_temperature = *op.inverse_temperature;
  if (!earlier) {
    Sums sums;
    for (unsigned i = thread_index(); i < run; i += threads) {
      const Key key = keys[i];
      if (key != 0 && logit_of(key) > -INFINITY) add_up(sums, logit_of(key) - largest, inverse_temperature);
    }
    sums = sums_of_block(sums);
    sums.largest = largest;
    if (thread_index() == 0) run_sums[block_x()] = sums;
    sync_block();
  }
  if (grid_x() > 1) {
    for (unsigned i = thread_index(); i < op.listed; i += threads) kept[block_x() * op.listed + i] = keys[i];
    return;
  }

  for (unsigned i = thread_index(); i < op.listed; i += threads) {
    const Key key = keys[i];
    op.ids[i] = static_cast<std::int32_t>(~static_cast<std::uint32_t>(key));
    op.values[i] = logit_of(key);
  }
  const bool is_finite = largest < INFINITY && largest > -INFINITY;
  Sums all;
  for (std::int64_t i = thread_index(); i * run < op.count && is_finite; i += threads) {
    const Sums sums = run_sums[i];
    if (!(sums.largest > -INFINITY)) continue;
    const float below = sums.largest - largest, weight = expf(below);
    all.scaled += expf(inverse_temperature * below) * sums.scaled;
    all.plain += weight * sums.plain;
    all.weighted += weight * (sums.weighted + below * sums.plain);
  }
  all = sums_of_block(all);
  if (thread_index() > 0) return;
  op.sums[0] = all.scaled;
  op.sums[1] = all.plain;
  op.sums[2] = all.weighted;
}

}  // namespace

void top_k(const TopK& op, Stream& stream) {
  CudaStream& cuda = on_cuda(stream);
  Scratch scratch(cuda);
  std::int64_t count = op.count;
  std::int64_t blocks = quotient_up(count, run);
  Sums* const sums = scratch.take<Sums>(blocks);
  // Where blocks keep keys that the next launch's read, and keep theirs in the other buffer.
  Key* buffers[] = {scratch.take<Key>(blocks * op.listed), scratch.take<Key>(blocks * op.listed)};
  for (const Key* earlier = nullptr;; std::swap(buffers[0], buffers[1])) {
    launch<top_k_kernel>({.grid_x = static_cast<unsigned>(blocks), .threads = threads, .overlaps = true},
                         cuda, op, earlier, count, buffers[0], sums);
    if (blocks == 1) return;
    earlier = buffers[0];
    count = blocks * op.listed;
    blocks = quotient_up(count, run);
  }
}

}  // namespace fovea::kernels::cuda
