// Unpacking a layer's rows. Tiles of 64 rows and 32 columns: the codes lie row beside row in the file, so the
// inner loops run over rows.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "engine/checkpoint/packed_layer.h"
#include "kernels/formats/blocks.h"
#include "kernels/formats/half.h"

namespace fovea::checkpoint {
namespace {

static_assert(std::endian::native == std::endian::little);

using kernels::Type;
namespace formats = kernels::formats;

constexpr int tile_rows = 64;
constexpr int block_columns = 32;
using TileBytes = std::array<std::uint8_t, tile_rows>;
using Tile = std::array<TileBytes, block_columns>;  // [columns, rows]

// In a word of AWQ the eight outputs stand in the order 0, 2, 4, 6, 1, 3, 5, 7.
constexpr int awq_shifts[8] = {0, 16, 4, 20, 8, 24, 12, 28};

template <class Number>
Number load(const std::byte* from, std::int64_t index) {
  Number value;
  std::memcpy(&value, from + index * static_cast<std::int64_t>(sizeof value), sizeof value);
  return value;
}

// Of a stream of bits: code `index` of `bits` bits.
std::uint32_t stream_code(const std::byte* words, std::int64_t index, int bits, std::uint32_t add) {
  const std::int64_t at = index * bits;
  const int shift = static_cast<int>(at % 32);
  std::uint32_t code = (load<std::uint32_t>(words, at / 32) + add) >> shift;
  if (shift + bits > 32) code |= load<std::uint32_t>(words, at / 32 + 1) << (32 - shift);
  return code & ((1U << bits) - 1);
}

struct Group {
  std::int64_t number = -1;
  TileBytes zeros{};
  std::array<float, tile_rows> scales{};
};

class RowReader {
 public:
  RowReader(const PackedLayer& layer, std::int64_t first, int count)
      : layer_(layer), first_(first), count_(count) {}

  void read(std::byte* out) {
    const std::int64_t stride = kernels::row_bytes(layer_.type, layer_.columns);
    const std::int64_t block_bytes =
        layer_.type == Type::f16 ? 2 * block_columns : kernels::block_shape(layer_.type).bytes;
    for (std::int64_t block = 0; block * block_columns < layer_.columns; ++block) {
      const std::int64_t left = layer_.columns - block * block_columns;
      const int width = static_cast<int>(std::min<std::int64_t>(block_columns, left));
      if (layer_.layout == PackedLayout::gptq) {
        read_stream(block, width);
      } else {
        read_interleaved(block, width);
      }
      write(block, width, out + block * block_bytes, stride);
    }
  }

 private:
  void read_stream(std::int64_t block, int width) {
    const int bits = layer_.bits;
    const int words = (width * bits + 31) / 32;
    std::array<std::array<std::uint32_t, tile_rows>, 9> lines{};
    for (int w = 0; w < words; ++w) {
      const std::int64_t at = (block * bits + w) * layer_.rows + first_;
      std::memcpy(lines[static_cast<std::size_t>(w)].data(), layer_.codes + at * 4,
                  static_cast<std::size_t>(count_) * 4);
    }
    const std::uint32_t mask = (1U << bits) - 1;
    for (int c = 0; c < width; ++c) {
      const int shift = c * bits % 32;
      const auto& low = lines[static_cast<std::size_t>(c * bits / 32)];
      const auto& high = lines[static_cast<std::size_t>(c * bits / 32 + 1)];
      TileBytes& codes = codes_[static_cast<std::size_t>(c)];
      if (shift + bits > 32) {
        for (std::size_t r = 0; r < tile_rows; ++r)
          codes[r] = static_cast<std::uint8_t>((low[r] >> shift | high[r] << (32 - shift)) & mask);
      } else {
        for (std::size_t r = 0; r < tile_rows; ++r)
          codes[r] = static_cast<std::uint8_t>(low[r] >> shift & mask);
      }
    }
  }

  void read_interleaved(std::int64_t block, int width) {
    const std::int64_t words = layer_.rows / 8;
    for (int c = 0; c < width; ++c) {
      const std::byte* line = layer_.codes + (block * block_columns + c) * words * 4;
      TileBytes& codes = codes_[static_cast<std::size_t>(c)];
      for (int r = 0; r < count_; ++r) {
        const std::int64_t row = first_ + r;
        codes[static_cast<std::size_t>(r)] =
            static_cast<std::uint8_t>(load<std::uint32_t>(line, row / 8) >> awq_shifts[row % 8] & 15U);
      }
    }
  }

  void use_group(std::int64_t number) {
    if (group_.number == number) return;
    group_.number = number;
    read_packed_zeros(layer_, number, first_, count_, group_.zeros.data());
    for (int r = 0; r < count_; ++r)
      group_.scales[static_cast<std::size_t>(r)] = packed_scale(layer_, number, first_ + r);
  }

  // code − zero + bias, in place. Wraps where it passes through negative numbers.
  void centre(int bias) {
    use_group(layer_.group(block_columns * block_));
    TileBytes offset;
    for (std::size_t r = 0; r < tile_rows; ++r) offset[r] = static_cast<std::uint8_t>(bias - group_.zeros[r]);
    for (TileBytes& column : codes_) {
      for (std::size_t r = 0; r < tile_rows; ++r)
        column[r] = static_cast<std::uint8_t>(column[r] + offset[r]);
    }
  }

  void write(std::int64_t block, int width, std::byte* out, std::int64_t stride) {
    block_ = block;
    switch (layer_.type) {
      case Type::q4_0:
        centre(8);
        return write_blocks<formats::BlockQ4_0>(out, stride);
      case Type::q5_0:
        centre(16);
        return write_blocks<formats::BlockQ5_0>(out, stride);
      case Type::q8_0:
        centre(0);
        return write_blocks<formats::BlockQ8_0>(out, stride);
      default:
        return write_halves(width, out, stride);
    }
  }

  void fill(formats::BlockQ4_0& block, std::size_t row) const {
    for (std::size_t i = 0; i < 16; ++i)
      block.qs[i] = static_cast<std::uint8_t>(codes_[i][row] | codes_[i + 16][row] << 4);
  }
  void fill(formats::BlockQ5_0& block, std::size_t row) const {
    std::uint32_t high = 0;
    for (std::size_t i = 0; i < 32; ++i) high |= static_cast<std::uint32_t>(codes_[i][row] >> 4) << i;
    std::memcpy(block.qh, &high, sizeof high);
    for (std::size_t i = 0; i < 16; ++i)
      block.qs[i] = static_cast<std::uint8_t>((codes_[i][row] & 15) | codes_[i + 16][row] << 4);
  }
  void fill(formats::BlockQ8_0& block, std::size_t row) const {
    for (std::size_t i = 0; i < 32; ++i) block.qs[i] = static_cast<std::int8_t>(codes_[i][row]);
  }

  template <class Block>
  void write_blocks(std::byte* out, std::int64_t stride) const {
    for (int r = 0; r < count_; ++r) {
      const auto row = static_cast<std::size_t>(r);
      Block block;
      block.d = formats::float_to_half(group_.scales[row]);
      fill(block, row);
      std::memcpy(out + r * stride, &block, sizeof block);
    }
  }

  void write_halves(int width, std::byte* out, std::int64_t stride) {
    for (int c = 0; c < width; ++c) {
      use_group(layer_.group(block_columns * block_ + c));
      const TileBytes& codes = codes_[static_cast<std::size_t>(c)];
      for (int r = 0; r < count_; ++r) {
        const auto row = static_cast<std::size_t>(r);
        const auto steps = static_cast<float>(int{codes[row]} - int{group_.zeros[row]});
        const std::uint16_t half = formats::float_to_half(group_.scales[row] * steps);
        std::memcpy(out + r * stride + std::ptrdiff_t{2} * c, &half, sizeof half);
      }
    }
  }

  const PackedLayer& layer_;
  const std::int64_t first_;
  const int count_;
  std::int64_t block_ = 0;
  Tile codes_{};
  Group group_;
};

}  // namespace

std::int64_t PackedLayer::group(std::int64_t column) const {
  return groups != nullptr ? load<std::int32_t>(groups, column) : column / group_columns;
}

float packed_scale(const PackedLayer& layer, std::int64_t group, std::int64_t row) {
  const std::int64_t at = group * layer.rows + row;
  switch (layer.scale_type) {
    case Type::f16:
      return formats::half_to_float(load<std::uint16_t>(layer.scales, at));
    case Type::bf16:
      return formats::bfloat16_to_float(load<std::uint16_t>(layer.scales, at));
    default:
      return load<float>(layer.scales, at);
  }
}

// The first format of GPTQ subtracts one from each zero point before packing. What a word of whole codes
// borrowed from its neighbours then comes back when one is added to the word's codes together.
void read_packed_zeros(const PackedLayer& layer, std::int64_t group, std::int64_t first, int count,
                       std::uint8_t* out) {
  const std::byte* words = layer.zeros + group * layer.zero_words * 4;
  const std::uint32_t mask = (1U << layer.bits) - 1;
  const bool whole = 32 % layer.bits == 0;
  const std::uint32_t ones = layer.zeros_less_one && whole ? ~0U / mask : 0;
  const std::uint32_t one = layer.zeros_less_one && !whole ? 1 : 0;
  for (int r = 0; r < count; ++r) {
    const std::int64_t row = first + r;
    const std::uint32_t zero = layer.layout == PackedLayout::awq
                                   ? load<std::uint32_t>(words, row / 8) >> awq_shifts[row % 8] & mask
                                   : (stream_code(words, row, layer.bits, ones) + one) & mask;
    out[r] = static_cast<std::uint8_t>(zero);
  }
}

void read_packed_rows(const PackedLayer& layer, std::int64_t first, std::int64_t count, std::byte* out) {
  const std::int64_t stride = kernels::row_bytes(layer.type, layer.columns);
  if (layer.synthetic.pool) return layer.synthetic.read(first, count, stride, out);
  if (layer.joined.data) return layer.joined.read(layer.type, layer.columns, first, count, out);
  for (std::int64_t row = 0; row < count; row += tile_rows) {
    const int height = static_cast<int>(std::min<std::int64_t>(tile_rows, count - row));
    RowReader(layer, first + row, height).read(out + row * stride);
  }
}

}  // namespace fovea::checkpoint
