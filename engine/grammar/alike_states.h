// States that no token can tell apart.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/grammar/rules.h"

namespace fovea::grammar {

// A class for each state: two of one class accept the same texts of up to `bytes` bytes, within their rule
// and behind what it calls, and come to states of the same distances. So a string that may have 700
// characters more has the masks of one that may have 699. Empty: no two states are alike, or to find them
// would take too long.
std::vector<std::uint32_t> alike_states(const Rules& rules, std::span<const std::uint32_t> distance,
                                        std::size_t bytes);

}  // namespace fovea::grammar
