// The operations, one source for each subject.
#pragma once

#include "kernels/api/operations.h"

namespace fovea::kernels::cuda {

void embed_rows(const EmbedRows&, Stream&);
void rms_norm(const RmsNorm&, Stream&);
void linear(const Linear&, Stream&);
void rotary(const Rotary&, Stream&);
void kv_store(const KvStore&, Stream&);
void attention(const Attention&, Stream&);
void route(const Route&, Stream&);
void feed_forward(const FeedForward&, Stream&);
void sigmoid(const Sigmoid&, Stream&);
void add(const Add&, Stream&);

}  // namespace fovea::kernels::cuda
