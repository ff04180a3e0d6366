#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>

#include "kernels/formats/blocks.h"
#include "kernels/formats/formats.h"
#include "kernels/formats/half.h"
#include "kernels/formats/trellis_encoder.h"

namespace fovea::kernels::formats {
namespace {

// 1 / scale, or 0 where the scale is so small that f16 holds none of the block.
float inverse(float scale) {
  const float result = scale == 0 ? 0 : 1 / scale;
  return std::isfinite(result) ? result : 0;
}

// The code of x: x rounded down after `offset` (which holds the rounding half) is added, within [0, top].
int code(float x, float scale, float offset, int top) {
  const float value = x * scale + offset;
  if (!(value > 0)) return 0;
  return value >= static_cast<float>(top) ? top : static_cast<int>(value);
}

// The element of largest magnitude, with its sign.
float extreme(const float* x) {
  float result = x[0];
  for (int i = 1; i < 32; ++i) {
    if (std::fabs(x[i]) > std::fabs(result)) result = x[i];
  }
  return result;
}

struct Range {
  float min;
  float max;
};

Range range(const float* x) {
  Range result{x[0], x[0]};
  for (int i = 1; i < 32; ++i) {
    result.min = x[i] < result.min ? x[i] : result.min;
    result.max = x[i] > result.max ? x[i] : result.max;
  }
  return result;
}

void store_fifth_bits(const int (&codes)[32], std::uint8_t* qh) {
  for (int i = 0; i < 4; ++i) qh[i] = 0;
  for (int i = 0; i < 32; ++i) qh[i / 8] = static_cast<std::uint8_t>(qh[i / 8] | (codes[i] >> 4) << i % 8);
}

void store_nibbles(const int (&codes)[32], std::uint8_t* qs) {
  for (int i = 0; i < 16; ++i) qs[i] = static_cast<std::uint8_t>((codes[i] & 15) | (codes[i + 16] & 15) << 4);
}

// The extreme element gets the code 0, which is one step further out than the largest.
void pack(const float* x, BlockQ4_0& block) {
  const float d = extreme(x) / -8;
  int codes[32];
  for (int i = 0; i < 32; ++i) codes[i] = code(x[i], inverse(d), 8.5F, 15);
  block.d = float_to_half(d);
  store_nibbles(codes, block.qs);
}

void pack(const float* x, BlockQ5_0& block) {
  const float d = extreme(x) / -16;
  int codes[32];
  for (int i = 0; i < 32; ++i) codes[i] = code(x[i], inverse(d), 16.5F, 31);
  block.d = float_to_half(d);
  store_fifth_bits(codes, block.qh);
  store_nibbles(codes, block.qs);
}

void pack(const float* x, BlockQ4_1& block) {
  const Range r = range(x);
  const float d = (r.max - r.min) / 15;
  int codes[32];
  for (int i = 0; i < 32; ++i) codes[i] = code(x[i] - r.min, inverse(d), 0.5F, 15);
  block.d = float_to_half(d);
  block.m = float_to_half(r.min);
  store_nibbles(codes, block.qs);
}

void pack(const float* x, BlockQ5_1& block) {
  const Range r = range(x);
  const float d = (r.max - r.min) / 31;
  int codes[32];
  for (int i = 0; i < 32; ++i) codes[i] = code(x[i] - r.min, inverse(d), 0.5F, 31);
  block.d = float_to_half(d);
  block.m = float_to_half(r.min);
  store_fifth_bits(codes, block.qh);
  store_nibbles(codes, block.qs);
}

void pack(const float* x, BlockQ8_0& block) {
  const float d = std::fabs(extreme(x)) / 127;
  for (int i = 0; i < 32; ++i) {
    const float value = x[i] * inverse(d);
    block.qs[i] = std::isfinite(value) ? static_cast<std::int8_t>(std::round(value)) : std::int8_t{0};
  }
  block.d = float_to_half(d);
}

template <typename Block>
void pack_all(const float* source, std::int64_t blocks, std::byte* out) {
  for (std::int64_t i = 0; i < blocks; ++i) {
    Block block;
    pack(source + 32 * i, block);
    std::memcpy(out + i * static_cast<std::int64_t>(sizeof(Block)), &block, sizeof(Block));
  }
}

bool all_finite(const float* values, std::int64_t count) {
  // A sum of zeros: any infinity or NaN makes it one.
  float sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += values[i] * 0;
  return sum == 0;
}

// `count` blocks of one row, in groups.
void encode_row(Type type, const float* x, const float* importance, std::int64_t count, std::byte* out) {
  const TrellisEncoder& encoder = trellis_encoders().back();
  const std::int64_t bytes = block_shape(type).bytes;
  TrellisBlock blocks[max_group];
  for (std::int64_t first = 0; first < count; first += encoder.group) {
    const int together = static_cast<int>(std::min<std::int64_t>(encoder.group, count - first));
    for (int i = 0; i < together; ++i) {
      const std::int64_t at = first + i;
      blocks[i] = {x + 32 * at, importance ? importance + 32 * at : nullptr, out + at * bytes};
    }
    encoder.encode(type, blocks, together);
  }
}

// The blocks of a row, those that are not finite as zeros.
void encode_finite(Type type, const float* x, std::int64_t count, std::byte* out) {
  const std::int64_t bytes = block_shape(type).bytes;
  std::int64_t begin = 0;
  for (std::int64_t i = 0; i <= count; ++i) {
    if (i < count && all_finite(x + 32 * i, 32)) continue;
    encode_row(type, x + 32 * begin, nullptr, i - begin, out + begin * bytes);
    if (i < count) std::memset(out + i * bytes, 0, static_cast<std::size_t>(bytes));
    begin = i + 1;
  }
}

template <std::uint16_t (*convert)(float)>
void convert_all(const float* source, std::int64_t count, std::byte* out) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint16_t bits = convert(source[i]);
    std::memcpy(out + 2 * i, &bits, 2);
  }
}

}  // namespace

std::uint16_t f32_to_f16(float value) {
  return float_to_half(value);
}
std::uint16_t f32_to_bf16(float value) {
  return float_to_bfloat16(value);
}

bool can_quantize(Type type) {
  switch (type) {
    case Type::f32:
    case Type::f16:
    case Type::bf16:
    case Type::q4_0:
    case Type::q4_1:
    case Type::q5_0:
    case Type::q5_1:
    case Type::q8_0:
    case Type::q4_f:
    case Type::q4_e:
    case Type::q3_f:
    case Type::q2_f:
      return true;
    default:
      return false;
  }
}

void quantize(Type type, const float* source, std::int64_t count, std::byte* out) {
  const std::int64_t elements = block_shape(type).elements;
  assert(can_quantize(type) && count % elements == 0);
  const std::int64_t blocks = count / elements;
  switch (type) {
    case Type::f32:
      std::memcpy(out, source, static_cast<std::size_t>(count) * sizeof(float));
      return;
    case Type::f16:
      return convert_all<float_to_half>(source, count, out);
    case Type::bf16:
      return convert_all<float_to_bfloat16>(source, count, out);
    case Type::q4_0:
      return pack_all<BlockQ4_0>(source, blocks, out);
    case Type::q4_1:
      return pack_all<BlockQ4_1>(source, blocks, out);
    case Type::q5_0:
      return pack_all<BlockQ5_0>(source, blocks, out);
    case Type::q5_1:
      return pack_all<BlockQ5_1>(source, blocks, out);
    case Type::q8_0:
      return pack_all<BlockQ8_0>(source, blocks, out);
    case Type::q4_f:
    case Type::q4_e:
    case Type::q3_f:
    case Type::q2_f:
      return encode_finite(type, source, blocks, out);
    default:
      return;
  }
}

bool quantize_rows(Type type, const float* weights, std::int64_t rows, std::int64_t columns,
                   const float* importance, std::byte* out) {
  assert(can_quantize(type) && columns % block_shape(type).elements == 0);
  if (!all_finite(weights, rows * columns)) return false;
  for (std::int64_t i = 0; importance && i < columns; ++i) {
    if (!std::isfinite(importance[i]) || importance[i] < 0) return false;
  }
  if (!is_trellis(type)) {
    quantize(type, weights, rows * columns, out);
    return true;
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    encode_row(type, weights + row * columns, importance, columns / 32, out + row * row_bytes(type, columns));
  }
  return true;
}

}  // namespace fovea::kernels::formats
