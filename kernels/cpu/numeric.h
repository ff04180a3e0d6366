// What the instruction set's numeric sources offer to the drivers (linear.cpp, feed_forward.cpp).
#pragma once

#include "kernels/cpu/tiles.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {

MultiplyTile multiply_tile(Type);
void quantize_activations(const float* x, std::int64_t columns, ActivationBlock* blocks, std::int64_t stride);
void gate_tile(float* gate, const float* up, std::int64_t tokens);
void scatter_tile(const TileScatter&);

double float_work(std::int64_t rounds, float* sink);
double byte_work(std::int64_t rounds, float* sink);
void read_work(const std::byte* memory, std::int64_t bytes, float* sink);

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
