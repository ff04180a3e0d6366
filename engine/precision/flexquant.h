// FlexQuant (arXiv 2506.12024): while an answer is certain enough, its linear layers go to fewer bits, one
// after the other. §4.2 and Eq. 5 give how certain it is, Algorithm 1 the way down. docs/papers.md lists what
// the paper leaves open and how it is filled.
#pragma once

#include <memory>

#include "engine/api/precision.h"
#include "engine/core/result.h"
#include "engine/precision/policy.h"

namespace fovea::precision {

// For two tiers and more; all units begin in the highest.
//   ErrorKind::invalid  a single tier, or a setting out of its range, by name
Result<std::unique_ptr<Policy>> make_flexquant(const PolicyWorld& world, const FlexQuantSettings& settings);

}  // namespace fovea::precision
