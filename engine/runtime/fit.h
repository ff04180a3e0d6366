// A model on a machine: which units are where and how large everything is, before anything is known of what
// they will be used for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/api/plan.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/models/config.h"
#include "engine/models/placement.h"
#include "engine/models/plan.h"
#include "engine/precision/plan_inputs.h"
#include "engine/precision/store_profile.h"
#include "kernels/api/device.h"

namespace fovea::runtime {

// A model, or a published one's shape, as far as a plan depends on it. What it refers to must outlive it.
struct Subject {
  std::string name;
  const models::ModelConfig* config = nullptr;
  const models::WeightPlan* weights = nullptr;
  const checkpoint::Checkpoint* checkpoint = nullptr;  // null: a shape, for which there is no store
  // Of what is no unit, in a device that has these layers.
  std::function<std::int64_t(models::UnitScope, models::LayerRange)> dense_bytes;
  std::function<std::int64_t(const models::MatrixSource&)>
      host_bytes;  // where the processor computes with it
  std::function<bool(const models::MatrixSource&)> can_bring =
      {};  // whether the device can unpack what the processor has of it; empty: of everything
  // Read of what is no unit in these layers: of an expert's layer the experts that a token uses.
  std::function<double(models::UnitScope, models::LayerRange)> dense_bytes_per_token;
  // Of a token, in these layers' matrices and not in the output.
  std::function<double(models::LayerRange)> multiply_adds;
  // What is no unit, where so many of the first layers are the processor's: bytes where it computes with
  // them, and of a token the bytes and the multiply-adds.
  struct HostLayers {
    std::int64_t host_bytes = 0;
    double bytes_per_token = 0, multiply_adds = 0;
  };
  std::function<HostLayers(models::UnitScope, std::int64_t layers)> host_layers;
  const Subject* on_first = nullptr;  // the same on the first of two cards

  bool has_experts() const { return config->experts() > 0; }
  models::LayerRange all_layers() const { return {0, config->layer_count()}; }
};
Subject subject_of(const std::filesystem::path& model, const checkpoint::Checkpoint& checkpoint,
                   const models::WeightPlan& weights, const models::ModelConfig& config,
                   const kernels::Device& device, const kernels::Device& processor);

// What a plan is made with.
struct Machine {
  const kernels::Device* device = nullptr;  // whose packing counts; and whose memory, where none is given
  const kernels::Device* first = nullptr;   // another card, which has the first layers; or null
  MachineFacts facts = {};                  // what is not given is seen when it is needed
  models::LayerRange layers = {};           // that `device` has, another card the others; {}: all
  bool has_store = true;                    // false: versions come from elsewhere, nothing is known of them
  bool has_file = true;  // false: weights come from elsewhere, and the device has all layers

  bool is_another() const { return facts.device_memory_bytes > 0; }
  // Has memory of its own, beside which the processor computes.
  bool is_card() const { return is_another() || !device->memory_is_host(); }
  std::int64_t device_free_bytes() const;  // of a card; 0: of the host
  std::int64_t first_free_bytes() const;   // of the first of two
  bool shares_layers() const { return layers.end > 0; }
  std::int64_t cut() const { return layers.first > 0 ? layers.first : layers.end; }
  std::int64_t main_memory_bytes() const;  // for what lies beside a card; 0: not looked at
};

// Which units are where, and how large everything is: what is settled before a store is looked at.
struct Fitted {
  precision::UnitPlan units;
  precision::PrecisionPlan precision;
  std::int64_t chunk = 0;        // LoadOptions::chunk, …
  std::int64_t host_layers = 0;  // … ::host_layers
  Subject::HostLayers before;    // what is no unit in these, where they are the processor's
  models::LayerRange layers;     // that the device has
};

// `to_host` [units]: that are left to the host beside what the options say. Prompts that bring experts to the
// card are counted where that pays.
Result<Fitted> fit(const Subject& subject, const LoadOptions& options, const Machine& machine,
                   const precision::StoreProfile* profile = nullptr, std::vector<bool> to_host = {});

// [units] as a file of "unit tier" says; what another card has has no tier.
Result<std::vector<precision::TierId>> mapped_tiers(const precision::UnitPlan& units,
                                                    const std::filesystem::path& map);

// Of a layer's experts that a token uses; 1 without experts.
double used_share(const models::ModelConfig& config);

}  // namespace fovea::runtime
