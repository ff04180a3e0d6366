#include "lanes.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string_view>

#include "kernels/formats/half.h"

#include "thread.h"

namespace fovea::tests::ptx {
namespace {

using kernels::formats::bfloat16_to_float;
using kernels::formats::half_to_float;

using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using S32 = std::int32_t;

// c[16, 8] = a[16, k] · b[k, 8] + c. Of each register the elements lie side by side; the registers of a and b
// are cut into halves of k.
template <typename Element, typename Sum, auto value>
void multiply_matrices(Thread* const* lanes, U32, const Instruction& i) {
  constexpr U32 in_register = 4 / sizeof(Element);
  const U32 halves = i.from.size() == 10 ? 2 : 1;  // 4 + 2 + 4 registers, or 2 + 1 + 4
  const U32 half = 4 * in_register, k_count = halves * half;
  Sum a[16][32], b[32][8];
  for (U32 lane = 0; lane < 32; ++lane) {
    const Thread& t = *lanes[lane];
    const U32 group = lane / 4, in_group = lane % 4;
    const auto element = [&](std::size_t operand, U32 e) {
      return value(static_cast<Element>(t.get<U32>(i.from[operand]) >> 8 * sizeof(Element) * e));
    };
    for (U32 r = 0; r < 2 * halves; ++r) {  // rows g and g + 8, then the next half of k
      for (U32 e = 0; e < in_register; ++e)
        a[group + r % 2 * 8][r / 2 * half + in_group * in_register + e] = element(r, e);
    }
    for (U32 r = 0; r < halves; ++r) {
      for (U32 e = 0; e < in_register; ++e)
        b[r * half + in_group * in_register + e][group] = element(2 * halves + r, e);
    }
  }
  // The addends, of which c is the last, come in an order that the PTX ISA leaves open.
  const U32 addends = k_count + 1;
  U32 step = 1 + static_cast<U32>(lanes[0]->seed() % k_count);
  while (std::gcd(step, addends) != 1) ++step;
  const U32 first = static_cast<U32>(lanes[0]->seed() >> 32) % addends;
  for (U32 lane = 0; lane < 32; ++lane) {
    Thread& t = *lanes[lane];
    Sum sums[4] = {};
    for (U32 r = 0; r < 4; ++r) {
      const U32 row = lane / 4 + r / 2 * 8, column = lane % 4 * 2 + r % 2;
      for (U32 n = 0, k = first; n < addends; ++n, k = (k + step) % addends)
        sums[r] += k == k_count ? t.get<Sum>(i.from[3 * halves + r]) : a[row][k] * b[k][column];
    }
    for (U32 r = 0; r < 4; ++r) t.set(i.to[r], sums[r]);
  }
}

S32 signed_byte(U8 byte) {
  return static_cast<std::int8_t>(byte);
}

}  // namespace

void order_lanes(Thread* const* lanes, U32 mask, const Instruction&) {
  Thread::order(lanes, mask);
}

// d|p = the value of the lane whose number differs in these bits.
void exchange(Thread* const* lanes, U32 mask, const Instruction& i) {
  U32 values[32] = {};
  for (U32 lane = 0; lane < 32; ++lane)
    if (lanes[lane]) values[lane] = lanes[lane]->get<U32>(i.from[0]);
  for (U32 lane = 0; lane < 32; ++lane) {
    if (!lanes[lane]) continue;
    Thread& t = *lanes[lane];
    if (t.get<U32>(i.from[2]) != 31) throw std::runtime_error("an exchange within a part of the warp");
    const U32 other = lane ^ t.get<U32>(i.from[1]);
    if (other > 31 || (mask >> other & 1U) == 0)
      throw std::runtime_error("an exchange with a lane that is not in the mask");
    t.set(i.to[0], values[other]);
    if (i.to.size() > 1) t.set(i.to[1], U8{1});
  }
}

void largest(Thread* const* lanes, U32, const Instruction& i) {
  U32 most = 0;
  for (U32 lane = 0; lane < 32; ++lane)
    if (lanes[lane]) most = std::max(most, lanes[lane]->get<U32>(i.from[0]));
  for (U32 lane = 0; lane < 32; ++lane)
    if (lanes[lane]) lanes[lane]->set(i.to[0], most);
}

// Four matrices of 8 rows of 16 bytes, of which each lane names one row: lane 8 m + r that of matrix m. Of
// each it gets word lane % 4 of row lane / 4.
void load_matrices(Thread* const* lanes, U32, const Instruction& i) {
  U32 rows[32][4];
  for (U32 lane = 0; lane < 32; ++lane) {
    Thread& t = *lanes[lane];
    const Slot address = t.get<U32>(i.from[0]) + static_cast<Slot>(i.offset);
    std::memcpy(rows[lane], t.reach(Space::shared, address, 16, i.access), 16);
  }
  for (U32 lane = 0; lane < 32; ++lane) {
    for (U32 m = 0; m < 4; ++m) lanes[lane]->set(i.to[m], rows[8 * m + lane / 4][lane % 4]);
  }
}

Instruction::RunTogether matrices(const std::vector<std::string_view>& name) {
  constexpr std::string_view halves[] = {"f32", "f16", "f16", "f32"},
                             bfloat16[] = {"f32", "bf16", "bf16", "f32"},
                             bytes[] = {"s32", "s8", "s8", "s32"};
  const auto are = [&name](const auto& types) { return std::equal(name.end() - 4, name.end(), types); };
  if (name.size() != 10 || name[4] != "row" || name[5] != "col") unknown();
  if (name[3] == "m16n8k16" && are(halves)) return multiply_matrices<U16, float, half_to_float>;
  if (name[3] == "m16n8k16" && are(bfloat16)) return multiply_matrices<U16, float, bfloat16_to_float>;
  if ((name[3] == "m16n8k16" || name[3] == "m16n8k32") && are(bytes))
    return multiply_matrices<U8, S32, signed_byte>;
  unknown();
}

}  // namespace fovea::tests::ptx
