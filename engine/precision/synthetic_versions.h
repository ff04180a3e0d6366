// Versions that no store holds: random values of each tier, packed for the device once and copied whenever
// one is read. For measuring what moving experts costs.
#pragma once

#include <vector>

#include "engine/precision/tiers.h"
#include "engine/precision/version_io.h"

namespace fovea::precision {

class SyntheticVersions final : public VersionSource {
 public:
  // All units are of one shape, as a shape's experts are.
  SyntheticVersions(const UnitTable& units, const TierSet& tiers, const kernels::Device& device,
                    std::uint64_t seed);
  Result<void> read(UnitId unit, TierId tier, std::span<std::byte> memory,
                    const checkpoint::Pace& pace) override;

 private:
  std::vector<std::vector<std::byte>> versions_;  // [tiers, variants]
};

}  // namespace fovea::precision
