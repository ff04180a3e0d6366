// What this machine can do at most, measured: the yardstick of every benchmark.
#pragma once

#include <cstdint>

#include "kernels/api/operations.h"

namespace fovea::kernels::cpu {

// Bytes that all of the stream's threads read from memory in a second, streaming over a buffer that no cache
// holds, in 10^9: the median of the fastest three passes. Takes 0.3 s, and up to 2 s until they agree to 3 %.
// 0 where the memory for it is not there. The usual buffer is larger than the caches of any one processor's
// core group.
double read_bandwidth_gb_per_s(Stream&, std::int64_t buffer_bytes = std::int64_t{512} << 20);

// The fastest arithmetic of the stream's instruction set over all its threads, operands in registers: a
// multiplication and an addition count as two operations, in 10^9 per second. Takes about 0.1 s each.
double peak_byte_gop_per_s(Stream&);   // 8-bit integer dot products: what quantised matrices use
double peak_float_gop_per_s(Stream&);  // fused multiply-add of floats: what attention uses

// The faster of the two.
double peak_gop_per_s(Stream&);

}  // namespace fovea::kernels::cpu
