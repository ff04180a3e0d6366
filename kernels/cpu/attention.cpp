#include <math.h>
#include <string.h>

#include "kernels/cpu/attention_tile.h"
#include "kernels/cpu/operations.h"
#include "kernels/cpu/stream.h"
#include "kernels/cpu/vector_math.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {
namespace {

// Query rows of one work item: enough to make the conversion of a tile of keys cheap beside its use.
constexpr std::int64_t item_rows = 96;
// The keys are summed in runs, and the runs' sums joined in their order. Runs of several tokens' keys begin
// at multiples of this, so that a token's sum is the same however a prompt is divided into passes, as long as
// it does not stand in one alone.
constexpr std::int64_t run_keys = 256;
// A token that is alone has not many more runs than this for each kv head, of at least
// run_keys. They are divided by the shapes and never by the number of threads: the result is the same for
// all.
constexpr std::int64_t usual_runs = 16;
// More query rows than this pay for keys that are converted and turned over ahead of their use.
constexpr std::int64_t few_rows = 16;

struct Plan {
  std::int64_t group;        // query heads for each kv head
  std::int64_t item_tokens;  // tokens of one item
  std::int64_t token_items;
  std::int64_t split_keys;
  std::int64_t splits;        // that threads share; > 1 only with one token item
  std::int64_t first_key;     // of the first split
  std::int64_t first_loaded;  // from which on keys are looked at
};

constexpr std::int64_t rounded_down(std::int64_t count, std::int64_t unit) {
  return count / unit * unit;
}

// That the token at this position sees.
std::int64_t first_seen(const Attention& op, std::int64_t position) {
  return op.window > 0 && position >= op.window ? position - op.window + 1 : 0;
}

Plan plan_for(const Attention& op) {
  Plan plan{};
  plan.group = op.heads / op.pages.kv_heads;
  plan.item_tokens = item_rows / plan.group > 0 ? item_rows / plan.group : 1;
  if (plan.item_tokens > op.tokens) plan.item_tokens = op.tokens;
  plan.token_items = (op.tokens + plan.item_tokens - 1) / plan.item_tokens;
  const std::int64_t first = first_seen(op, op.first), end = op.first + op.tokens;
  plan.split_keys = run_keys;
  if (op.alone) {
    plan.first_key = plan.first_loaded = first;
    const std::int64_t even = ((end - first) / usual_runs + tile_keys - 1) / tile_keys * tile_keys;
    if (even > run_keys) plan.split_keys = even;
  } else {
    plan.first_key = rounded_down(first, run_keys);
    plan.first_loaded = rounded_down(first, tile_keys);
  }
  plan.splits = plan.token_items == 1 ? (end - plan.first_key + plan.split_keys - 1) / plan.split_keys : 1;
  return plan;
}

// Σ weight of a row, relative to its largest score, with what its head's sink takes. Scores are in powers of
// two.
float with_sink(const Attention& op, std::int64_t head, float highest, float total) {
  if (!op.sinks) return total;
  constexpr float log2_e = 1.44269504F;
  return total + exp2f(op.sinks[head] * log2_e - highest);
}

// What one run of keys adds up to, or several: [rows, wide], [rows], [rows].
struct Partial {
  float* sums = nullptr;
  float* highest = nullptr;
  float* totals = nullptr;

  static std::int64_t floats(std::int64_t rows, std::int64_t wide) {
    return (rows * (wide + 2) + 15) / 16 * 16;
  }
  Partial(float* memory, std::int64_t rows, std::int64_t wide)
      : sums(memory), highest(memory + rows * wide), totals(highest + rows) {}
  explicit Partial(const AttentionScratch& s) : sums(s.sums), highest(s.highest), totals(s.totals) {}
};

float power_of_two(float exponent) {
  float powers[lanes];
  store_floats(powers, exp2_of(set_floats(exponent)));
  return powers[0];
}

// Takes a row of the run that follows into one of the runs before.
void join_row(const Partial& before, const Partial& next, std::int64_t row, std::int64_t wide) {
  if (next.totals[row] == 0) return;
  const bool is_first = before.totals[row] == 0;
  const float highest =
      is_first || next.highest[row] > before.highest[row] ? next.highest[row] : before.highest[row];
  const float keep = is_first ? 0 : power_of_two(before.highest[row] - highest);
  const float take = power_of_two(next.highest[row] - highest);
  before.highest[row] = highest;
  before.totals[row] = before.totals[row] * keep + next.totals[row] * take;
  float* const to = before.sums + row * wide;
  const float* const from = next.sums + row * wide;
  const Floats kept = set_floats(keep), taken = set_floats(take);
  for (std::int64_t i = 0; i < wide; i += lanes)
    store_floats(to + i, multiply_add(load_floats(from + i), taken, multiply(load_floats(to + i), kept)));
}

// out = sums / totals, of the head's query of the op's token.
void write_row(const Attention& op, const Partial& sum, std::int64_t row, std::int64_t wide,
               std::int64_t token, std::int64_t head) {
  const std::int64_t dim = op.pages.head_dim;
  const float factor = 1 / with_sink(op, head, sum.highest[row], sum.totals[row]);
  float* const out = op.out + (token * op.heads + head) * dim;
  for (std::int64_t i = 0; i < dim; ++i) out[i] = sum.sums[row * wide + i] * factor;
}

// One item of prefill: some tokens of one kv head's queries over all that they see, run after run. `memory`:
// of a Partial of its rows.
void attend_item(const Attention& op, const Plan& plan, std::int64_t item, AttentionScratch& s,
                 float* memory) {
  QueryRows q;
  q.group = plan.group;
  q.kv_head = item % op.pages.kv_heads;
  // The last tokens see most: longest first, so that no thread ends with a long one.
  q.first_token = (plan.token_items - 1 - item / op.pages.kv_heads) * plan.item_tokens;
  q.tokens = op.tokens - q.first_token < plan.item_tokens ? op.tokens - q.first_token : plan.item_tokens;
  const std::int64_t position = op.first + q.first_token;
  const std::int64_t end = position + q.tokens;
  const std::int64_t first = rounded_down(first_seen(op, position), tile_keys);
  const Partial sum(memory, q.rows(), s.wide);
  for (std::int64_t begin = first; begin < end;) {
    const std::int64_t next = rounded_down(begin, run_keys) + run_keys;
    attend(op, q, begin, next < end ? next : end, s);
    if (begin == first) {
      memcpy(sum.sums, s.sums, static_cast<std::size_t>(q.rows() * s.wide) * sizeof(float));
      memcpy(sum.highest, s.highest, static_cast<std::size_t>(q.rows()) * sizeof(float));
      memcpy(sum.totals, s.totals, static_cast<std::size_t>(q.rows()) * sizeof(float));
    } else {
      for (std::int64_t row = 0; row < q.rows(); ++row) join_row(sum, Partial(s), row, s.wide);
    }
    begin = next;
  }
  for (std::int64_t row = 0; row < q.rows(); ++row)
    write_row(op, sum, row, s.wide, q.first_token + row / q.group, q.kv_head * q.group + row % q.group);
}

// Joins the splits of some rows, numbered through all kv heads, in their order, and writes the rows.
struct Join {
  const Attention& op;
  const Plan& plan;
  float* partials;
  std::int64_t wide;

  void operator()(std::int64_t begin, std::int64_t end, int) const {
    const std::int64_t rows = op.tokens * plan.group;
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t kv_head = i / rows, row = i % rows;
      const Partial sum = part(kv_head, 0);
      for (std::int64_t split = 1; split < plan.splits; ++split)
        join_row(sum, part(kv_head, split), row, wide);
      write_row(op, sum, row, wide, row / plan.group, kv_head * plan.group + row % plan.group);
    }
  }

 private:
  Partial part(std::int64_t kv_head, std::int64_t split) const {
    const std::int64_t rows = op.tokens * plan.group;
    return {partials + (kv_head * plan.splits + split) * Partial::floats(rows, wide), rows, wide};
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
  const bool few = op.alone && rows <= few_rows && dim == wide;
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
    const std::int64_t from = plan.first_key + item % plan.splits * plan.split_keys;
    const std::int64_t begin = from < plan.first_loaded ? plan.first_loaded : from;
    const std::int64_t last = op.first + op.tokens;
    const std::int64_t end = from + plan.split_keys < last ? from + plan.split_keys : last;
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
  const std::int64_t dim = op.pages.head_dim;
  const std::int64_t scratch = AttentionScratch::floats(rows, dim);
  const std::int64_t each = scratch + Partial::floats(rows, (dim + lanes - 1) / lanes * lanes);
  auto* const memory = reinterpret_cast<float*>(cpu.scratch(cpu.pool().threads() * each * 4));
  cpu.pool().for_chunks(plan.token_items * op.pages.kv_heads, 1,
                        [&](std::int64_t item, std::int64_t, int thread) {
                          float* const mine = memory + thread * each;
                          AttentionScratch s(mine, rows, dim);
                          attend_item(op, plan, item, s, mine + scratch);
                        });
}

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
