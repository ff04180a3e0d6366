// What to say where a device has made no stream.
#pragma once

#include "engine/core/result.h"
#include "kernels/api/device.h"

namespace fovea::models {

inline std::unexpected<Error> no_stream(const kernels::Device& device) {
  if (std::string failure = device.failure(); !failure.empty())
    return fail(ErrorKind::device, device.name(), std::move(failure),
                "Start Fovea again; fovea selftest says whether the device computes right");
  return fail(ErrorKind::memory, device.name(), "the device has no memory for a stream",
              "Close other programs that use it");
}

}  // namespace fovea::models
