// The reference implementations, one file for each subject. Products, sums and functions are in double; what
// an operation stores is rounded to float once.
#pragma once

#include <vector>

#include "kernels/api/operations.h"

namespace fovea::kernels::reference {

void embed_rows(const EmbedRows&, Stream&);
void rms_norm(const RmsNorm&, Stream&);
void linear(const Linear&, Stream&);
void attention_inputs(const AttentionInputs&, Stream&);
void attention(const Attention&, Stream&);
void gating(const Gating&, Stream&);
void short_convolution(const ShortConvolution&, Stream&);
void gated_delta(const GatedDelta&, Stream&);
void router(const Router&, Stream&);
void feed_forward(const FeedForward&, Stream&);
void add(const Add&, Stream&);
void soft_cap(const SoftCap&, Stream&);
void top_k(const TopK&, Stream&);

// Row `row` of a weight matrix in Packing::rows, dequantised.
std::vector<float> weight_row(const Weight&, std::int64_t row);

}  // namespace fovea::kernels::reference
