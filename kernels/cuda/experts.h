// The feed-forward layer as both of its forms see it: few tokens, each with its experts (feed_forward.cu),
// and many, grouped by expert (grouped_experts.cu).
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/cuda/activations.h"
#include "kernels/cuda/stream.h"

namespace fovea::kernels::cuda {

// One token's share of the layer is `jobs` experts: the chosen ones, then the shared one.
struct Layer {
  const float* x = nullptr;  // [tokens, d]
  const Expert* table = nullptr;
  const std::int32_t* ids = nullptr;
  const float* weights = nullptr;
  Expert shared;
  const float* shared_weights = nullptr;
  std::int64_t d = 0;
  int used = 0;
  int jobs = 0;
  int first_token = 0;  // of this launch
  // [tokens, jobs, hidden_stride] floats, of which the down matrix reads either floats or quantised values:
  // as many bytes as columns, then the halves; or pairs of bfloat16.
  float* hidden = nullptr;
  std::int64_t hidden_stride = 0;
  float* out = nullptr;  // [tokens, d]
};

__device__ __forceinline__ Expert expert_of(const Layer& layer, std::int64_t token, int job) {
  return job < layer.used ? layer.table[layer.ids[token * layer.used + job]] : layer.shared;
}
__device__ __forceinline__ float share_of(const Layer& layer, std::int64_t token, int job) {
  if (job < layer.used) return layer.weights[token * layer.used + job];
  return layer.shared_weights ? layer.shared_weights[token] : 1.0F;
}

// A job's hidden values; token counts from the launch's first.
__device__ __forceinline__ float* hidden_of(const Layer& layer, std::int64_t token, int job) {
  return layer.hidden + (token * layer.jobs + job) * layer.hidden_stride;
}
__device__ __forceinline__ Quantised quantised_hidden(float* hidden, std::int64_t width) {
  auto* const q = reinterpret_cast<std::int8_t*>(hidden);
  return {q, reinterpret_cast<Floats2*>(q + width), width};
}

__device__ __forceinline__ float times_sigmoid(float g, float x) {
  return g / (1.0F + expf(-x));
}

// By its tanh.
__device__ __forceinline__ float gelu(float x) {
  return times_sigmoid(x, 1.59576912F * (x + 0.044715F * x * x * x));  // 2 √(2/π)
}

// What becomes of row `row` of the products with gate and up.
__device__ __forceinline__ float activated(const Expert& expert, std::int64_t row, float gate, float up) {
  if (expert.gate_bias) gate += expert.gate_bias[row];
  if (expert.up_bias) up += expert.up_bias[row];
  switch (expert.activation) {
    case Activation::gelu_tanh:
      return gelu(gate) * up;
    case Activation::clamped_silu:
      gate = fminf(gate, clamped_silu_limit);
      up = fmaxf(fminf(up, clamped_silu_limit), -clamped_silu_limit);
      return times_sigmoid(gate, clamped_silu_alpha * gate) * (up + 1.0F);
    default:
      return times_sigmoid(gate, gate) * up;
  }
}

// The whole operation for many tokens.
void feed_forward_in_groups(const FeedForward& op, Layer layer, CudaStream&);

}  // namespace fovea::kernels::cuda
