#include "tests/kernels/cuda/emulation/matrices.h"

#include "kernels/formats/half.h"
#include "tests/kernels/cuda/emulation/block.h"

namespace fovea::kernels::cuda::emulation {
namespace {

constexpr int rows = 16;
constexpr int columns = 8;
constexpr int lanes = 32;

bool of_bytes(Product product) {
  return product == Product::bytes || product == Product::short_bytes;
}

int depth_of(Product product) {
  return product == Product::bytes ? 32 : 16;
}

// The ISA's groupID and threadID_in_group.
struct Group {
  int id;
  int thread;
};
Group group_of(int lane) {
  return {lane >> 2, lane % 4};
}

MatrixPlace place_of_halves(Operand operand, const Group& group, int i) {
  if (operand == Operand::a) {
    const bool upper = (0 <= i && i < 2) || (4 <= i && i < 6);
    return {upper ? group.id : group.id + 8, group.thread * 2 + (i & 1) + (i < 4 ? 0 : 8)};
  }
  return {group.thread * 2 + (i & 1) + (i < 2 ? 0 : 8), group.id};
}

MatrixPlace place_of_bytes(Operand operand, const Group& group, int i) {
  if (operand == Operand::a) {
    const bool upper = (0 <= i && i < 4) || (8 <= i && i < 12);
    return {upper ? group.id : group.id + 8, group.thread * 4 + (i & 3) + (i < 8 ? 0 : 16)};
  }
  return {group.thread * 4 + (i & 3) + (i < 4 ? 0 : 16), group.id};
}

struct Share {
  Product product;
  void* c;
  const std::uint32_t* a;
  const std::uint32_t* b;
};

// Element i of a lane's packed registers: the first in the lowest bits.
double element(Product product, const std::uint32_t* registers, int i) {
  if (of_bytes(product)) return static_cast<std::int8_t>(registers[i / 4] >> (8 * (i % 4)));
  const auto bits = static_cast<std::uint16_t>(registers[i / 2] >> (16 * (i % 2)));
  return product == Product::halves ? formats::half_to_float(bits) : formats::bfloat16_to_float(bits);
}

void multiply(void* const* brought) {
  const Product product = static_cast<const Share*>(brought[0])->product;
  double a[rows][32];
  double b[32][columns];
  for (int lane = 0; lane < lanes; ++lane) {
    const auto& share = *static_cast<const Share*>(brought[lane]);
    for (int i = 0; i < elements_of_lane(product, Operand::a); ++i) {
      const MatrixPlace at = place_of_element(product, Operand::a, lane, i);
      a[at.row][at.column] = element(product, share.a, i);
    }
    for (int i = 0; i < elements_of_lane(product, Operand::b); ++i) {
      const MatrixPlace at = place_of_element(product, Operand::b, lane, i);
      b[at.row][at.column] = element(product, share.b, i);
    }
  }
  for (int lane = 0; lane < lanes; ++lane) {
    const auto& share = *static_cast<const Share*>(brought[lane]);
    for (int i = 0; i < elements_of_lane(product, Operand::c); ++i) {
      const MatrixPlace at = place_of_element(product, Operand::c, lane, i);
      // Exact for bytes. How a device rounds the sum of the others is not told: once, here.
      double sum = 0;
      for (int k = 0; k < depth_of(product); ++k) sum += a[at.row][k] * b[k][at.column];
      if (of_bytes(product)) {
        static_cast<int*>(share.c)[i] += static_cast<int>(sum);
      } else {
        static_cast<float*>(share.c)[i] = static_cast<float>(static_cast<float*>(share.c)[i] + sum);
      }
    }
  }
}

}  // namespace

int elements_of_lane(Product product, Operand operand) {
  const int all = operand == Operand::a   ? rows * depth_of(product)
                  : operand == Operand::b ? depth_of(product) * columns
                                          : rows * columns;
  return all / lanes;
}

MatrixPlace place_of_element(Product product, Operand operand, int lane, int i) {
  const Group group = group_of(lane);
  if (operand == Operand::c) return {i < 2 ? group.id : group.id + 8, group.thread * 2 + (i & 1)};
  if (!of_bytes(product)) return place_of_halves(operand, group, i);
  return place_of_bytes(operand, group, i);
}

void multiply_together(Product product, void* c, const std::uint32_t* a, const std::uint32_t* b,
                       const char* what, std::source_location location) {
  Share mine{product, c, a, b};
  Block::current()->act_together(0xFFFFFFFFU, &mine, multiply, what, location);
}

}  // namespace fovea::kernels::cuda::emulation
