#include "engine/precision/weight_divergence.h"

#include <cstddef>
#include <iterator>

#include "engine/api/prepare.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/core/result.h"
#include "engine/models/config.h"
#include "engine/models/plan.h"
#include "engine/precision/prepare_version.h"
#include "engine/runtime/load_settings.h"
#include "engine/runtime/parts.h"
#include "engine/runtime/processor.h"

namespace fovea {

Result<std::vector<UnitDivergence>> weight_divergences(const std::filesystem::path& model,
                                                       const std::vector<std::string>& tiers) {
  return exhaustion_as_error([&]() -> Result<std::vector<UnitDivergence>> {
    FOVEA_TRY(const auto file, checkpoint::Checkpoint::open(model));
    FOVEA_TRY(const auto config, models::read_config(file));
    FOVEA_TRY(const auto weights, models::plan_weights(file, config));
    const precision::UnitTable units(weights, models::UnitScope::linear_layers);
    FOVEA_TRY(const auto set, precision::parse_tiers(tiers, units));
    FOVEA_CHECK(precision::check_tiers(units, set));
    FOVEA_TRY(const std::vector<float> all,
              precision::weight_divergences(file, units, set, runtime::physical_cores()));
    std::vector<UnitDivergence> found;
    for (precision::UnitId unit = 0; unit < static_cast<precision::UnitId>(units.size()); ++unit) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(unit) * std::ssize(set);
      found.push_back({.unit = units.name(unit), .tiers = {first, first + std::ssize(set)}});
    }
    return found;
  });
}

}  // namespace fovea
