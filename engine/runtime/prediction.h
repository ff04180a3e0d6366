// What a plan says of speed, before anything runs: the bytes and operations of a token and of a prompt.
#pragma once

#include <span>

#include "engine/runtime/fit.h"

namespace fovea::runtime {

// What a token reads at least on either side, and what a prompt takes. `uses` [units]: how often each is
// used, any measure; empty: all alike.
void predict(const Subject& subject, const Machine& machine, const Fitted& fitted,
             std::span<const float> uses, LoadPlan& plan);

}  // namespace fovea::runtime
