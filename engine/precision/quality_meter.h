// What the tiers cost that a conversation met, in the currency by which policies are judged: the router's
// weight of each use × the damage of the tier that served it. Beside it what fixed tiers would have cost the
// same tokens.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/api/snapshot.h"
#include "engine/precision/policy.h"

namespace fovea::precision {

// After so many tokens their profile chooses the mix that is fixed at the start.
inline constexpr std::int64_t profile_tokens = 2048;
// The mix that knows everything is chosen anew after so many tokens, and a sixteenth of them more each time
// (no fewer than these again where its numbers are free, which takes longer).
inline constexpr std::int64_t hindsight_tokens = 256;

class QualityMeter {
 public:
  // The fixed mixes keep to the world's capacities, or, where the numbers may follow the work, to their
  // bytes.
  explicit QualityMeter(const PolicyWorld& world);

  // Counts what routers chose; without any, as of linear layers, it says nothing rather than that all is
  // kept. `tiers` [units]: those that served the pass. Units on the host cost nothing; one on disk alone is
  // read at the lowest tier.
  void observe(const Observation& observation, std::span<const std::uint8_t> tiers);
  const QualityState& state() const { return state_; }

 private:
  double damage(std::int32_t unit, std::uint8_t tier) const;
  std::vector<std::uint8_t> fixed_mix(const std::vector<double>& loss) const;
  void choose_start();
  void look_back(std::int64_t tokens, double low, double high);

  PolicyWorld world_;
  std::int64_t mix_bytes_ = 0;                 // of a fixed mix whose numbers are free; 0: they are not
  std::vector<float> damage_;                  // [units, tiers]
  std::vector<double> gates_;                  // [units], until the start is chosen, and from then on anew
  std::vector<std::uint8_t> calibrated_;       // [units]
  std::vector<std::uint8_t> start_;            // [units]; empty: not chosen yet
  std::int64_t next_look_ = hindsight_tokens;  // back
  QualityState state_;
};

}  // namespace fovea::precision
