// The codes of trellis.h as trellises, for trellis_viterbi.cpp. Functions have internal linkage, since the
// including source is compiled once for each instruction set.
#pragma once

#include <stdint.h>

#include "kernels/formats/blocks.h"
#include "kernels/formats/trellis.h"

namespace fovea::kernels::formats::FOVEA_FORMATS_SET {
namespace {

constexpr int values = 64;  // −32 … 31

// A code's trellis, walked from the last ring position to the first. A state is what the weights at earlier
// positions will see of those after them; state `to` is reached from `branches` states.
struct CodeQ4 {
  using Block = BlockQ4_F;
  static constexpr int states = 16, branches = 16;
  static constexpr float rms = 9.7F;       // of the values: what a block's scale is guessed from
  static constexpr int below = 3;          // candidates below the guess
  static constexpr float error = 0.0052F;  // the usual squared error, relative
  static constexpr int shift = 3;          // of a difference before it is squared, at least
  static constexpr int lead = 12;          // steps until a walk's ends agree on where it came from (even)
  static constexpr TrellisTables tables = q4_f_tables;
  static constexpr int from(int, int branch) { return branch; }
  static constexpr int first(int to, int) { return to; }
  static constexpr int second(int, int branch) { return branch; }
  static void put(Block& block, int g, int b, int state) {
    block.qs[4 * (g % 4) + b] =
        static_cast<uint8_t>(block.qs[4 * (g % 4) + b] | (state & 15) << (4 * (g / 4)));
  }
};

struct CodeQ4E : CodeQ4 {
  static constexpr float rms = 18.4F, error = 0.0075F;  // that of normal values, the largest that is usual
  static constexpr TrellisTables tables = q4_e_tables;
};

void put_pair(uint8_t* qs, int g, int b, int pair) {
  qs[4 * (g / 4) + b] = static_cast<uint8_t>(qs[4 * (g / 4) + b] | pair << (2 * (g % 4)));
}

// A state holds the newest pair of low bits and the newest three high bits.
struct CodeQ3 {
  using Block = BlockQ3_F;
  static constexpr int states = 32, branches = 8;
  static constexpr float rms = 11.5F, error = 0.0196F;
  static constexpr int below = 2, shift = 2, lead = 16;
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
  static constexpr float rms = 11.8F, error = 0.08F;
  static constexpr int below = 3, shift = 1, lead = 16;
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
static_assert(values_fit<CodeQ4>() && values_fit<CodeQ4E>() && values_fit<CodeQ3>() && values_fit<CodeQ2>());

}  // namespace
}  // namespace fovea::kernels::formats::FOVEA_FORMATS_SET
