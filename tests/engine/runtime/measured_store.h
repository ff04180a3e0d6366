// A card's store of the tiny model with experts, as if each expert at the lowest tier cost a nat.
#pragma once

#include <filesystem>

#include "engine/checkpoint/store.h"
#include "engine/core/result.h"
#include "engine/models/config.h"
#include "engine/models/plan.h"
#include "engine/precision/prepare.h"
#include "expert_model.h"
#include "kernels/api/device.h"

namespace fovea::tests::expert_model {

inline Result<std::filesystem::path> measured_store(const LoadOptions& request, const kernels::Device& card,
                                                    const kernels::Device& processor) {
  FOVEA_TRY(checkpoint::Checkpoint checkpoint, checkpoint::Checkpoint::open(request.model));
  FOVEA_TRY(const auto config, models::read_config(checkpoint));
  FOVEA_TRY(const auto plan, models::plan_weights(checkpoint, config));
  const precision::UnitTable units(plan, models::UnitScope::experts);
  FOVEA_TRY(const auto tiers, precision::parse_tiers(request.precision.tiers, units));
  const std::filesystem::path path = request.precision.stores_folder / "measured.store";
  FOVEA_TRY(auto writer,
            precision::write_versions({checkpoint, units, tiers, card, processor}, path, 1, {}, {}));
  for (precision::UnitId unit = 0; unit < units.size(); ++unit) {
    for (std::int64_t tier = 0; tier < std::ssize(tiers); ++tier) {
      checkpoint::Extent extent = writer.extent(unit, tier);
      extent.divergence = tier == 0 ? 0.0F : 1.0F;
      extent.calibration_tokens = 5;
      FOVEA_CHECK(writer.amend(unit, tier, extent));
    }
  }
  FOVEA_CHECK(writer.finish());
  return path;
}

}  // namespace fovea::tests::expert_model
