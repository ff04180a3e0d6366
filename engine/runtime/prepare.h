// fovea::prepare() for a device at hand.
#pragma once

#include <stop_token>

#include "engine/api/prepare.h"
#include "kernels/api/device.h"

namespace fovea::runtime {

// The device takes the place of the one that the request names.
Result<PrepareReport> prepare(const PrepareRequest& request, const kernels::Device& device,
                              const ProgressSink& progress = {}, std::stop_token stop = {});

}  // namespace fovea::runtime
