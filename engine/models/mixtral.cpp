// Mixtral: Llama's attention, few large experts, the chosen weights normalised. GGUF calls it "llama" with
// experts.
#include "engine/models/families.h"

namespace fovea::models {
namespace {

Result<void> configure(const Keys& keys, ModelConfig& config) {
  FOVEA_CHECK(read_experts(keys, config, true));
  config.expert_width = config.feed_forward;
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
