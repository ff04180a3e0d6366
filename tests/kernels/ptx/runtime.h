// NVIDIA's runtime library over machine.h: the module's own host code finds a device of one architecture that
// executes the PTX that nvcc put into its objects. Its memory has addresses that are none of the host's. What
// is given to a stream is done at once or later, as the seed draws; not before somebody asks whether it is
// done where the stream captures, or what is before it waits for the host.
#pragma once

#include <cstdint>
#include <string>

namespace fovea::tests::ptx {

// From now on: the order in which threads get on, and when streams do.
void use_seed(std::uint64_t seed);
// From now on: whether races are looked for, which takes about as long again as executing.
void watch(bool races);
// What the first kernel that failed did wrong, since it was last asked.
std::string fault();
std::int64_t kernels_run();
// Of those that were watched: they waited for earlier kernels, and their launch did not let them overlap.
std::int64_t waited_unasked();
std::int64_t instructions_run();  // by all threads

}  // namespace fovea::tests::ptx
