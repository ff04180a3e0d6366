#include "engine/precision/units.h"

#include <numeric>

namespace fovea::precision {
namespace {

constexpr std::array linear_names{"attn_q",      "attn_k",   "attn_v", "attn_gate",
                                  "attn_output", "ffn_gate", "ffn_up", "ffn_down"};

}  // namespace

kernels::Weight& linear_weight(models::LayerWeights& layer, LinearRole role) {
  switch (role) {
    case LinearRole::q:
      return layer.attention.q;
    case LinearRole::k:
      return layer.attention.k;
    case LinearRole::v:
      return layer.attention.v;
    case LinearRole::z:
      return layer.delta.z;
    case LinearRole::attention_output:
      return layer.attention.output;
    case LinearRole::gate:
      return layer.shared.gate;
    case LinearRole::up:
      return layer.shared.up;
    case LinearRole::down:
      break;
  }
  return layer.shared.down;
}

std::int64_t Unit::parameters() const {
  std::int64_t sum = 0;
  for (const models::MatrixSource& part : matrices()) sum += part.parameters();
  return sum;
}

UnitTable::UnitTable(const models::WeightPlan& plan, UnitScope scope) : scope_(scope) {
  std::int32_t layer = 0;
  for (const models::LayerPlan& p : plan.layers) {
    first_.push_back(static_cast<UnitId>(units_.size()));
    if (scope == UnitScope::experts) {
      for (std::size_t e = 0; e < p.experts.size(); ++e) {
        const models::ExpertSource& x = p.experts[e];
        units_.push_back({layer,
                          static_cast<std::int32_t>(e),
                          3,
                          {x.gate, x.up, x.down},
                          {x.gate_bias, x.up_bias, x.down_bias},
                          x.activation});
      }
    } else {
      const models::MatrixSource* const matrices[] = {
          &p.q, &p.k, &p.v, &p.delta.z, &p.attention_output, &p.shared.gate, &p.shared.up, &p.shared.down};
      std::int32_t role = 0;
      for (const models::MatrixSource* matrix : matrices) {
        if (*matrix) units_.push_back({.layer = layer, .index = role, .part_count = 1, .parts = {*matrix}});
        ++role;
      }
    }
    ++layer;
  }
  first_.push_back(static_cast<UnitId>(units_.size()));
}

UnitTable::UnitTable(std::span<const std::int32_t> experts) : scope_(UnitScope::experts) {
  for (std::size_t layer = 0; layer < experts.size(); ++layer) {
    first_.push_back(static_cast<UnitId>(units_.size()));
    for (std::int32_t expert = 0; expert < experts[layer]; ++expert)
      units_.push_back({.layer = static_cast<std::int32_t>(layer), .index = expert});
  }
  first_.push_back(static_cast<UnitId>(units_.size()));
}

std::int64_t UnitTable::parameters() const {
  return std::transform_reduce(units_.begin(), units_.end(), std::int64_t{0}, std::plus<>(),
                               [](const Unit& unit) { return unit.parameters(); });
}

std::string UnitTable::name(UnitId id) const {
  const Unit& unit = (*this)[id];
  const std::string layer = "blk." + std::to_string(unit.layer) + ".";
  if (scope_ == UnitScope::experts) return layer + "expert." + std::to_string(unit.index);
  return layer + linear_names[static_cast<std::size_t>(unit.index)];
}

}  // namespace fovea::precision
