// Compiled once for each instruction set, inside the namespace that FOVEA_FORMATS_SET names; defines nothing
// that the linker could choose for all sets, and no product and sum may be fused, so that all sets agree.
//
// Each lane of the vectors holds one block with one candidate scale. A walk around the ring that may start
// and end anywhere finds, for every lane, the state in which a good closed path passes the ring's beginning;
// a second walk from that state to itself is the path, and the cheapest of a block's lanes is taken.
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
constexpr int lanes = width < 16 ? 16 : width;
constexpr int group = lanes / candidates;  // blocks
constexpr int ring = 32;

// [states, lanes] path costs after a step; lane = 8 · block + candidate.
template <typename Code>
struct Costs {
  alignas(64) int16_t at[Code::states * lanes];
};

// [values, lanes] costs of a step's values.
struct Errors {
  alignas(64) int16_t at[values * lanes];
};

// A group's blocks in walking order. Weights (times the root of their importance) are whole numbers of a
// unit, scaled values of half a unit; a difference, raised by 2^shift and squared, is a cost.
template <typename Code>
struct Problem {
  alignas(64) int16_t x[ring][lanes];
  alignas(64) int16_t root[ring][lanes];  // of the importance; 32767 for the block's largest
  alignas(64) int16_t value[values][lanes];
  alignas(64) int16_t raise[lanes];  // 2^shift
  alignas(64) int16_t limit[lanes];  // of what is raised
  Errors errors[ring];
  Costs<Code> costs[ring + 1];
};

// The first of the branches that add the same errors as this one in every state.
template <typename Code>
constexpr int first_alike(int branch) {
  for (int other = 0; other < branch; ++other) {
    bool alike = true;
    for (int to = 0; to < Code::states; ++to)
      alike = alike && value_index<Code>(to, other) == value_index<Code>(to, branch);
    if (alike) return other;
  }
  return branch;
}

template <typename Code, int To, int Branch>
[[gnu::always_inline]] inline Vector reach(const Vector (&from)[Code::branches], const int16_t* errors,
                                           Vector best) {
  if constexpr (Branch == 0) {
    best = plus(from[0], load(errors + value_index<Code>(To, 0) * lanes));
  } else if constexpr (first_alike<Code>(Branch) == Branch) {
    best = smaller(plus(from[Branch], load(errors + value_index<Code>(To, Branch) * lanes)), best);
  }
  if constexpr (Branch + 1 < Code::branches) {
    return reach<Code, To, Branch + 1>(from, errors, best);
  } else {
    return best;
  }
}

// The states from To up to Last, which all are reached from the same ones.
template <typename Code, int To, int Last>
[[gnu::always_inline]] inline void reach_states(const Vector (&from)[Code::branches], const int16_t* errors,
                                                int16_t* to) {
  store(to + To * lanes, reach<Code, To, 0>(from, errors, from[0]));
  if constexpr (To < Last) reach_states<Code, To + 1, Last>(from, errors, to);
}

template <typename Code, int Branch>
[[gnu::always_inline]] inline void gather(const int16_t* costs, int to, Vector (&from)[Code::branches]) {
  from[Branch] = load(costs + Code::from(to, Branch) * lanes);
  constexpr int alike = first_alike<Code>(Branch);
  if constexpr (alike < Branch) from[alike] = smaller(from[alike], from[Branch]);
  if constexpr (Branch + 1 < Code::branches) gather<Code, Branch + 1>(costs, to, from);
}

template <typename Code>
constexpr bool reached_alike() {
  for (int to = 0; to < Code::states; ++to) {
    for (int branch = 0; branch < Code::branches; ++branch) {
      if (Code::from(to, branch) != Code::from(to / Code::branches * Code::branches, branch)) return false;
    }
  }
  return true;
}
static_assert(reached_alike<CodeQ4>() && reached_alike<CodeQ3>() && reached_alike<CodeQ2>());

template <typename Code, int First>
[[gnu::always_inline]] inline void step_from(const int16_t* costs, const int16_t* errors, int16_t* to) {
  Vector from[Code::branches];
  gather<Code, 0>(costs, First, from);
  reach_states<Code, First, First + Code::branches - 1>(from, errors, to);
  if constexpr (First + Code::branches < Code::states)
    step_from<Code, First + Code::branches>(costs, errors, to);
}

template <typename Code>
[[gnu::noinline]] void step(const Costs<Code>& from, const Errors& errors, Costs<Code>& to) {
  for (int part = 0; part < lanes; part += width)
    step_from<Code, 0>(from.at + part, errors.at + part, to.at + part);
}

template <typename Code>
constexpr bool occurs(int v) {
  for (int to = 0; to < Code::states; ++to) {
    for (int branch = 0; branch < Code::branches; ++branch) {
      if (value_index<Code>(to, branch) == v) return true;
    }
  }
  return false;
}

// Differences raised by 2^shift, within what 16 bits hold.
struct Raise {
  Vector factor, least, most;
  [[gnu::always_inline]] Vector operator()(Vector difference) const {
    return low_product(larger(smaller(difference, most), least), factor);
  }
};

// The costs of all values that occur, from V on.
template <typename Code, int V>
[[gnu::always_inline]] inline void errors_from(Vector x, Vector root, const Raise& raise,
                                               const int16_t* value, int16_t* errors) {
  if constexpr (occurs<Code>(V)) {
    const Vector difference = raise(minus(x, high_product(load(value + V * lanes), root)));
    store(errors + V * lanes, high_product(difference, difference));
  }
  if constexpr (V + 1 < values) errors_from<Code, V + 1>(x, root, raise, value, errors);
}

template <typename Code>
[[gnu::noinline]] void find_errors(Problem<Code>& problem) {
  for (int part = 0; part < lanes; part += width) {
    const Vector most = load(problem.limit + part);
    const Raise raise{load(problem.raise + part), minus(repeat(0), most), most};
    for (int t = 0; t < ring; ++t)
      errors_from<Code, 0>(load(problem.x[t] + part), load(problem.root[t] + part), raise,
                           problem.value[0] + part, problem.errors[t].at + part);
  }
}

// A cost and, in its lowest bits, the state from which its path left the ring's beginning.
constexpr int label_bits = 6;
constexpr int labelled_costs = 1 << (16 - label_bits);
static_assert(CodeQ2::states <= 1 << label_bits);

template <typename Code>
Vector min_of(const int16_t* costs) {
  Vector least = load(costs);
  for (int state = 1; state < Code::states; ++state) least = smaller(least, load(costs + state * lanes));
  return least;
}

// Labels what is above the cheapest path; what is too far above it becomes too dear.
template <typename Code>
void label(Costs<Code>& costs) {
  for (int part = 0; part < lanes; part += width) {
    const Vector least = min_of<Code>(costs.at + part);
    for (int state = 0; state < Code::states; ++state) {
      int16_t* const cost = costs.at + state * lanes + part;
      const Vector above = smaller(minus(load(cost), least), repeat(labelled_costs - 1));
      const Vector raised = shifted(minus(above, repeat(labelled_costs / 2)), label_bits);
      store(cost, plus(raised, repeat(static_cast<int16_t>(state))));
    }
  }
}

template <typename Code, int V>
[[gnu::always_inline]] inline void raise_from(const int16_t* errors, int16_t* raised) {
  if constexpr (occurs<Code>(V)) {
    const Vector error = smaller(load(errors + V * lanes), repeat(labelled_costs / 2 - 1));
    store(raised + V * lanes, shifted(error, label_bits));
  }
  if constexpr (V + 1 < values) raise_from<Code, V + 1>(errors, raised);
}

// For each lane the state in which the path that is the cheapest after the lead passes the ring's beginning.
template <typename Code>
void find_beginnings(Problem<Code>& problem, int (&beginnings)[lanes]) {
  Costs<Code> costs[2];
  memset(costs[0].at, 0, sizeof costs[0].at);
  for (int t = 0; t < ring; ++t) step(costs[t % 2], problem.errors[t], costs[(t + 1) % 2]);
  label(costs[0]);
  Errors raised;
  for (int t = 0; t < Code::lead; ++t) {
    for (int part = 0; part < lanes; part += width)
      raise_from<Code, 0>(problem.errors[t].at + part, raised.at + part);
    step(costs[t % 2], raised, costs[(t + 1) % 2]);
  }
  alignas(64) int16_t least[lanes];
  for (int part = 0; part < lanes; part += width)
    store(least + part, min_of<Code>(costs[Code::lead % 2].at + part));
  for (int lane = 0; lane < lanes; ++lane) beginnings[lane] = least[lane] & (Code::states - 1);
}

constexpr int16_t unreachable = 32767;
// What the whole ring should cost: far from 32767 and from the rounding of single errors.
constexpr float usual_cost = 400;
constexpr int max_shift = 9;
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
  const int position = ring - 1 - t;
  return 4 * (position % 8) + position / 8;
}

// What is known of a block before its walks.
struct Plan {
  float importance[32];  // the largest 1; by column
  int lowest_scale;      // the candidates are the eight from here
  float unit;            // of weights and scaled values in a Problem
  int shift;             // of differences, in bits
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
  float sum = 0, spread = 0, counts = 0;
  for (int i = 0; i < 32 && largest > 0; ++i) {
    const float x = block.x[i] / largest;
    const float root = __builtin_sqrtf(plan.importance[i]);
    sum += plan.importance[i];
    spread += root * (x * x);
    counts += root;
  }
  // By the roots: neighbours share bits, so that a scale too small for those that count little costs all.
  const float rms = largest > 0 ? largest * __builtin_sqrtf(spread / counts) : 0;
  // A weight far beyond the largest value costs more than what finer values save.
  constexpr float max_value = 34;
  const float usual = rms / Code::rms > largest / max_value ? rms / Code::rms : largest / max_value;
  const int guess = scale_near(usual) - Code::below;
  const int highest = largest_scale - candidates + 1;
  plan.lowest_scale = guess < 1 ? 1 : guess > highest ? highest : guess;
  // A cost is (root · difference / unit · 2^shift)² / 2^16. Where few weights count, or small ones, the range
  // asks for a large unit, and the shift makes up for it.
  const float for_cost = Code::rms * usual * __builtin_sqrtf(sum * (Code::error / (65536 * usual_cost)));
  const float reach = scale_of(plan.lowest_scale + candidates - 1) * trellis_zero;
  const float for_range = (reach > largest ? reach : largest) * (1.0F / 16000);
  plan.shift = Code::shift;
  while (plan.shift < max_shift && for_cost * static_cast<float>(1 << plan.shift) < for_range) ++plan.shift;
  const float wanted = for_cost * static_cast<float>(1 << plan.shift);
  plan.unit = wanted > for_range ? wanted : for_range;
  return plan;
}

// To the nearest; ±32767 at most.
int rounded(float v) {
  const float near = v < 0 ? v - 0.5F : v + 0.5F;
  const float below = near > 32767 ? 32767 : near;
  return static_cast<int>(below < -32767 ? -32767 : below);
}

template <typename Code>
void fill_weights(const TrellisBlock* blocks, const Plan (&plans)[group], Problem<Code>& problem) {
  for (int b = 0; b < group; ++b) {
    int x[32], root[32];  // by column
    const float in_half_units = 2 / plans[b].unit;
    for (int i = 0; i < 32; ++i) {
      root[i] = rounded(__builtin_sqrtf(plans[b].importance[i]) * 32767);
      // Rounded as the products of values are.
      x[i] = rounded(blocks[b].x[i] * in_half_units) * root[i] >> 16;
    }
    for (int t = 0; t < ring; ++t) {
      const int column = column_at(t);
      for (int c = 0; c < candidates; ++c) {
        problem.x[t][b * candidates + c] = static_cast<int16_t>(x[column]);
        problem.root[t][b * candidates + c] = static_cast<int16_t>(root[column]);
      }
    }
  }
}

template <typename Code>
void fill_raises(const Plan (&plans)[group], Problem<Code>& problem) {
  for (int lane = 0; lane < lanes; ++lane) {
    const int shift = plans[lane / candidates].shift;
    problem.raise[lane] = static_cast<int16_t>(1 << shift);
    problem.limit[lane] = static_cast<int16_t>(32767 >> shift);
  }
}

// Values in steps of 2^-16 half units, so that they are sums.
template <typename Code>
void fill_values(const Plan (&plans)[group], Problem<Code>& problem) {
  int32_t step[lanes];
  int32_t value[lanes];
  for (int lane = 0; lane < lanes; ++lane) {
    const Plan& plan = plans[lane / candidates];
    const float scale = scale_of(plan.lowest_scale + lane % candidates) / plan.unit;
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

// The branch by which the cheapest path of a lane came to a state: the cost that the walk found is that of
// one of the branches. All are looked at, the first last, which is faster than ending at a branch hard to
// foretell.
template <typename Code, int Branch = Code::branches - 1>
[[gnu::always_inline]] inline int branch_to(const int16_t* from, const int16_t* errors, int state, int cost,
                                            int found = 0) {
  const int sum = from[Code::from(state, Branch) * lanes] + errors[value_index<Code>(state, Branch) * lanes];
  found = sum == cost || (sum > 32767 && cost == 32767) ? Branch : found;
  if constexpr (Branch > 0) return branch_to<Code, Branch - 1>(from, errors, state, cost, found);
  return found;
}

// A block's cheapest lane, where the path through it ends (and, the path being closed, begins), and what
// follows from that.
template <typename Code>
struct Path {
  int lane;
  int state;
  typename Code::Block block;
  int values[32];  // by column
};

// Follows the paths back. Together, since the lanes of a step lie side by side.
template <typename Code>
void trace(const Problem<Code>& problem, Path<Code> (&paths)[group], int count) {
  for (int t = ring - 1; t >= 0; --t) {
    const int position = ring - 1 - t;
    for (int b = 0; b < count; ++b) {
      Path<Code>& path = paths[b];
      Code::put(path.block, position % 8, position / 8, path.state);
      const int cost = problem.costs[t + 1].at[path.state * lanes + path.lane];
      const int branch = branch_to<Code>(problem.costs[t].at + path.lane, problem.errors[t].at + path.lane,
                                         path.state, cost);
      path.values[column_at(t)] = value_index<Code>(path.state, branch) - trellis_zero;
      path.state = Code::from(path.state, branch);
    }
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

// Walks from the beginnings back to them.
template <typename Code>
void walk_closed(const int (&beginnings)[lanes], Problem<Code>& problem) {
  for (int16_t& cost : problem.costs[0].at) cost = unreachable;
  for (int lane = 0; lane < lanes; ++lane) problem.costs[0].at[beginnings[lane] * lanes + lane] = 0;
  for (int t = 0; t < ring; ++t) step(problem.costs[t], problem.errors[t], problem.costs[t + 1]);
}

template <typename Code>
void encode_group(const TrellisBlock* blocks, int count) {
  TrellisBlock all[group];
  Plan plans[group];
  for (int b = 0; b < group; ++b) {
    all[b] = blocks[b < count ? b : 0];
    plans[b] = plan_of<Code>(all[b]);
  }
  Problem<Code> problem;
  int beginnings[lanes];
  fill_weights(all, plans, problem);
  fill_raises(plans, problem);
  fill_values(plans, problem);
  find_errors(problem);
  find_beginnings(problem, beginnings);
  walk_closed(beginnings, problem);
  Path<Code> paths[group];
  memset(paths, 0, sizeof paths);
  for (int b = 0; b < count; ++b) {
    int best = b * candidates;
    const auto cost = [&](int lane) { return problem.costs[ring].at[beginnings[lane] * lanes + lane]; };
    for (int lane = best + 1; lane < (b + 1) * candidates; ++lane)
      best = cost(lane) < cost(best) ? lane : best;
    paths[b].lane = best;
    paths[b].state = beginnings[best];
  }
  trace(problem, paths, count);
  for (int b = 0; b < count; ++b) {
    Path<Code>& path = paths[b];
    const int scale = plans[b].lowest_scale + path.lane % candidates;
    path.block.e = static_cast<uint8_t>(scale);
    if (!pays(blocks[b], plans[b], scale_of(scale), path.values)) memset(&path.block, 0, sizeof path.block);
    memcpy(blocks[b].out, &path.block, sizeof path.block);
  }
}

}  // namespace

void encode_trellis(Type type, const TrellisBlock* blocks, int count) {
  if (type == Type::q4_f) return encode_group<CodeQ4>(blocks, count);
  if (type == Type::q4_e) return encode_group<CodeQ4E>(blocks, count);
  if (type == Type::q3_f) return encode_group<CodeQ3>(blocks, count);
  encode_group<CodeQ2>(blocks, count);
}

}  // namespace fovea::kernels::formats::FOVEA_FORMATS_SET
