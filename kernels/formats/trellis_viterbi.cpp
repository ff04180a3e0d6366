// Compiled once for each instruction set, inside the namespace that FOVEA_FORMATS_SET names; defines nothing
// that the linker could choose for all sets, and no product and sum may be fused, so that all sets agree.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "kernels/formats/blocks.h"
#include "kernels/formats/trellis.h"
#include "kernels/formats/trellis_encoder.h"

namespace fovea::kernels::formats::FOVEA_FORMATS_SET {
namespace {

#if defined(__AVX512F__)
using Vector = __m512;
Vector load(const float* p) {
  return _mm512_load_ps(p);
}
void store(float* p, Vector v) {
  _mm512_store_ps(p, v);
}
Vector repeat(float v) {
  return _mm512_set1_ps(v);
}
Vector plus(Vector a, Vector b) {
  return _mm512_add_ps(a, b);
}
Vector minus(Vector a, Vector b) {
  return _mm512_sub_ps(a, b);
}
Vector times(Vector a, Vector b) {
  return _mm512_mul_ps(a, b);
}
Vector smaller(Vector a, Vector b) {
  return _mm512_min_ps(a, b);
}
#elif defined(__AVX2__)
using Vector = __m256;
Vector load(const float* p) {
  return _mm256_load_ps(p);
}
void store(float* p, Vector v) {
  _mm256_store_ps(p, v);
}
Vector repeat(float v) {
  return _mm256_set1_ps(v);
}
Vector plus(Vector a, Vector b) {
  return _mm256_add_ps(a, b);
}
Vector minus(Vector a, Vector b) {
  return _mm256_sub_ps(a, b);
}
Vector times(Vector a, Vector b) {
  return _mm256_mul_ps(a, b);
}
Vector smaller(Vector a, Vector b) {
  return _mm256_min_ps(a, b);
}
#else
typedef float Vector __attribute__((vector_size(16)));
Vector load(const float* p) {
  Vector v;
  memcpy(&v, p, sizeof v);
  return v;
}
void store(float* p, Vector v) {
  memcpy(p, &v, sizeof v);
}
Vector repeat(float v) {
  return Vector{v, v, v, v};
}
Vector plus(Vector a, Vector b) {
  return a + b;
}
Vector minus(Vector a, Vector b) {
  return a - b;
}
Vector times(Vector a, Vector b) {
  return a * b;
}
Vector smaller(Vector a, Vector b) {
#if defined(__SSE2__)
  return _mm_min_ps(a, b);
#else
  return a < b ? a : b;
#endif
}
#endif

constexpr int width = static_cast<int>(sizeof(Vector) / sizeof(float));
constexpr int candidates = 8;  // for each block
constexpr int lanes = 2 * candidates;
constexpr int most_states = 64;
constexpr int values = 64;  // −32 … 31

// A code's trellis, walked from the last ring position to the first. A state is what the weights at earlier
// positions will see of those after them; state `to` is reached from `branches` states.
struct CodeQ4 {
  using Block = BlockQ4_F;
  static constexpr int states = 16, branches = 16;
  static constexpr float rms = 9.7F;  // of the values: what a block's scale is guessed from
  static constexpr TrellisTables tables = q4_f_tables;
  static constexpr int from(int, int branch) { return branch; }
  static constexpr int first(int to, int) { return to; }
  static constexpr int second(int, int branch) { return branch; }
  static void put(Block& block, int g, int b, int state) {
    block.qs[4 * (g % 4) + b] =
        static_cast<uint8_t>(block.qs[4 * (g % 4) + b] | (state & 15) << (4 * (g / 4)));
  }
};

void put_pair(uint8_t* qs, int g, int b, int pair) {
  qs[4 * (g / 4) + b] = static_cast<uint8_t>(qs[4 * (g / 4) + b] | pair << (2 * (g % 4)));
}

// A state holds the newest pair of low bits and the newest three high bits.
struct CodeQ3 {
  using Block = BlockQ3_F;
  static constexpr int states = 32, branches = 8;
  static constexpr float rms = 11.5F;
  static constexpr TrellisTables tables = q3_f_tables;
  static constexpr int from(int to, int branch) { return (branch & 3) | (to >> 3) << 2 | (branch >> 2) << 4; }
  static constexpr int first(int to, int branch) { return (to & 3) | (branch & 3) << 2; }
  static constexpr int second(int to, int branch) { return to >> 2 | (branch >> 2) << 3; }
  static void put(Block& block, int g, int b, int state) {
    put_pair(block.qs, g, b, state & 3);
    block.qh[b] = static_cast<uint8_t>(block.qh[b] | (state >> 2 & 1) << g);
  }
};

// A state holds the newest three pairs.
struct CodeQ2 {
  using Block = BlockQ2_F;
  static constexpr int states = 64, branches = 4;
  static constexpr float rms = 11.8F;
  static constexpr TrellisTables tables = q2_f_tables;
  static constexpr int from(int to, int branch) { return to >> 2 | branch << 4; }
  static constexpr int first(int to, int) { return to & 15; }
  static constexpr int second(int to, int branch) { return to >> 4 | branch << 2; }
  static void put(Block& block, int g, int b, int state) { put_pair(block.qs, g, b, state & 3); }
};

// Index of the value of a transition in a row of `values` errors.
template <typename Code>
constexpr int value_index(int to, int branch) {
  return Code::tables.first[Code::first(to, branch)] + Code::tables.second[Code::second(to, branch)];
}

template <typename Code>
constexpr bool values_fit() {
  for (int to = 0; to < Code::states; ++to) {
    for (int branch = 0; branch < Code::branches; ++branch) {
      if (value_index<Code>(to, branch) >= values) return false;
    }
  }
  return true;
}
static_assert(values_fit<CodeQ4>() && values_fit<CodeQ3>() && values_fit<CodeQ2>());

template <typename Code, int To, int Branch>
[[gnu::always_inline]] inline Vector reach(const float* from, const float* errors, Vector best) {
  const Vector cost =
      plus(load(from + Code::from(To, Branch) * lanes), load(errors + value_index<Code>(To, Branch) * lanes));
  if constexpr (Branch == 0) {
    best = cost;
  } else {
    best = smaller(cost, best);
  }
  if constexpr (Branch + 1 < Code::branches) {
    return reach<Code, To, Branch + 1>(from, errors, best);
  } else {
    return best;
  }
}

template <typename Code, int To>
[[gnu::always_inline]] inline void reach_states(const float* from, const float* errors, float* to) {
  store(to + To * lanes, reach<Code, To, 0>(from, errors, repeat(0)));
  if constexpr (To + 1 < Code::states) reach_states<Code, To + 1>(from, errors, to);
}

// [states, lanes] path costs after each step; lane = 8 · block + candidate.
struct Costs {
  alignas(64) float at[most_states * lanes];
};

// The weights in walking order with the roots of their importance r: r · x and r · scale for each lane.
struct Problem {
  alignas(64) float x[32][lanes];
  alignas(64) float step[32][lanes];
};

// A transition's error with value v at time t is (x[t] − step[t] · (v − 32))².
void errors_at(const Problem& problem, int t, int part, float* errors) {
  const Vector x = load(problem.x[t] + part);
  const Vector step = load(problem.step[t] + part);
  for (int v = 0; v < values; ++v) {
    const Vector difference = minus(x, times(step, repeat(static_cast<float>(v - trellis_zero))));
    store(errors + v * lanes + part, times(difference, difference));
  }
}

// Walks the 32 weights. costs holds the first costs and, if `keep`, room for 32 more; otherwise the costs
// after the walk replace the first.
template <typename Code>
void walk(const Problem& problem, Costs* costs, bool keep) {
  alignas(64) float errors[values * lanes];
  Costs spare;
  for (int part = 0; part < lanes; part += width) {
    const float* from = costs[0].at;
    for (int t = 0; t < 32; ++t) {
      float* const to = keep ? costs[t + 1].at : from == spare.at ? costs[0].at : spare.at;
      errors_at(problem, t, part, errors);
      reach_states<Code, 0>(from + part, errors + part, to + part);
      from = to;
    }
  }
}

constexpr float unreachable = 1e30F;
constexpr int largest_scale = 255;

float scale_of(int e) {
  const auto bits = static_cast<uint32_t>(e) << 20;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value * trellis_scale_unit;
}

// The scale byte nearest to a scale, 0 … 255.
int scale_near(float scale) {
  const float shifted = scale * 0x1p-102F;
  uint32_t bits;
  memcpy(&bits, &shifted, sizeof bits);
  const uint32_t e = (bits + (1U << 19)) >> 20;
  return e < largest_scale ? static_cast<int>(e) : largest_scale;
}

int column_at(int t) {
  const int position = 31 - t;
  return 4 * (position % 8) + position / 8;
}

// What is known of a block before its walks.
struct Plan {
  float root[32];    // of the importance, the largest 1; by column
  int lowest_scale;  // the candidates are the eight from here
  float unit;        // weights and scales are counted in it, so that no square overflows
  float zero_cost;   // of an all-zero block
};

// Importance as roots; equal where none is given or where it hides every weight.
float fill_roots(const TrellisBlock& block, bool equal, Plan& plan) {
  float most = 0;
  for (int i = 0; i < 32; ++i) {
    if (!equal && block.importance[i] > most) most = block.importance[i];
  }
  if (!(most > 0)) equal = true;
  float largest = 0;  // of the weights that count
  for (int i = 0; i < 32; ++i) {
    plan.root[i] = equal ? 1 : __builtin_sqrtf(block.importance[i] / most);
    const float size = __builtin_fabsf(block.x[i]);
    if (plan.root[i] > 0 && size > largest) largest = size;
  }
  return largest;
}

template <typename Code>
Plan plan_of(const TrellisBlock& block) {
  Plan plan;
  float largest = fill_roots(block, block.importance == nullptr, plan);
  if (largest == 0) largest = fill_roots(block, true, plan);
  float squares = 0;
  float roots = 0;
  for (int i = 0; i < 32 && largest > 0; ++i) {
    const float x = plan.root[i] * (block.x[i] / largest);
    squares += x * x;
    roots += plan.root[i] * plan.root[i];
  }
  const float rms = largest > 0 ? largest * __builtin_sqrtf(squares / roots) : 0;
  const int guess = scale_near(rms / Code::rms) - 3;
  plan.lowest_scale = guess < 1                                ? 1
                      : guess > largest_scale - candidates + 1 ? largest_scale - candidates + 1
                                                               : guess;
  const float scale = scale_of(plan.lowest_scale);
  plan.unit = scale > largest * 0x1p-6F ? scale : largest * 0x1p-6F;
  plan.zero_cost = 0;
  for (int i = 0; i < 32; ++i) {
    const float x = plan.root[i] * (block.x[i] / plan.unit);
    plan.zero_cost += x * x;
  }
  return plan;
}

// A lane's candidate scale and, in the second walk, the state it starts and must end in.
struct Lane {
  int scale;
  int state;
};

void fill(const TrellisBlock (&blocks)[2], const Plan (&plans)[2], const Lane (&chosen)[lanes],
          Problem& problem) {
  for (int lane = 0; lane < lanes; ++lane) {
    const Plan& plan = plans[lane / candidates];
    const TrellisBlock& block = blocks[lane / candidates];
    const float scale = scale_of(chosen[lane].scale) / plan.unit;
    for (int t = 0; t < 32; ++t) {
      const int column = column_at(t);
      problem.x[t][lane] = plan.root[column] * (block.x[column] / plan.unit);
      problem.step[t][lane] = plan.root[column] * scale;
    }
  }
}

// The eight cheapest ends of the free walk of one block, over all scales and states.
template <typename Code>
void choose(const Costs& ends, int block, int lowest_scale, Lane* chosen) {
  float cost[candidates];
  int count = 0;
  for (int state = 0; state < Code::states; ++state) {
    for (int c = 0; c < candidates; ++c) {
      const float found = ends.at[state * lanes + block * candidates + c];
      if (count == candidates && found >= cost[count - 1]) continue;
      int place = count < candidates ? count++ : candidates - 1;
      for (; place > 0 && cost[place - 1] > found; --place) {
        cost[place] = cost[place - 1];
        chosen[place] = chosen[place - 1];
      }
      cost[place] = found;
      chosen[place] = {lowest_scale + c, state};
    }
  }
}

// Follows the cheapest closed path of a lane back and writes its bits.
template <typename Code>
void trace(const Problem& problem, const Costs* costs, int lane, int state, typename Code::Block& block) {
  for (int t = 31; t >= 0; --t) {
    const int position = 31 - t;
    Code::put(block, position % 8, position / 8, state);
    float best = 0;
    int best_from = -1;
    for (int branch = 0; branch < Code::branches; ++branch) {
      const int from = Code::from(state, branch);
      const auto value = static_cast<float>(value_index<Code>(state, branch) - trellis_zero);
      const float difference = problem.x[t][lane] - problem.step[t][lane] * value;
      const float cost = costs[t].at[from * lanes + lane] + difference * difference;
      if (best_from < 0 || cost < best) {
        best = cost;
        best_from = from;
      }
    }
    state = best_from;
  }
}

// Two walks: one that may start and end anywhere, for every candidate scale; then one for each of the
// cheapest ends, which as a closed path must also be the start.
template <typename Code>
void encode_pair(const TrellisBlock (&blocks)[2]) {
  const Plan plans[2] = {plan_of<Code>(blocks[0]), plan_of<Code>(blocks[1])};
  Lane chosen[lanes];
  for (int lane = 0; lane < lanes; ++lane)
    chosen[lane] = {plans[lane / candidates].lowest_scale + lane % candidates, 0};
  Problem problem;
  Costs costs[33];
  fill(blocks, plans, chosen, problem);
  memset(costs[0].at, 0, sizeof costs[0].at);
  walk<Code>(problem, costs, false);

  for (int b = 0; b < 2; ++b) choose<Code>(costs[0], b, plans[b].lowest_scale, chosen + b * candidates);
  fill(blocks, plans, chosen, problem);
  for (float& cost : costs[0].at) cost = unreachable;
  for (int lane = 0; lane < lanes; ++lane) costs[0].at[chosen[lane].state * lanes + lane] = 0;
  walk<Code>(problem, costs, true);

  for (int b = 0; b < 2; ++b) {
    const auto end_cost = [&](int lane) { return costs[32].at[chosen[lane].state * lanes + lane]; };
    int best = b * candidates;
    for (int lane = best + 1; lane < (b + 1) * candidates; ++lane) {
      if (end_cost(lane) < end_cost(best)) best = lane;
    }
    typename Code::Block block;
    memset(&block, 0, sizeof block);
    if (end_cost(best) < plans[b].zero_cost) {
      block.e = static_cast<uint8_t>(chosen[best].scale);
      trace<Code>(problem, costs, best, chosen[best].state, block);
    }
    memcpy(blocks[b].out, &block, sizeof block);
  }
}

}  // namespace

void encode_trellis_pair(Type type, const TrellisBlock (&blocks)[2]) {
  if (type == Type::q4_f) return encode_pair<CodeQ4>(blocks);
  if (type == Type::q3_f) return encode_pair<CodeQ3>(blocks);
  encode_pair<CodeQ2>(blocks);
}

}  // namespace fovea::kernels::formats::FOVEA_FORMATS_SET
