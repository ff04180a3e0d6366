// What to say where a device has made no stream.
#pragma once

#include "engine/core/device_words.h"
#include "engine/core/errors.h"
#include "engine/core/result.h"

namespace fovea::models {

inline std::unexpected<Error> no_stream(const kernels::Device& device) {
  const kernels::Failure failure = device.failure();
  const Phrase where = phrases::name_place(device.name());
  if (failure.empty()) return fail(where, errors::no_memory_for_stream());
  return fail(where,
              errors::device_failed(phrase_of(failure)).advise(phrases::start_again_and_test_the_device()));
}

}  // namespace fovea::models
