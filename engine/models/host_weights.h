// The part of a model that the host computes in place of a device whose memory it cannot reach: experts and
// dense feed-forward layers, as the file has them, in the packing that the processor reads fastest.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "engine/api/progress.h"
#include "engine/core/result.h"
#include "engine/models/model.h"
#include "kernels/api/device.h"

namespace fovea::models {

class HostWeights {
 public:
  struct Layer {
    std::vector<kernels::Expert> experts;  // [experts], without data where the device has them; or empty
    kernels::Expert shared;                // the dense layer; may be empty
    bool all_experts = false;              // none of the routed ones is left to the device
    // [experts] all of one that is here, behind one another in memory(), and nothing of others; or empty,
    // where one is read where its file lies.
    std::vector<std::span<const std::byte>> regions;

    explicit operator bool() const { return !experts.empty() || shared.gate; }
  };

  // What the model was loaded without (see HostShare). Progress as Model::load has it. The model must outlive
  // what comes back: weights that need no packing are read where its file lies.
  static Result<HostWeights> load(const Model& model, const kernels::Device& host, int threads,
                                  const ProgressSink& progress = {}, std::stop_token stop = {});
  HostWeights(HostWeights&&) noexcept;
  HostWeights& operator=(HostWeights&&) noexcept;
  ~HostWeights();

  const Layer& layer(std::int64_t index) const { return layers_[static_cast<std::size_t>(index)]; }
  bool empty() const;                            // no layer has any
  std::int64_t bytes() const { return bytes_; }  // packed and mapped
  std::span<std::byte> memory() const;           // what is packed

 private:
  struct Memory;
  friend class HostLoader;
  HostWeights();
  std::vector<Layer> layers_;
  std::int64_t bytes_ = 0;
  std::unique_ptr<Memory> memory_;
};

}  // namespace fovea::models
