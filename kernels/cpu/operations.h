// One instruction set's operations that need no other set's help. Included by that set's sources only.
#pragma once

#include "kernels/api/operations.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {

void embed_rows(const EmbedRows&, Stream&);
void rms_norm(const RmsNorm&, Stream&);
void attention_inputs(const AttentionInputs&, Stream&);
void attention(const Attention&, Stream&);
void gating(const Gating&, Stream&);
void short_convolution(const ShortConvolution&, Stream&);
void gated_delta(const GatedDelta&, Stream&);
void add(const Add&, Stream&);
void soft_cap(const SoftCap&, Stream&);

// out = x / sqrt(mean(x²) + eps) · weight for each row; without weights by 1. out may be x.
void norm_rows(const float* x, const float* weight, float eps, std::int64_t rows, std::int64_t columns,
               float* out);

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
