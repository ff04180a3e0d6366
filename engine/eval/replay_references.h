// What a policy in a replay is measured by, besides fixed mixes: what knowing the coming tokens would give.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "engine/core/result.h"
#include "engine/eval/replay.h"
#include "engine/precision/policy.h"

namespace fovea::eval {

// The loss that no policy can fall below: for each pass alone, the best tiers for exactly its uses, fractions
// of a version allowed, as if any version could be anywhere at once. `bytes`: all that there is for versions,
// spare blocks among it. The lowest tier of every unit must fit. Σ gate × damage, as Service's.
Result<double> ceiling_loss(PassSource& source, const precision::PolicyWorld& world, std::int64_t bytes,
                            std::stop_token stop = {});

struct LookAheadSettings {
  std::int64_t tokens = 200;          // that are known
  std::int64_t interval_tokens = 16;  // between two decisions
  double margin = 0;                  // of an exchange, see precision::Exchanges
  std::int64_t in_flight = 64;
  double prompt_wait_share = 0.05;
};

// Exchanges as the fovea policy's, for what the coming tokens will really use. `source` must be the replay's
// routing once more, from its beginning, and outlive the policy; so must the world. `first` [units]: the
// tiers to begin with. An error of the source ends what is known.
Result<std::unique_ptr<precision::Policy>> make_look_ahead(PassSource& source,
                                                           const precision::PolicyWorld& world,
                                                           const LookAheadSettings& settings,
                                                           std::vector<std::uint8_t> first);

}  // namespace fovea::eval
