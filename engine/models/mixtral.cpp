// Mixtral: Llama's attention, few large experts, the chosen weights normalised. GGUF calls it "llama" with
// experts.
#include "engine/models/families.h"

namespace fovea::models {
namespace {

Result<void> configure(const Keys& keys, ModelConfig& config) {
  FOVEA_TRY(ExpertsConfig experts, read_experts(keys, true));
  experts.width = config.layers.front().dense->width;
  put_experts(experts, config);
  return read_windows(keys, config, WindowDefault::all_layers);
}

}  // namespace

const Family mixtral{
    .name = "mixtral",
    .gguf = {},
    .hugging_face = {"mixtral"},
    .gguf_style = kernels::RotaryStyle::interleaved,
    .folder_names = &mixtral_names,
    .configure = configure,
};

}  // namespace fovea::models
