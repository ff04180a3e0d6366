// How long a test waits for what must come.
#pragma once

namespace fovea::tests {

// Milliseconds. Nothing here measures time: a busy machine's disk may keep one flush for seconds.
inline constexpr int kLong = 240'000;

}  // namespace fovea::tests
