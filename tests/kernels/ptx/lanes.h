// What the lanes of a warp do together, after NVIDIA's "Parallel Thread Execution ISA"
// (9.7.9, 9.7.13; 9.7.14: which lane holds what of a matrix). Of `lanes` those that take no part are null.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "program.h"

namespace fovea::tests::ptx {

// bar.warp.sync: what each has done is behind all.
void order_lanes(Thread* const* lanes, std::uint32_t mask, const Instruction&);
// shfl.sync.bfly
void exchange(Thread* const* lanes, std::uint32_t mask, const Instruction&);
// redux.sync.max.u32
void largest(Thread* const* lanes, std::uint32_t mask, const Instruction&);
// ldmatrix.sync.x4
void load_matrices(Thread* const* lanes, std::uint32_t mask, const Instruction&);
// mma.sync, by its name's parts
Instruction::RunTogether matrices(const std::vector<std::string_view>& name);

}  // namespace fovea::tests::ptx
