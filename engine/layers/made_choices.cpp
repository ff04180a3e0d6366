#include "engine/layers/made_choices.h"

#include <cstring>

namespace fovea::layers {

MadeChoices::MadeChoices(const models::ModelConfig& config, const kernels::Device& device,
                         std::int64_t max_tokens)
    : device_(device),
      ids_per_token_(config.layer_count() * config.experts_used()),
      bytes_(max_tokens * ids_per_token_ * static_cast<std::int64_t>(sizeof(std::int32_t))) {}

MadeChoices::~MadeChoices() {
  if (on_host_ != nullptr) device_.release_host(on_host_, bytes_);
  if (on_device_ != nullptr) device_.release(on_device_, bytes_);
}

Result<std::unique_ptr<MadeChoices>> MadeChoices::create(const models::ModelConfig& config,
                                                         const kernels::Device& device,
                                                         std::int64_t max_tokens) {
  std::unique_ptr<MadeChoices> made(new MadeChoices(config, device, max_tokens));
  made->on_device_ = device.allocate(made->bytes_);
  if (made->on_device_ != nullptr && !device.memory_is_host())
    made->on_host_ = device.allocate_host(made->bytes_);
  if (made->on_device_ == nullptr || (made->on_host_ == nullptr && !device.memory_is_host()))
    return fail(ErrorKind::memory, device.name(), "there is no memory for the made-up choices",
                "Choose a smaller prefill chunk");
  return made;
}

const std::int32_t* MadeChoices::bring(const std::int32_t* ids, std::int64_t tokens,
                                       kernels::Stream& stream) {
  const std::int64_t bytes = tokens * ids_per_token_ * static_cast<std::int64_t>(sizeof(std::int32_t));
  if (device_.memory_is_host()) {
    std::memcpy(on_device_, ids, static_cast<std::size_t>(bytes));
  } else {
    std::memcpy(on_host_, ids, static_cast<std::size_t>(bytes));
    device_.copy(on_device_, on_host_, bytes, stream);
  }
  return reinterpret_cast<const std::int32_t*>(on_device_);
}

}  // namespace fovea::layers
