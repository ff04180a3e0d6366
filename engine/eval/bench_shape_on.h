// bench_shape() on a device that the caller brings.
#pragma once

#include "engine/api/bench_shape.h"
#include "kernels/api/device.h"

namespace fovea::eval {

// The settings' device is not looked at.
Result<ShapeBenchResult> bench_shape_on(const kernels::Device& device, const ShapeBenchSettings& settings,
                                        const ProgressSink& progress = {}, std::stop_token stop = {});

}  // namespace fovea::eval
