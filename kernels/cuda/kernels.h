// The operations, one source for each subject.
#pragma once

#include "kernels/api/operations.h"

namespace fovea::kernels::cuda {

void embed_rows(const EmbedRows&, Stream&);
void rms_norm(const RmsNorm&, Stream&);
void linear(const Linear&, Stream&);
void attention_inputs(const AttentionInputs&, Stream&);
void attention(const Attention&, Stream&);
void router(const Router&, Stream&);
void feed_forward(const FeedForward&, Stream&);
void add(const Add&, Stream&);
void top_k(const TopK&, Stream&);

}  // namespace fovea::kernels::cuda
