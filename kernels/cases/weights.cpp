#include "kernels/cases/weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/formats/formats.h"

namespace fovea::kernels::cases {

namespace {

// Offsets of a block's f16 scales; the size of random codes relative to the scale, to give weights of
// about 1.
struct Scales {
  int offsets[2];  // −1: none
  double spread;
};

Scales scales_of(Type type) {
  switch (type) {
    case Type::q4_0:
      return {{0, -1}, 4.6};
    case Type::q4_1:
      return {{0, 2}, 8.7};
    case Type::q5_0:
      return {{0, -1}, 9.2};
    case Type::q5_1:
      return {{0, 2}, 17.9};
    case Type::q8_0:
      return {{0, -1}, 74};
    case Type::q2_k:
      return {{80, 82}, 14};
    case Type::q3_k:
      return {{108, -1}, 42};
    case Type::q4_k:
      return {{0, 2}, 310};
    case Type::q5_k:
      return {{0, 2}, 640};
    case Type::q6_k:
      return {{208, -1}, 1370};
    case Type::iq4_nl:
      return {{0, -1}, 68};
    case Type::iq4_xs:
      return {{0, -1}, 1250};
    default:
      return {{-1, -1}, 1};
  }
}

void set_half(std::byte* block, int offset, double value) {
  if (offset < 0) return;
  const std::uint16_t bits = formats::f32_to_f16(static_cast<float>(value));
  std::memcpy(block + offset, &bits, 2);
}

// Sets the scales of a block whose codes are there, so that its weights are of size `size`.
void set_scales(Type type, std::byte* block, double size) {
  const Scales scales = scales_of(type);
  set_half(block, scales.offsets[0], size / scales.spread);
  // Minima: added in q4_1 and q5_1, subtracted with scales of 4 or 6 bits in the others.
  const bool added = type == Type::q4_1 || type == Type::q5_1;
  set_half(block, scales.offsets[1], added ? -size * 0.8 : size / (type == Type::q2_k ? 9 : 37));
  if (type == Type::mxfp4) *block = static_cast<std::byte>(128 + std::lround(std::log2(size / 5)));
  // About eight steps for each factor of two; 200 is 1.
  const double spread = type == Type::q4_e ? 18 : 11;
  if (is_trellis(type)) *block = static_cast<std::byte>(200 + std::lround(8 * std::log2(size / spread)));
}

void expand(HostWeight& weight) {
  const std::int64_t count = weight.rows * weight.columns;
  weight.values.resize(static_cast<std::size_t>(count));
  formats::dequantize(weight.type, weight.bytes.data(), count, weight.values.data());
}

HostWeight empty_weight(Type type, std::int64_t rows, std::int64_t columns) {
  HostWeight weight{type, rows, columns, {}, {}};
  weight.bytes.resize(static_cast<std::size_t>(rows * row_bytes(type, columns)));
  return weight;
}

bool has_minimum(Type type) {
  return type == Type::q4_1 || type == Type::q5_1 || type == Type::q2_k || type == Type::q4_k ||
         type == Type::q5_k;
}

}  // namespace

HostWeight random_weight(Random& random, Type type, std::int64_t rows, std::int64_t columns) {
  HostWeight weight = empty_weight(type, rows, columns);
  const double size = 1 / std::sqrt(static_cast<double>(columns));
  if (formats::can_quantize(type) && !is_trellis(type)) {
    const std::vector<float> values = normals(random, rows * columns, size);
    formats::quantize(type, values.data(), rows * columns, weight.bytes.data());
  } else {
    for (std::byte& byte : weight.bytes) byte = static_cast<std::byte>(random() >> 13);
    const auto block_bytes = static_cast<std::size_t>(block_shape(type).bytes);
    for (std::size_t at = 0; at < weight.bytes.size(); at += block_bytes) {
      const double factor = std::exp2(static_cast<double>(random() % 100) / 100.0 - 0.5);
      set_scales(type, weight.bytes.data() + at, size * factor);
    }
  }
  expand(weight);
  return weight;
}

HostWeight extreme_weight(Type type, std::int64_t rows, std::int64_t columns, bool high) {
  HostWeight weight = empty_weight(type, rows, columns);
  std::fill(weight.bytes.begin(), weight.bytes.end(), high ? std::byte{0xFF} : std::byte{0x00});
  // q8_0's all-ones code is −1: take the largest, and for the low end −128, which no packer writes.
  if (type == Type::q8_0)
    std::fill(weight.bytes.begin(), weight.bytes.end(), high ? std::byte{0x7F} : std::byte{0x80});
  const auto block_bytes = static_cast<std::size_t>(block_shape(type).bytes);
  for (std::size_t at = 0; at < weight.bytes.size(); at += block_bytes)
    set_scales(type, weight.bytes.data() + at, 0.1);
  expand(weight);
  return weight;
}

HostWeight benchmark_weight(Type type, std::int64_t rows, std::int64_t columns) {
  HostWeight weight = empty_weight(type, rows, columns);
  const double size = 1 / std::sqrt(static_cast<double>(columns));
  std::uint64_t state = 88172645463325252U;
  const auto block_bytes = static_cast<std::size_t>(block_shape(type).bytes);
  for (std::size_t at = 0; at < weight.bytes.size(); at += block_bytes) {
    for (std::size_t i = at; i < at + block_bytes; ++i) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      weight.bytes[i] = static_cast<std::byte>(state >> 24);
    }
    set_scales(type, weight.bytes.data() + at, size);
    // Plain floats: the random bits are the mantissa's, the exponent is that of `size`.
    const auto value = static_cast<float>(size * (0.5 + static_cast<double>(state >> 40) * 0x1p-24));
    if (block_bytes <= 4) formats::quantize(type, &value, 1, weight.bytes.data() + at);
  }
  return weight;
}

HostWeight with_zero_rows(HostWeight weight, std::span<const std::int64_t> rows) {
  const std::int64_t bytes = row_bytes(weight.type, weight.columns);
  const std::int64_t block_bytes = block_shape(weight.type).bytes;
  const Scales scales = scales_of(weight.type);
  for (const std::int64_t row : rows) {
    std::byte* start = weight.bytes.data() + row * bytes;
    const bool plain = block_shape(weight.type).elements == 1;
    if (plain) std::memset(start, 0, static_cast<std::size_t>(bytes));
    for (std::int64_t at = 0; !plain && at < bytes; at += block_bytes) {
      set_half(start + at, scales.offsets[0], 0);
      set_half(start + at, scales.offsets[1], 0);
      if (weight.type == Type::mxfp4) std::memset(start + at + 1, 0, 16);
      if (is_trellis(weight.type)) start[at] = std::byte{0};
    }
  }
  expand(weight);
  return weight;
}

std::vector<double> input_sigma(Type type, std::span<const double> x) {
  std::vector<double> sigma(x.size(), 0.0);
  if (type == Type::f32 || type == Type::f16) return sigma;
  for (std::size_t begin = 0; begin < x.size(); begin += 256) {
    const std::size_t end = std::min(begin + 256, x.size());
    double largest = 0;
    for (std::size_t i = begin; i < end; ++i) largest = std::max(largest, std::fabs(x[i]));
    for (std::size_t i = begin; i < end; ++i) {
      const double ulp = x[i] == 0 ? 0 : std::exp2(std::ilogb(x[i]) - 7);
      const double step = type == Type::bf16 ? ulp : largest / 127;
      sigma[i] = step / std::sqrt(12.0);
    }
  }
  return sigma;
}

std::vector<double> output_sigma(const HostWeight& weight, std::span<const double> x,
                                 std::span<const double> sigma) {
  const auto columns = static_cast<std::size_t>(weight.columns);
  std::vector<double> result;
  for (std::size_t row = 0; row < static_cast<std::size_t>(weight.rows); ++row) {
    double from_input = 0;
    double squares = 0;
    double sum = 0;
    for (std::size_t i = 0; i < columns; ++i) {
      const double w = weight.values[row * columns + i];
      from_input += w * w * sigma[i] * sigma[i];
      squares += w * x[i] * w * x[i];
      sum += std::fabs(w * x[i]);
    }
    const double summing = 0x1p-24 * (std::sqrt(static_cast<double>(columns) * squares) + sum);
    result.push_back((has_minimum(weight.type) ? 2 : 1) * (std::sqrt(from_input) + summing));
  }
  return result;
}

std::vector<double> multiply(const HostWeight& weight, std::span<const double> x) {
  const auto columns = static_cast<std::size_t>(weight.columns);
  std::vector<double> result(static_cast<std::size_t>(weight.rows), 0.0);
  for (std::size_t row = 0; row < result.size(); ++row) {
    for (std::size_t i = 0; i < columns; ++i)
      result[row] += static_cast<double>(weight.values[row * columns + i]) * x[i];
  }
  return result;
}

}  // namespace fovea::kernels::cases
