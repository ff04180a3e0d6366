// What is said of a forward pass's memory.
#pragma once

#include "engine/core/errors.h"

namespace fovea::phrases {

FOVEA_PHRASE(forward_pass_place, "forward pass");

}  // namespace fovea::phrases

namespace fovea::errors {

// forward.cpp
FOVEA_ERROR(memory, no_memory_for_activations, "the activations need {mebibytes} MiB, more than there is",
            "Choose a smaller prefill chunk");

// host_experts.cpp
FOVEA_ERROR(memory, no_memory_for_host_experts,
            "what is transferred to the processor's experts needs {size:exact} bytes of pinned memory, more "
            "than there is",
            "Choose a smaller prefill chunk");

// streamed_experts.cpp
FOVEA_ERROR(memory, no_memory_for_streaming,
            "what brings experts from main memory to the device {device} needs {size:exact} bytes there and "
            "{pinned:exact} bytes of pinned memory, more than there is",
            "Leave prompts' experts to the processor (--stream-experts off)");

// host_experts.cpp, why experts are left to the processor
FOVEA_ERROR(unsupported, streaming_does_not_pay,
            "bringing them to the card would pay from {from} tokens of a pass on, which has {most}",
            "Choose a larger prefill chunk");

// device_staging.cpp
FOVEA_ERROR(memory, no_memory_for_staging,
            "what is transferred to the device {device} needs {size:exact} bytes there and {pinned:exact} "
            "bytes of pinned memory, more than there is",
            "Choose a shorter context or a smaller prefill chunk");

}  // namespace fovea::errors
