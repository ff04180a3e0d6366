// Weight units: the smallest things whose precision can change. One expert (gate, up, down together), or one
// linear layer.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/models/model.h"
#include "engine/models/plan.h"
#include "kernels/api/device.h"

namespace fovea::precision {

using models::UnitScope;

using UnitId = std::int32_t;  // index in UnitTable, layer by layer

// The order of a layer's linear units.
// z: the gate of gated delta.
enum class LinearRole : std::uint8_t { q, k, v, z, attention_output, gate, up, down };

// The layer's weight of that role.
kernels::Weight& linear_weight(models::LayerWeights& layer, LinearRole role);

struct Unit {
  std::int32_t layer = 0;
  std::int32_t index = 0;                                      // the expert, or the LinearRole
  std::int32_t part_count = 0;                                 // 3 for an expert, 1 for a linear layer
  std::array<models::MatrixSource, 3> parts = {};              // gate, up, down
  std::array<models::VectorSource, 3> biases = {};             // of an expert, likewise; or none
  kernels::Activation activation = kernels::Activation::silu;  // of an expert

  std::span<const models::MatrixSource> matrices() const {
    return {parts.data(), static_cast<std::size_t>(part_count)};
  }
  std::int64_t parameters() const;
};

class UnitTable {
 public:
  // The plan and its checkpoint must outlive the table. Layers without units (dense ones, for experts) have
  // none here either.
  UnitTable(const models::WeightPlan& plan, UnitScope scope);
  // Experts that are known by their number alone, [layers of the model]: they have no parts.
  explicit UnitTable(std::span<const std::int32_t> experts);

  UnitScope scope() const { return scope_; }
  std::span<const Unit> units() const { return units_; }
  const Unit& operator[](UnitId id) const { return units_[static_cast<std::size_t>(id)]; }
  std::int64_t size() const { return static_cast<std::int64_t>(units_.size()); }
  std::int64_t layers() const { return static_cast<std::int64_t>(first_.size()) - 1; }  // of the model
  // The units of one layer of the model: [first(layer), first(layer + 1)).
  UnitId first(std::int64_t layer) const { return first_[static_cast<std::size_t>(layer)]; }
  std::span<const UnitId> first_units() const { return first_; }  // [layers + 1]
  std::int64_t parameters() const;
  // "blk.3.expert.17", "blk.3.attn_q": how the tier map, the events and errors call it.
  std::string name(UnitId id) const;

 private:
  UnitScope scope_;
  std::vector<Unit> units_;
  std::vector<UnitId> first_;  // [layers + 1]
};

}  // namespace fovea::precision
