// Words for what is wrong with a device (kernels/api/failure.h).
#pragma once

#include "engine/api/error.h"
#include "kernels/api/device.h"

namespace fovea {

// Empty where nothing is wrong.
Phrase phrase_of(const kernels::Failure& failure);
Phrase phrase_of(const kernels::Obstacle& obstacle);
// What multiplies, and why it is not a library; empty: the device has no such choice.
Phrase phrase_of(const kernels::Bf16Products& products);

// ErrorKind::device, at the device of this name.
std::unexpected<Error> device_failed(const std::string& name, const kernels::Failure& failure);

}  // namespace fovea
