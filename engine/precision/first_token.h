// Experts at the highest tier for a sequence's first token. Attention of all later tokens rests on it when it
// has nothing to look for (attention sinks, arXiv 2309.17453), and some tokens lose that where the experts of
// the first layers are coarse (docs/papers.md). They are read for it, while it waits, and belong to nobody
// else.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/api/precision.h"
#include "engine/core/result.h"
#include "engine/precision/tiers.h"
#include "engine/precision/units.h"
#include "engine/precision/version_io.h"
#include "kernels/api/device.h"

namespace fovea::precision {

class FirstToken {
 public:
  // What it serves: nothing where nothing moves between tiers, and beside a card.
  struct Scope {
    std::int64_t layers = 0;  // the model's first
    std::int64_t used = 0;    // experts of a token
  };
  static Scope scope(const PrecisionRequest& request, PolicyKind policy, const UnitTable& units,
                     const TierSet& tiers, const kernels::Device& device, std::int64_t experts_used);
  // Of memory on the device, for as many versions as a token uses in a layer.
  static std::int64_t bytes(const Scope& scope, const UnitTable& units, const TierSet& tiers,
                            const kernels::Device& device);

  // All must outlive it. ErrorKind::memory.
  static Result<std::unique_ptr<FirstToken>> create(const Scope& scope, const UnitTable& units,
                                                    const TierSet& tiers, const kernels::Device& device,
                                                    VersionSource& source);
  ~FirstToken();
  FirstToken(const FirstToken&) = delete;
  FirstToken& operator=(const FirstToken&) = delete;

  std::int64_t bytes() const { return part_bytes_ * scope_.used; }
  // What weights() has read so far, and how long first tokens waited for it.
  struct Reads {
    std::int64_t bytes = 0, failures = 0;
    double seconds = 0;
  };
  const Reads& reads() const { return reads_; }
  // Gate, up and down of these experts of a layer at the highest tier, valid until the next call; nothing
  // where `present` [units] has all of them so, or in a later layer. Waits for the reads: their first error.
  using Weights = std::array<kernels::Weight, 3>;
  Result<std::span<const Weights>> weights(std::int64_t layer, std::span<const std::int32_t> experts,
                                           std::span<const TierId> present);

 private:
  FirstToken(const Scope& scope, const UnitTable& units, const TierSet& tiers, const kernels::Device& device,
             VersionSource& source, std::int64_t part_bytes)
      : scope_(scope),
        units_(units),
        tiers_(tiers),
        device_(device),
        source_(source),
        part_bytes_(part_bytes) {}

  const Scope scope_;
  const UnitTable& units_;
  const TierSet& tiers_;
  const kernels::Device& device_;
  VersionSource& source_;
  const std::int64_t part_bytes_;
  std::byte* memory_ = nullptr;
  std::vector<Weights> weights_;
  Reads reads_;
};

}  // namespace fovea::precision
