#include <math.h>

#include "kernels/cpu/attention_tile.h"
#include "kernels/cpu/operations.h"
#include "kernels/cpu/stream.h"
#include "kernels/cpu/vector_math.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {
namespace {

// Query rows of one work item: enough to make the conversion of a tile of keys cheap beside its use.
constexpr std::int64_t item_rows = 96;
// A long cache is split for decoding, so that several threads share it: into runs of at least this many keys,
// and for each kv head not many more runs than this. Work is divided by the shapes alone and never by the
// number of threads: the result is the same for all.
constexpr std::int64_t min_split_keys = 256;
constexpr std::int64_t usual_splits = 16;
// More query rows than this pay for keys that are converted and turned over ahead of their use.
constexpr std::int64_t few_rows = 16;

struct Plan {
  std::int64_t group;        // query heads for each kv head
  std::int64_t item_tokens;  // tokens of one item
  std::int64_t token_items;
  std::int64_t split_keys;
  std::int64_t splits;          // > 1 only with one token item
  std::int64_t first_position;  // that any query sees
};

Plan plan_for(const Attention& op) {
  Plan plan{};
  plan.group = op.heads / op.pages.kv_heads;
  plan.item_tokens = item_rows / plan.group > 0 ? item_rows / plan.group : 1;
  if (plan.item_tokens > op.tokens) plan.item_tokens = op.tokens;
  plan.token_items = (op.tokens + plan.item_tokens - 1) / plan.item_tokens;
  plan.first_position = op.window > 0 && op.first >= op.window ? op.first - op.window + 1 : 0;
  const std::int64_t length = op.first + op.tokens - plan.first_position;
  const std::int64_t even = (length / usual_splits + tile_keys - 1) / tile_keys * tile_keys;
  plan.split_keys = even > min_split_keys ? even : min_split_keys;
  plan.splits = plan.token_items == 1 ? (length + plan.split_keys - 1) / plan.split_keys : 1;
  return plan;
}

// Σ weight of a row, relative to its largest score, with what its head's sink takes. Scores are in powers of
// two.
float with_sink(const Attention& op, std::int64_t head, float highest, float total) {
  if (!op.sinks) return total;
  constexpr float log2_e = 1.44269504F;
  return total + exp2f(op.sinks[head] * log2_e - highest);
}

// out rows = sums / totals
void write_rows(const Attention& op, const QueryRows& q, const AttentionScratch& s) {
  const std::int64_t dim = op.pages.head_dim;
  for (std::int64_t t = 0; t < q.tokens; ++t) {
    float* const out = op.out + ((q.first_token + t) * op.heads + q.kv_head * q.group) * dim;
    for (std::int64_t g = 0; g < q.group; ++g) {
      const std::int64_t row = t * q.group + g;
      const float factor = 1 / with_sink(op, q.kv_head * q.group + g, s.highest[row], s.totals[row]);
      for (std::int64_t i = 0; i < dim; ++i) out[g * dim + i] = s.sums[row * s.wide + i] * factor;
    }
  }
}

// One item of prefill: some tokens of one kv head's queries over all that they see.
void attend_item(const Attention& op, const Plan& plan, std::int64_t item, AttentionScratch& s) {
  QueryRows q;
  q.group = plan.group;
  q.kv_head = item % op.pages.kv_heads;
  // The last tokens see most: longest first, so that no thread ends with a long one.
  q.first_token = (plan.token_items - 1 - item / op.pages.kv_heads) * plan.item_tokens;
  q.tokens = op.tokens - q.first_token < plan.item_tokens ? op.tokens - q.first_token : plan.item_tokens;
  const std::int64_t position = op.first + q.first_token;
  const std::int64_t begin = op.window > 0 && position >= op.window ? position - op.window + 1 : 0;
  attend(op, q, begin, position + q.tokens, s);
  write_rows(op, q, s);
}

// The sums, highest scores and totals of one split: [rows, wide], [rows], [rows].
struct Partial {
  float* sums;
  float* highest;
  float* totals;

  static std::int64_t floats(std::int64_t rows, std::int64_t wide) {
    return (rows * (wide + 2) + 15) / 16 * 16;
  }
  Partial(float* memory, std::int64_t rows, std::int64_t wide)
      : sums(memory), highest(memory + rows * wide), totals(highest + rows) {}
};

// Joins the splits of some rows, numbered through all kv heads, in their order, and writes the rows.
struct Join {
  const Attention& op;
  const Plan& plan;
  float* partials;
  std::int64_t wide;

  void operator()(std::int64_t begin, std::int64_t end, int) const {
    const std::int64_t rows = op.tokens * plan.group;
    for (std::int64_t i = begin; i < end; ++i) join_row(i / rows, i % rows);
  }

 private:
  Partial part(std::int64_t kv_head, std::int64_t split) const {
    const std::int64_t rows = op.tokens * plan.group;
    return {partials + (kv_head * plan.splits + split) * Partial::floats(rows, wide), rows, wide};
  }

  void join_row(std::int64_t kv_head, std::int64_t row) const {
    float highest = -1e30F;
    for (std::int64_t i = 0; i < plan.splits; ++i) {
      const Partial one = part(kv_head, i);
      if (one.totals[row] > 0 && one.highest[row] > highest) highest = one.highest[row];
    }
    float* const sums = part(kv_head, 0).sums + row * wide;  // becomes the sum of all
    float total = 0;
    for (std::int64_t i = 0; i < plan.splits; ++i) {
      const Partial one = part(kv_head, i);
      float factor = 0;
      if (one.totals[row] > 0) {
        float factors[lanes];
        store_floats(factors, exp2_of(set_floats(one.highest[row] - highest)));
        factor = factors[0];
      }
      total += one.totals[row] * factor;
      const float* const from = one.sums + row * wide;
      for (std::int64_t j = 0; j < wide; j += lanes) {
        const Floats scaled = multiply(load_floats(from + j), set_floats(factor));
        store_floats(sums + j, i == 0 ? scaled : add_floats(load_floats(sums + j), scaled));
      }
    }
    const std::int64_t dim = op.pages.head_dim, head = kv_head * plan.group + row % plan.group;
    float* const out = op.out + (row / plan.group * op.heads + head) * dim;
    total = with_sink(op, head, highest, total);
    for (std::int64_t j = 0; j < dim; ++j) out[j] = sums[j] / total;
  }
};

// Few tokens over a long cache: each item is one kv head and one run of keys.
void attend_split(const Attention& op, const Plan& plan, CpuStream& cpu) {
  const std::int64_t rows = op.tokens * plan.group;
  const std::int64_t dim = op.pages.head_dim;
  const std::int64_t wide = (dim + lanes - 1) / lanes * lanes;
  const std::int64_t each = AttentionScratch::floats(rows, dim);
  const std::int64_t part = Partial::floats(rows, wide);
  const std::int64_t items = op.pages.kv_heads * plan.splits;
  const bool few = rows <= few_rows && dim == wide;
  auto* const memory =
      reinterpret_cast<float*>(cpu.scratch((cpu.pool().threads() * each + items * part) * 4));
  float* const partials = memory + cpu.pool().threads() * each;
  cpu.pool().for_chunks(items, 1, [&](std::int64_t item, std::int64_t, int thread) {
    AttentionScratch s(memory + thread * each, rows, dim);
    const Partial result(partials + item * part, rows, wide);
    s.sums = result.sums;
    s.highest = result.highest;
    s.totals = result.totals;
    const QueryRows q{item / plan.splits, 0, op.tokens, plan.group};
    const std::int64_t begin = plan.first_position + item % plan.splits * plan.split_keys;
    const std::int64_t last = op.first + op.tokens;
    const std::int64_t end = begin + plan.split_keys < last ? begin + plan.split_keys : last;
    if (few) {
      attend_few(op, q, begin, end, s);
    } else {
      attend(op, q, begin, end, s);
    }
  });
  cpu.pool().for_chunks(op.pages.kv_heads * rows, rows, Join{op, plan, partials, wide});
}

}  // namespace

void attention(const Attention& op, Stream& stream) {
  if (op.position) {
    Attention here = op;
    here.first = *op.position;
    here.position = nullptr;
    return attention(here, stream);
  }
  CpuStream& cpu = on_cpu(stream);
  if (op.tokens == 0) return;
  const Plan plan = plan_for(op);
  if (plan.splits > 1) {
    attend_split(op, plan, cpu);
    return;
  }
  const std::int64_t rows = plan.item_tokens * plan.group;
  const std::int64_t each = AttentionScratch::floats(rows, op.pages.head_dim);
  auto* const memory = reinterpret_cast<float*>(cpu.scratch(cpu.pool().threads() * each * 4));
  cpu.pool().for_chunks(plan.token_items * op.pages.kv_heads, 1,
                        [&](std::int64_t item, std::int64_t, int thread) {
                          AttentionScratch s(memory + thread * each, rows, op.pages.head_dim);
                          attend_item(op, plan, item, s);
                        });
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
