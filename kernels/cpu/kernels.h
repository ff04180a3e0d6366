// What one instruction set's build of the numeric sources offers. Those sources (CMakeLists.txt lists them)
// are compiled once for each set, inside the namespace that FOVEA_CPU_SET names, and include no header that
// defines inline functions outside that namespace: the linker keeps only one copy of such a function, and
// it must not be one with instructions that the processor lacks.
#pragma once

#include "kernels/api/operations.h"
#include "kernels/cpu/tiles.h"

namespace fovea::kernels::cpu {

struct Kernels {
  const char* name = "";
  OperationTable operations = {};

  // The router's experts from its logits, and the shared weights from the products of the shared gate, which
  // are there instead.
  void (*choose_experts)(const Router&, Stream&) = nullptr;
  MultiplyTile (*multiply_tile)(Type) = nullptr;
  ActivationForm (*activation_form)(Type) = nullptr;
  // One token's activations [columns] as blocks, `stride` blocks apart. columns is a multiple of 32.
  void (*quantize_activations)(const float* x, std::int64_t columns, ActivationBlock* blocks,
                               std::int64_t stride) = nullptr;
  // One token's activations as bfloat16, to the nearest, and a zero after an odd number of them. Null where
  // no type wants them.
  void (*round_activations)(const float* x, std::int64_t columns, std::uint16_t* bfloat16) = nullptr;
  // gate = activation(gate, up).   [tokens, 16], aligned to 64
  void (*gate_tile)(Activation, float* gate, const float* up, std::int64_t tokens) = nullptr;
  void (*scatter_tile)(const TileScatter&) = nullptr;

  // Work that only measures (ceiling.cpp); the sink keeps it from being left out. They return the operations.
  double (*float_work)(std::int64_t rounds, float* sink) = nullptr;
  double (*byte_work)(std::int64_t rounds, float* sink) = nullptr;
  void (*read_work)(const std::byte* memory, std::int64_t bytes, float* sink) = nullptr;
};

namespace scalar {
extern const Kernels kernels;
}
namespace avx2 {
extern const Kernels kernels;
}
namespace avx512 {
extern const Kernels kernels;
}
namespace avx512_vnni {
extern const Kernels kernels;
}
namespace avx512_bf16 {
extern const Kernels kernels;
}

// Operations that are the same for every set: they drive the set's kernels.
void linear(const Linear&, Stream&);
void router(const Router&, Stream&);
void feed_forward(const FeedForward&, Stream&);
void top_k(const TopK&, Stream&);

}  // namespace fovea::kernels::cpu
