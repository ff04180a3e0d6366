// A warp's products of small matrices (mma.sync), from the PTX ISA's description of what each lane holds.
#pragma once

#include <cstdint>
#include <source_location>

namespace fovea::kernels::cuda::emulation {

// mma.sync.aligned.….row.col: m16n8k16 of f16 or bf16 with f32 sums, m16n8k32 and m16n8k16 of s8 with s32
// sums.
enum class Product : std::uint8_t { halves, bfloat16, bytes, short_bytes };
enum class Operand : std::uint8_t { a, b, c };

// Elements of an operand that one lane holds, and where lane's element i stands: the ISA's "Matrix fragments
// for mma.m16n8k16 with floating point type", "… for mma.m16n8k16 with integer type", "… for mma.m16n8k32".
int elements_of_lane(Product, Operand);
struct MatrixPlace {
  int row;
  int column;
  bool operator==(const MatrixPlace&) const = default;
};
MatrixPlace place_of_element(Product, Operand, int lane, int i);

// What all lanes of the warp do together, each with its share; c is float[4] or int[4].
void multiply_together(Product, void* c, const std::uint32_t* a, const std::uint32_t* b, const char* what,
                       std::source_location location);

}  // namespace fovea::kernels::cuda::emulation
