// What the instruction set's numeric sources offer to the drivers (linear.cpp, router.cpp, feed_forward.cpp).
#pragma once

#include "kernels/api/operations.h"
#include "kernels/cpu/tiles.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {

void choose_experts(const Router&, Stream&);
MultiplyTile multiply_tile(Type);
ActivationForm activation_form(Type);
void quantize_activations(const float* x, std::int64_t columns, ActivationBlock* blocks, std::int64_t stride);
#if defined(__AVX512BF16__)
void round_activations(const float* x, std::int64_t columns, std::uint16_t* bfloat16);
#else
constexpr void (*round_activations)(const float*, std::int64_t, std::uint16_t*) = nullptr;
#endif
void gate_tile(Activation, float* gate, const float* up, std::int64_t tokens);
void scatter_tile(const TileScatter&);

double float_work(std::int64_t rounds, float* sink);
double byte_work(std::int64_t rounds, float* sink);
void read_work(const std::byte* memory, std::int64_t bytes, float* sink);

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
