// The largest values that LoadOptions accepts.
#pragma once

#include <cstdint>

namespace fovea {

constexpr std::int64_t max_context = std::int64_t{1} << 24;  // tokens
constexpr std::int64_t max_chunk = 8192;                     // tokens
constexpr std::int64_t max_sequences = 8;

}  // namespace fovea
