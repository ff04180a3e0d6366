// The steps of attention_inputs for one token. Included by one instruction set's sources only.
#pragma once

#include "kernels/api/operations.h"

namespace fovea::kernels::cpu::FOVEA_CPU_SET {

// out = x / sqrt(mean(x²) + eps) · weight for each row. out may be x.
void norm_rows(const float* x, const float* weight, float eps, std::int64_t rows, std::int64_t columns,
               float* out);
// The rotary embedding of the operation's heads: q [heads, head_dim], k [kv_heads, head_dim].
void turn_heads(const AttentionInputs&, std::int32_t position, float* q, float* k);
// x [kv_heads, head_dim] into the keys or values of a position.
void store_heads(const KvPages&, std::byte* const* list, std::int64_t position, const float* x);

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
