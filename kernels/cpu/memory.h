// Large zeroed memory for weights and caches, in huge pages where the system gives them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fovea::kernels::cpu {

// Null when there is not enough.
std::byte* allocate_pages(std::int64_t bytes);
void release_pages(std::byte* memory, std::int64_t bytes);

}  // namespace fovea::kernels::cpu
