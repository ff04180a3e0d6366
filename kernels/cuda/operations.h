// The operation table of CUDA devices. Streams are CudaStreams (stream.h). Arguments that the operations read
// on the host (projections, experts, page lists) are in host memory, everything that they point at in the
// device's.
#pragma once

#include "kernels/api/operations.h"

namespace fovea::kernels::cuda {

const OperationTable& operations();

// One source for each subject.
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
void ask_host(const HostQuestion&, Stream&);
void add_answer(const HostAnswer&, Stream&);
void repack(const Repack&, Stream&);

}  // namespace fovea::kernels::cuda
