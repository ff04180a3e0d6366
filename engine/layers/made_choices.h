// Experts that somebody chose in the routers' place, where the kernels can read them: random weights route
// almost evenly, which no trained model does.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/core/result.h"
#include "engine/models/config.h"
#include "kernels/api/device.h"

namespace fovea::layers {

class MadeChoices {
 public:
  // For passes of up to max_tokens. ErrorKind::memory.
  static Result<std::unique_ptr<MadeChoices>> create(const models::ModelConfig& config,
                                                     const kernels::Device& device, std::int64_t max_tokens);
  ~MadeChoices();
  MadeChoices(const MadeChoices&) = delete;
  MadeChoices& operator=(const MadeChoices&) = delete;

  // ids [layers, tokens, experts_used] of host memory; the same for the kernels, in the stream's order and
  // always at the same address. The stream has nothing left to do of an earlier pass.
  const std::int32_t* bring(const std::int32_t* ids, std::int64_t tokens, kernels::Stream& stream);

 private:
  MadeChoices(const models::ModelConfig& config, const kernels::Device& device, std::int64_t max_tokens);

  const kernels::Device& device_;
  std::int64_t ids_per_token_, bytes_;
  std::byte* on_device_ = nullptr;
  std::byte* on_host_ = nullptr;
};

}  // namespace fovea::layers
