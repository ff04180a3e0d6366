#include <cassert>
#include <cstring>

#include "kernels/formats/blocks.h"
#include "kernels/formats/formats.h"
#include "kernels/formats/half.h"
#include "kernels/formats/trellis.h"

namespace fovea::kernels::formats {
namespace {

void expand(const BlockQ4_0& block, float* out) {
  const float d = half_to_float(block.d);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>((block.qs[i] & 15) - 8);
    out[i + 16] = d * static_cast<float>((block.qs[i] >> 4) - 8);
  }
}

void expand(const BlockQ4_1& block, float* out) {
  const float d = half_to_float(block.d);
  const float m = half_to_float(block.m);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(block.qs[i] & 15) + m;
    out[i + 16] = d * static_cast<float>(block.qs[i] >> 4) + m;
  }
}

int fifth_bit(const std::uint8_t* qh, int element) {
  return (qh[element / 8] >> element % 8 & 1) << 4;
}

void expand(const BlockQ5_0& block, float* out) {
  const float d = half_to_float(block.d);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(((block.qs[i] & 15) | fifth_bit(block.qh, i)) - 16);
    out[i + 16] = d * static_cast<float>(((block.qs[i] >> 4) | fifth_bit(block.qh, i + 16)) - 16);
  }
}

void expand(const BlockQ5_1& block, float* out) {
  const float d = half_to_float(block.d);
  const float m = half_to_float(block.m);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>((block.qs[i] & 15) | fifth_bit(block.qh, i)) + m;
    out[i + 16] = d * static_cast<float>((block.qs[i] >> 4) | fifth_bit(block.qh, i + 16)) + m;
  }
}

void expand(const BlockQ8_0& block, float* out) {
  const float d = half_to_float(block.d);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(block.qs[i]);
}

// Two bits of element `i` of 256, as Q2_K and Q3_K store them.
int two_bits(const std::uint8_t* qs, int i) {
  const int half = i / 128;
  const int within = i % 128;
  return qs[32 * half + within % 32] >> (2 * (within / 32)) & 3;
}

void expand(const BlockQ2_K& block, float* out) {
  const float d = half_to_float(block.d);
  const float dmin = half_to_float(block.dmin);
  for (int i = 0; i < 256; ++i) {
    const int group = block.scales[i / 16];
    const float scale = d * static_cast<float>(group & 15);
    const float min = dmin * static_cast<float>(group >> 4);
    out[i] = scale * static_cast<float>(two_bits(block.qs, i)) - min;
  }
}

// Scale `group` of 16: the low four bits lie in the nibbles of bytes 0 … 7, the high two in bytes 8 … 11.
int q3_scale(const std::uint8_t* scales, int group) {
  const int low = group < 8 ? scales[group] & 15 : scales[group - 8] >> 4;
  const int high = scales[8 + group % 4] >> (2 * (group / 4)) & 3;
  return (low | high << 4) - 32;
}

void expand(const BlockQ3_K& block, float* out) {
  const float d = half_to_float(block.d);
  for (int i = 0; i < 256; ++i) {
    const float scale = d * static_cast<float>(q3_scale(block.scales, i / 16));
    const int high = block.hmask[i % 32] >> (i / 32) & 1;
    out[i] = scale * static_cast<float>(two_bits(block.qs, i) + 4 * high - 4);
  }
}

struct ScaleMin {
  int scale;
  int min;
};

// Scale and minimum of `group` of 8 in Q4_K and Q5_K: 6 bits each. Bytes 0 … 3 and 4 … 7 hold those of groups
// 0 … 3 in six bits; their upper two bits complete the nibbles of bytes 8 … 11 to those of groups 4 … 7.
ScaleMin scale_min(const std::uint8_t* scales, int group) {
  if (group < 4) return {scales[group] & 63, scales[group + 4] & 63};
  const int nibbles = scales[group + 4];
  return {(nibbles & 15) | (scales[group - 4] >> 6) << 4, (nibbles >> 4) | (scales[group] >> 6) << 4};
}

int q4_code(const std::uint8_t* qs, int i) {
  const int byte = qs[i / 64 * 32 + i % 32];
  return i % 64 < 32 ? byte & 15 : byte >> 4;
}

void expand(const BlockQ4_K& block, float* out) {
  const float d = half_to_float(block.d);
  const float dmin = half_to_float(block.dmin);
  for (int i = 0; i < 256; ++i) {
    const ScaleMin group = scale_min(block.scales, i / 32);
    out[i] = d * static_cast<float>(group.scale) * static_cast<float>(q4_code(block.qs, i)) -
             dmin * static_cast<float>(group.min);
  }
}

void expand(const BlockQ5_K& block, float* out) {
  const float d = half_to_float(block.d);
  const float dmin = half_to_float(block.dmin);
  for (int i = 0; i < 256; ++i) {
    const ScaleMin group = scale_min(block.scales, i / 32);
    const int code = q4_code(block.qs, i) | (block.qh[i % 32] >> (i / 32) & 1) << 4;
    out[i] =
        d * static_cast<float>(group.scale) * static_cast<float>(code) - dmin * static_cast<float>(group.min);
  }
}

void expand(const BlockQ6_K& block, float* out) {
  const float d = half_to_float(block.d);
  for (int i = 0; i < 256; ++i) {
    const int half = i / 128;
    const int within = i % 128;
    const int byte = block.ql[64 * half + within % 64];
    const int low = within < 64 ? byte & 15 : byte >> 4;
    const int high = block.qh[32 * half + within % 32] >> (2 * (within / 32)) & 3;
    out[i] = d * static_cast<float>(block.scales[i / 16]) * static_cast<float>((low | high << 4) - 32);
  }
}

void expand(const BlockIq4_Nl& block, float* out) {
  const float d = half_to_float(block.d);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(iq4_values[block.qs[i] & 15]);
    out[i + 16] = d * static_cast<float>(iq4_values[block.qs[i] >> 4]);
  }
}

void expand(const BlockIq4_Xs& block, float* out) {
  const float d = half_to_float(block.d);
  for (int group = 0; group < 8; ++group) {
    const int low = block.scales_l[group / 2] >> (4 * (group % 2)) & 15;
    const int high = block.scales_h >> (2 * group) & 3;
    const float scale = d * static_cast<float>((low | high << 4) - 32);
    for (int i = 0; i < 16; ++i) {
      const int byte = block.qs[16 * group + i];
      out[32 * group + i] = scale * static_cast<float>(iq4_values[byte & 15]);
      out[32 * group + i + 16] = scale * static_cast<float>(iq4_values[byte >> 4]);
    }
  }
}

void expand(const BlockMxfp4& block, float* out) {
  // 2^(e − 128); the two smallest are subnormal.
  const float d = block.e < 2 ? float_from_bits(0x00200000U << block.e)
                              : float_from_bits(static_cast<std::uint32_t>(block.e - 1) << 23);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(mxfp4_values[block.qs[i] & 15]);
    out[i + 16] = d * static_cast<float>(mxfp4_values[block.qs[i] >> 4]);
  }
}

// Columns in the order of the ring.
int ring_column(int position) {
  return 4 * (position % 8) + position / 8 % 4;
}

// The two bits that Q3_F and Q2_F keep of a ring position.
int ring_pair(const std::uint8_t* qs, int position) {
  const int g = position % 8;
  return qs[4 * (g / 4) + position / 8 % 4] >> (2 * (g % 4)) & 3;
}

float trellis_weight(float scale, const TrellisTables& tables, int first, int second) {
  return scale * static_cast<float>(tables.first[first] + tables.second[second] - trellis_zero);
}

float trellis_scale(std::uint8_t e) {
  return float_from_bits(static_cast<std::uint32_t>(e) << 20) * trellis_scale_unit;
}

void expand(const BlockQ4_F& block, const TrellisTables& tables, float* out) {
  const float scale = trellis_scale(block.e);
  const auto nibble = [&block](int position) {
    const int g = position % 8;
    return block.qs[4 * (g % 4) + position / 8 % 4] >> (4 * (g / 4)) & 15;
  };
  for (int p = 0; p < 32; ++p) out[ring_column(p)] = trellis_weight(scale, tables, nibble(p), nibble(p + 1));
}

void expand(const BlockQ4_F& block, float* out) {
  expand(block, q4_f_tables, out);
}

void expand(const BlockQ4_E& block, float* out) {
  expand(block, q4_e_tables, out);
}

void expand(const BlockQ3_F& block, float* out) {
  const float scale = trellis_scale(block.e);
  const auto high = [&block](int position) { return block.qh[position / 8 % 4] >> position % 8 & 1; };
  for (int p = 0; p < 32; ++p) {
    const int first = ring_pair(block.qs, p) | ring_pair(block.qs, p + 1) << 2;
    const int second = high(p) | high(p + 1) << 1 | high(p + 2) << 2 | high(p + 3) << 3;
    out[ring_column(p)] = trellis_weight(scale, q3_f_tables, first, second);
  }
}

void expand(const BlockQ2_F& block, float* out) {
  const float scale = trellis_scale(block.e);
  for (int p = 0; p < 32; ++p) {
    const int first = ring_pair(block.qs, p) | ring_pair(block.qs, p + 1) << 2;
    const int second = ring_pair(block.qs, p + 2) | ring_pair(block.qs, p + 3) << 2;
    out[ring_column(p)] = trellis_weight(scale, q2_f_tables, first, second);
  }
}

// Blocks are copied out, since a file need not align them.
template <typename Block>
void expand_all(const std::byte* source, std::int64_t blocks, std::int64_t elements, float* out) {
  for (std::int64_t i = 0; i < blocks; ++i) {
    Block block;
    std::memcpy(&block, source + i * static_cast<std::int64_t>(sizeof(Block)), sizeof(Block));
    expand(block, out + i * elements);
  }
}

template <float (*convert)(std::uint16_t)>
void convert_all(const std::byte* source, std::int64_t count, float* out) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint16_t bits;
    std::memcpy(&bits, source + 2 * i, 2);
    out[i] = convert(bits);
  }
}

}  // namespace

float f16_to_f32(std::uint16_t half) {
  return half_to_float(half);
}
float bf16_to_f32(std::uint16_t bits) {
  return bfloat16_to_float(bits);
}

void dequantize(Type type, const std::byte* source, std::int64_t count, float* out) {
  const std::int64_t elements = block_shape(type).elements;
  assert(elements > 0 && count % elements == 0);
  const std::int64_t blocks = count / elements;
  switch (type) {
    case Type::f32:
      std::memcpy(out, source, static_cast<std::size_t>(count) * sizeof(float));
      return;
    case Type::f16:
      return convert_all<half_to_float>(source, count, out);
    case Type::bf16:
      return convert_all<bfloat16_to_float>(source, count, out);
    case Type::q4_0:
      return expand_all<BlockQ4_0>(source, blocks, elements, out);
    case Type::q4_1:
      return expand_all<BlockQ4_1>(source, blocks, elements, out);
    case Type::q5_0:
      return expand_all<BlockQ5_0>(source, blocks, elements, out);
    case Type::q5_1:
      return expand_all<BlockQ5_1>(source, blocks, elements, out);
    case Type::q8_0:
      return expand_all<BlockQ8_0>(source, blocks, elements, out);
    case Type::q2_k:
      return expand_all<BlockQ2_K>(source, blocks, elements, out);
    case Type::q3_k:
      return expand_all<BlockQ3_K>(source, blocks, elements, out);
    case Type::q4_k:
      return expand_all<BlockQ4_K>(source, blocks, elements, out);
    case Type::q5_k:
      return expand_all<BlockQ5_K>(source, blocks, elements, out);
    case Type::q6_k:
      return expand_all<BlockQ6_K>(source, blocks, elements, out);
    case Type::iq4_nl:
      return expand_all<BlockIq4_Nl>(source, blocks, elements, out);
    case Type::iq4_xs:
      return expand_all<BlockIq4_Xs>(source, blocks, elements, out);
    case Type::mxfp4:
      return expand_all<BlockMxfp4>(source, blocks, elements, out);
    case Type::q4_f:
      return expand_all<BlockQ4_F>(source, blocks, elements, out);
    case Type::q4_e:
      return expand_all<BlockQ4_E>(source, blocks, elements, out);
    case Type::q3_f:
      return expand_all<BlockQ3_F>(source, blocks, elements, out);
    case Type::q2_f:
      return expand_all<BlockQ2_F>(source, blocks, elements, out);
  }
}

}  // namespace fovea::kernels::formats
