// Compiled once for each instruction set, inside the namespace that FOVEA_FORMATS_SET names; defines nothing
// that the linker could choose for all sets, and no product and sum may be fused, so that all sets agree.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "kernels/formats/trellis_codes.h"
#include "kernels/formats/trellis_encoder.h"
#include "kernels/formats/trellis_vectors.h"

namespace fovea::kernels::formats::FOVEA_FORMATS_SET {
namespace {

constexpr int width = static_cast<int>(sizeof(Vector) / sizeof(int16_t));
constexpr int candidates = 8;  // for each block
constexpr int lanes = 2 * candidates;
constexpr int most_states = 64;

template <typename Code, int To, int Branch>
[[gnu::always_inline]] inline Vector reach(const int16_t* from, const int16_t* errors, Vector best) {
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
[[gnu::always_inline]] inline void reach_states(const int16_t* from, const int16_t* errors, int16_t* to) {
  store(to + To * lanes, reach<Code, To, 0>(from, errors, repeat(0)));
  if constexpr (To + 1 < Code::states) reach_states<Code, To + 1>(from, errors, to);
}

// [states, lanes] path costs after each step; lane = 8 · block + candidate.
struct Costs {
  alignas(32) int16_t at[most_states * lanes];
};

// Both blocks in walking order. Weights (times the root of their importance) are whole numbers of a unit,
// scaled values of half a unit; a difference, shifted and squared, is a cost.
struct Problem {
  alignas(32) int16_t x[32][lanes];
  alignas(32) int16_t root[32][lanes];  // of the importance; 32767 for the block's largest
  alignas(32) int16_t value[values][lanes];
};

// The largest difference that may be shifted.
template <typename Code>
constexpr int16_t limit = 32767 >> Code::shift;

template <typename Code>
constexpr bool occurs(int v) {
  for (int to = 0; to < Code::states; ++to) {
    for (int branch = 0; branch < Code::branches; ++branch) {
      if (value_index<Code>(to, branch) == v) return true;
    }
  }
  return false;
}

// The costs of all values that occur, from V on.
template <typename Code, int V>
[[gnu::always_inline]] inline void errors_from(Vector x, Vector root, const int16_t* value, int16_t* errors) {
  if constexpr (occurs<Code>(V)) {
    const Vector product = high_product(load(value + V * lanes), root);
    const Vector difference = smaller(larger(minus(x, product), repeat(-limit<Code>)), repeat(limit<Code>));
    const Vector raised = shifted(difference, Code::shift);
    store(errors + V * lanes, high_product(raised, raised));
  }
  if constexpr (V + 1 < values) errors_from<Code, V + 1>(x, root, value, errors);
}

// The same for one transition.
template <typename Code>
int error_of(const Problem& problem, int t, int lane, int v) {
  const int value = problem.value[v][lane] * problem.root[t][lane] >> 16;
  int difference = problem.x[t][lane] - value;
  difference = difference > limit<Code> ? limit<Code> : difference < -limit<Code> ? -limit<Code> : difference;
  difference *= 1 << Code::shift;
  return difference * difference >> 16;
}

// Walks `steps` weights from time `begin`, around the ring. costs holds the first costs and, if `keep`, room
// for those after each step; otherwise the last costs replace the first.
template <typename Code>
void walk(const Problem& problem, Costs* costs, int begin, int steps, bool keep) {
  alignas(32) int16_t errors[values * lanes];
  Costs spare;
  for (int part = 0; part < lanes; part += width) {
    const int16_t* from = costs[0].at;
    for (int i = 0; i < steps; ++i) {
      int16_t* const to = keep ? costs[i + 1].at : from == spare.at ? costs[0].at : spare.at;
      const int t = (begin + i) % 32;
      errors_from<Code, 0>(load(problem.x[t] + part), load(problem.root[t] + part), problem.value[0] + part,
                           errors + part);
      reach_states<Code, 0>(from + part, errors + part, to + part);
      from = to;
    }
  }
}

constexpr int16_t unreachable = 32767;
// The free walk goes around the ring and this much further (an even number in all), so that its ends know
// what follows them; the closed walks begin there.
constexpr int lead = 16;
// What the whole ring should cost: far from 32767 and from the rounding of single errors.
constexpr float usual_cost = 400;
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
  float importance[32];  // the largest 1; by column
  int lowest_scale;      // the candidates are the eight from here
  float unit;            // of weights and scaled values in a Problem
};

// Returns the largest weight that counts.
float fill_importance(const TrellisBlock& block, bool equal, Plan& plan) {
  float most = 0;
  for (int i = 0; i < 32; ++i) {
    if (!equal && block.importance[i] > most) most = block.importance[i];
  }
  if (!(most > 0)) equal = true;
  float largest = 0;
  for (int i = 0; i < 32; ++i) {
    plan.importance[i] = equal ? 1 : block.importance[i] / most;
    const float size = __builtin_fabsf(block.x[i]);
    if (plan.importance[i] > 0 && size > largest) largest = size;
  }
  return largest;
}

template <typename Code>
Plan plan_of(const TrellisBlock& block) {
  Plan plan;
  float largest = fill_importance(block, block.importance == nullptr, plan);
  if (largest == 0) largest = fill_importance(block, true, plan);
  float squares = 0;
  float counts = 0;
  for (int i = 0; i < 32 && largest > 0; ++i) {
    const float x = block.x[i] / largest;
    squares += plan.importance[i] * (x * x);
    counts += plan.importance[i];
  }
  const float rms = largest > 0 ? largest * __builtin_sqrtf(squares / counts) : 0;
  const int guess = scale_near(rms / Code::rms) - 3;
  const int highest = largest_scale - candidates + 1;
  plan.lowest_scale = guess < 1 ? 1 : guess > highest ? highest : guess;
  // A cost is (root · difference / unit · 2^shift)² / 2^16.
  const float for_cost =
      largest * __builtin_sqrtf(squares * (Code::error / (65536 * usual_cost))) * (1 << Code::shift);
  const float reach = scale_of(plan.lowest_scale + candidates - 1) * trellis_zero;
  const float for_range = (reach > largest ? reach : largest) * (1.0F / 16000);
  plan.unit = for_cost > for_range ? for_cost : for_range;
  return plan;
}

// A lane's candidate scale and, in the closed walk, the state it starts and must end in.
struct Lane {
  int scale;
  int state;
};

int16_t rounded(float v) {
  const float near = v < 0 ? v - 0.5F : v + 0.5F;
  return near > 32767 ? 32767 : near < -32767 ? -32767 : static_cast<int16_t>(near);
}

void fill_weights(const TrellisBlock (&blocks)[2], const Plan (&plans)[2], Problem& problem) {
  for (int b = 0; b < 2; ++b) {
    for (int t = 0; t < 32; ++t) {
      const int column = column_at(t);
      const int16_t root = rounded(__builtin_sqrtf(plans[b].importance[column]) * 32767);
      // Rounded as the products of values are.
      const auto x = static_cast<int16_t>(rounded(2 * blocks[b].x[column] / plans[b].unit) * root >> 16);
      for (int c = 0; c < candidates; ++c) {
        problem.x[t][b * candidates + c] = x;
        problem.root[t][b * candidates + c] = root;
      }
    }
  }
}

// Values in steps of 2^-16 half units, so that they are sums.
void fill_values(const Plan (&plans)[2], const Lane (&chosen)[lanes], Problem& problem) {
  int32_t step[lanes];
  int32_t value[lanes];
  for (int lane = 0; lane < lanes; ++lane) {
    const float scale = scale_of(chosen[lane].scale) / plans[lane / candidates].unit;
    step[lane] = static_cast<int32_t>(scale * (2 * 65536) + 0.5F);
    value[lane] = -trellis_zero * step[lane] + 32768;
  }
  for (int v = 0; v < values; ++v) {
    for (int lane = 0; lane < lanes; ++lane) {
      problem.value[v][lane] = static_cast<int16_t>(value[lane] >> 16);
      value[lane] += step[lane];
    }
  }
}

// The cheapest ends of the free walk of one block, over all scales and states, in order.
template <typename Code, int Most>
void choose(const Costs& ends, int block, int lowest_scale, Lane (&chosen)[Most]) {
  int cost[Most];
  int count = 0;
  for (int state = 0; state < Code::states; ++state) {
    for (int c = 0; c < candidates; ++c) {
      const int found = ends.at[state * lanes + block * candidates + c];
      if (count == Most && found >= cost[count - 1]) continue;
      int place = count < Most ? count++ : Most - 1;
      for (; place > 0 && cost[place - 1] > found; --place) {
        cost[place] = cost[place - 1];
        chosen[place] = chosen[place - 1];
      }
      cost[place] = found;
      chosen[place] = {lowest_scale + c, state};
    }
  }
}

// Follows the cheapest closed path of a lane back, writes its bits, and returns its values by column.
template <typename Code>
void trace(const Problem& problem, const Costs* costs, int lane, int state, typename Code::Block& block,
           int (&found)[32]) {
  for (int i = 31; i >= 0; --i) {
    const int t = (lead + i) % 32;
    const int position = 31 - t;
    Code::put(block, position % 8, position / 8, state);
    // The cost that the walk found is that of one of the branches.
    const int cost = costs[i + 1].at[state * lanes + lane];
    int branch = 0;
    while (branch + 1 < Code::branches) {
      const int sum = costs[i].at[Code::from(state, branch) * lanes + lane] +
                      error_of<Code>(problem, t, lane, value_index<Code>(state, branch));
      if (sum == cost || (sum > 32767 && cost == 32767)) break;
      ++branch;
    }
    found[column_at(t)] = value_index<Code>(state, branch) - trellis_zero;
    state = Code::from(state, branch);
  }
}

// Whether a block is better than zeros.
bool pays(const TrellisBlock& block, const Plan& plan, float scale, const int (&found)[32]) {
  float gain = 0;  // Σ w (x² − (x − s v)²) / s
  for (int i = 0; i < 32; ++i) {
    const auto v = static_cast<float>(found[i]);
    gain += plan.importance[i] * (v * (2 * block.x[i] - scale * v));
  }
  return gain > 0;
}

// Walks that must end where they start, one in each lane. Whichever is cheaper than `least` for its block is
// written.
template <typename Code>
void walk_closed(const TrellisBlock (&blocks)[2], const Plan (&plans)[2], const Lane (&chosen)[lanes],
                 Problem& problem, Costs* costs, int (&least)[2]) {
  fill_values(plans, chosen, problem);
  for (int16_t& cost : costs[0].at) cost = unreachable;
  for (int lane = 0; lane < lanes; ++lane) costs[0].at[chosen[lane].state * lanes + lane] = 0;
  walk<Code>(problem, costs, lead, 32, true);

  for (int b = 0; b < 2; ++b) {
    int best = -1;
    for (int lane = b * candidates; lane < (b + 1) * candidates; ++lane) {
      const int cost = costs[32].at[chosen[lane].state * lanes + lane];
      if (cost >= least[b]) continue;
      least[b] = cost;
      best = lane;
    }
    if (best < 0) continue;
    const int scale = chosen[best].scale;
    typename Code::Block block;
    memset(&block, 0, sizeof block);
    block.e = static_cast<uint8_t>(scale);
    int found[32];
    trace<Code>(problem, costs, best, chosen[best].state, block, found);
    if (!pays(blocks[b], plans[b], scale_of(scale), found)) memset(&block, 0, sizeof block);
    memcpy(blocks[b].out, &block, sizeof block);
  }
}

// A walk that may start and end anywhere, for every candidate scale; then closed ones for its cheapest ends.
template <typename Code>
void encode_pair(const TrellisBlock (&blocks)[2]) {
  const Plan plans[2] = {plan_of<Code>(blocks[0]), plan_of<Code>(blocks[1])};
  Lane chosen[lanes];
  for (int lane = 0; lane < lanes; ++lane)
    chosen[lane] = {plans[lane / candidates].lowest_scale + lane % candidates, 0};
  Problem problem;
  Costs costs[33];
  fill_weights(blocks, plans, problem);
  fill_values(plans, chosen, problem);
  memset(costs[0].at, 0, sizeof costs[0].at);
  walk<Code>(problem, costs, 0, 32 + lead, false);

  Lane ends[2][candidates * Code::rounds];
  for (int b = 0; b < 2; ++b) choose<Code>(costs[0], b, plans[b].lowest_scale, ends[b]);
  int least[2] = {unreachable + 1, unreachable + 1};
  for (int round = 0; round < Code::rounds; ++round) {
    for (int lane = 0; lane < lanes; ++lane)
      chosen[lane] = ends[lane / candidates][round * candidates + lane % candidates];
    walk_closed<Code>(blocks, plans, chosen, problem, costs, least);
  }
}

}  // namespace

void encode_trellis_pair(Type type, const TrellisBlock (&blocks)[2]) {
  if (type == Type::q4_f) return encode_pair<CodeQ4>(blocks);
  if (type == Type::q3_f) return encode_pair<CodeQ3>(blocks);
  encode_pair<CodeQ2>(blocks);
}

}  // namespace fovea::kernels::formats::FOVEA_FORMATS_SET
