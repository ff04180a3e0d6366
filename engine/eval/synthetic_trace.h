// Synthetic routing as a source of passes. The same settings and seed give the same passes.
#pragma once

#include <memory>

#include "engine/api/replay.h"
#include "engine/eval/trace.h"

namespace fovea::eval {

// ErrorKind::invalid names the setting.
Result<std::unique_ptr<PassSource>> make_synthetic(const SyntheticRouting& settings);

}  // namespace fovea::eval
