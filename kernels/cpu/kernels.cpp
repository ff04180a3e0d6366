#include "kernels/cpu/kernels.h"

#include "kernels/cpu/numeric.h"
#include "kernels/cpu/operations.h"

#define FOVEA_TEXT_OF(x) #x
#define FOVEA_TEXT(x) FOVEA_TEXT_OF(x)

namespace fovea::kernels::cpu::FOVEA_CPU_SET {

const Kernels kernels = {
    .name = FOVEA_TEXT(FOVEA_CPU_SET),
    .operations =
        {
            .embed_rows = embed_rows,
            .rms_norm = rms_norm,
            .linear = linear,
            .attention_inputs = attention_inputs,
            .attention = attention,
            .gating = gating,
            .short_convolution = short_convolution,
            .gated_delta = gated_delta,
            .router = router,
            .feed_forward = feed_forward,
            .add = add,
            .soft_cap = soft_cap,
            .top_k = top_k,
        },
    .choose_experts = choose_experts,
    .multiply_tile = multiply_tile,
    .activation_form = activation_form,
    .quantize_activations = quantize_activations,
    .round_activations = round_activations,
    .gate_tile = gate_tile,
    .scatter_tile = scatter_tile,
    .float_work = float_work,
    .byte_work = byte_work,
    .read_work = read_work,
};

}  // namespace fovea::kernels::cpu::FOVEA_CPU_SET
