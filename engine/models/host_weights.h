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
    bool all_experts = false;              // none of the routed ones is or will be left to the device
    // [experts] all of one that is here, behind one another in memory(), and nothing of others; or empty,
    // where one is read where its file lies.
    std::vector<std::span<const std::byte>> regions;

    explicit operator bool() const { return !experts.empty() || shared.gate; }
    bool computes_now() const;  // something of it is here and not on the device
  };

  // What the model was loaded without (see HostShare). Progress as Model::load has it. The model must outlive
  // what comes back: weights that need no packing are read where its file lies.
  static Result<HostWeights> load(const Model& model, const kernels::Device& host, int threads,
                                  const ProgressSink& progress = {}, std::stop_token stop = {});
  HostWeights(HostWeights&&) noexcept;
  HostWeights& operator=(HostWeights&&) noexcept;
  ~HostWeights();

  const Layer& layer(std::int64_t index) const { return layers_[static_cast<std::size_t>(index)]; }
  // All that is here of an expert, whoever computes it now.
  const kernels::Expert& expert(std::int64_t layer, std::int64_t index) const;
  // The device has the expert, too, and computes it from now on; or no more. Between passes, and for each
  // that may change places once before the first.
  void set_on_device(std::int64_t layer, std::int64_t index, bool on_device);
  std::uint64_t revision() const { return revision_; }  // grows when that changes
  bool empty() const;                                   // no layer has any
  std::int64_t bytes() const { return bytes_; }         // packed and mapped
  std::span<std::byte> memory() const;                  // what is packed
  // Pins that for the device, which must outlive it, for as long as it lasts. False: it cannot be.
  bool pin(const kernels::Device& device) const;

 private:
  struct Memory;
  friend class HostLoader;
  HostWeights();
  std::vector<Layer> layers_;
  std::vector<std::vector<kernels::Expert>> experts_;  // [layers, experts], as they were loaded
  std::uint64_t revision_ = 0;
  std::int64_t bytes_ = 0;
  std::unique_ptr<Memory> memory_;
};

// Whether a matrix that lies here can be brought to the device and unpacked there.
bool can_unpack(const kernels::Device& device, const kernels::Weight& weight);
// `count` matrices of `weight`'s shape, packed as it is, at `stride` from one another on the device, become
// what the device computes with; behind what the stream has. Where can_unpack().
void unpack(const kernels::Device& device, const kernels::Weight& weight, const std::byte* source,
            std::byte* target, std::int64_t stride, std::int64_t count, kernels::Stream& stream);

}  // namespace fovea::models
