#include "kernels/cpu/pack.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <span>

#include "kernels/cpu/tiles.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace fovea::kernels::cpu {
namespace {

// A field of a block: `count` words at `offset`. The fields of a type stand in the order of its tile blocks.
enum class Word : std::uint8_t {
  byte,         // 8 bits
  half,         // 16 bits
  word,         // 32 bits
  turned_word,  // 32 bits, the top bit of each byte turned: signed bytes become bytes with an offset of 128
  fifth_bits,   // 32 single bits: bit 4 g + b moves to bit g of byte b
};
struct Field {
  Word word;
  int count;
  int offset;
};

constexpr Field f32_fields[] = {{Word::word, 1, 0}};
constexpr Field f16_fields[] = {{Word::half, 1, 0}};
constexpr Field q4_0_fields[] = {{Word::half, 1, 0}, {Word::word, 4, 2}};
constexpr Field q4_1_fields[] = {{Word::half, 1, 0}, {Word::half, 1, 2}, {Word::word, 4, 4}};
constexpr Field q5_0_fields[] = {{Word::half, 1, 0}, {Word::fifth_bits, 1, 2}, {Word::word, 4, 6}};
constexpr Field q5_1_fields[] = {
    {Word::half, 1, 0}, {Word::half, 1, 2}, {Word::fifth_bits, 1, 4}, {Word::word, 4, 8}};
constexpr Field q8_0_fields[] = {{Word::half, 1, 0}, {Word::turned_word, 8, 2}};
constexpr Field mxfp4_fields[] = {{Word::byte, 1, 0}, {Word::word, 4, 1}};
constexpr Field q4_f_fields[] = {{Word::byte, 1, 0}, {Word::word, 4, 1}};
constexpr Field q3_f_fields[] = {{Word::byte, 1, 0}, {Word::word, 2, 1}, {Word::word, 1, 9}};
constexpr Field q2_f_fields[] = {{Word::byte, 1, 0}, {Word::word, 2, 1}};
constexpr Field q2_k_fields[] = {
    {Word::word, 4, 0}, {Word::word, 16, 16}, {Word::half, 1, 80}, {Word::half, 1, 82}};
constexpr Field q3_k_fields[] = {
    {Word::word, 8, 0}, {Word::word, 16, 32}, {Word::word, 3, 96}, {Word::half, 1, 108}};
constexpr Field q4_k_fields[] = {
    {Word::half, 1, 0}, {Word::half, 1, 2}, {Word::word, 3, 4}, {Word::word, 32, 16}};
constexpr Field q5_k_fields[] = {
    {Word::half, 1, 0}, {Word::half, 1, 2}, {Word::word, 3, 4}, {Word::word, 8, 16}, {Word::word, 32, 48}};
constexpr Field q6_k_fields[] = {
    {Word::half, 1, 208}, {Word::word, 4, 192}, {Word::word, 32, 0}, {Word::word, 16, 128}};
constexpr Field iq4_xs_fields[] = {
    {Word::half, 1, 0}, {Word::half, 1, 2}, {Word::word, 1, 4}, {Word::word, 32, 8}};

constexpr std::span<const Field> fields_of(Type type) {
  switch (type) {
    case Type::f32:
      return f32_fields;
    case Type::f16:
    case Type::bf16:
      return f16_fields;
    case Type::q4_0:
    case Type::iq4_nl:
      return q4_0_fields;
    case Type::q4_1:
      return q4_1_fields;
    case Type::q5_0:
      return q5_0_fields;
    case Type::q5_1:
      return q5_1_fields;
    case Type::q8_0:
      return q8_0_fields;
    case Type::q2_k:
      return q2_k_fields;
    case Type::q3_k:
      return q3_k_fields;
    case Type::q4_k:
      return q4_k_fields;
    case Type::q5_k:
      return q5_k_fields;
    case Type::q6_k:
      return q6_k_fields;
    case Type::iq4_xs:
      return iq4_xs_fields;
    case Type::mxfp4:
      return mxfp4_fields;
    case Type::q4_f:
    case Type::q4_e:
      return q4_f_fields;
    case Type::q3_f:
      return q3_f_fields;
    case Type::q2_f:
      return q2_f_fields;
  }
  return {};
}

constexpr int bytes_of(Word word) {
  return word == Word::byte ? 1 : word == Word::half ? 2 : 4;
}

constexpr bool fields_fill_blocks() {
  for (const Type type : {Type::f32, Type::f16, Type::q4_0, Type::q4_1, Type::q5_0, Type::q5_1, Type::q8_0,
                          Type::q2_k, Type::q3_k, Type::q4_k, Type::q5_k, Type::q6_k, Type::iq4_xs,
                          Type::mxfp4, Type::q4_f, Type::q4_e, Type::q3_f, Type::q2_f}) {
    int bytes = 0;
    for (const Field& field : fields_of(type)) bytes += field.count * bytes_of(field.word);
    if (bytes != block_shape(type).bytes) return false;
  }
  return true;
}
static_assert(fields_fill_blocks());

using Rows = std::array<const std::byte*, tile_rows>;

std::uint32_t load_word(const std::byte* p) {
  std::uint32_t word = 0;
  std::memcpy(&word, p, 4);
  return word;
}

// The 8 × 4 matrix of bits [g][b] becomes [b][g].
constexpr std::uint32_t spread_fifth_bits(std::uint32_t v) {
  std::uint32_t out = 0;
  for (int i = 0; i < 32; ++i) out |= (v >> i & 1U) << (i % 4 * 8 + i / 4);
  return out;
}

#if defined(__SSE2__)

// Four words of each of 16 rows; `turn` is exclusive-ored to each.
void transpose_four_words(const Rows& rows, std::int64_t offset, __m128i turn, std::byte* out) {
  for (int group = 0; group < 4; ++group) {
    __m128i v[4];
    for (int i = 0; i < 4; ++i) {
      v[i] = _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(
                               rows[static_cast<std::size_t>(group * 4 + i)] + offset)),
                           turn);
    }
    const __m128i low01 = _mm_unpacklo_epi32(v[0], v[1]);
    const __m128i low23 = _mm_unpacklo_epi32(v[2], v[3]);
    const __m128i high01 = _mm_unpackhi_epi32(v[0], v[1]);
    const __m128i high23 = _mm_unpackhi_epi32(v[2], v[3]);
    auto* const target = reinterpret_cast<__m128i*>(out + group * 16);
    _mm_storeu_si128(target, _mm_unpacklo_epi64(low01, low23));
    _mm_storeu_si128(target + 4, _mm_unpackhi_epi64(low01, low23));
    _mm_storeu_si128(target + 8, _mm_unpacklo_epi64(high01, high23));
    _mm_storeu_si128(target + 12, _mm_unpackhi_epi64(high01, high23));
  }
}

// Eight halves of each of 8 rows: [row][half] becomes [half][row], 16 rows apart.
void transpose_eight_halves(const std::byte* const* rows, std::int64_t offset, std::byte* out) {
  __m128i a[8];
  __m128i b[8];
  for (int i = 0; i < 8; ++i) a[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(rows[i] + offset));
  for (int i = 0; i < 4; ++i) {
    b[2 * i] = _mm_unpacklo_epi16(a[2 * i], a[2 * i + 1]);
    b[2 * i + 1] = _mm_unpackhi_epi16(a[2 * i], a[2 * i + 1]);
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      a[4 * i + 2 * j] = _mm_unpacklo_epi32(b[4 * i + j], b[4 * i + j + 2]);
      a[4 * i + 2 * j + 1] = _mm_unpackhi_epi32(b[4 * i + j], b[4 * i + j + 2]);
    }
  }
  for (int i = 0; i < 4; ++i) {
    auto* const target = reinterpret_cast<__m128i*>(out + 2 * i * tile_rows * 2);
    _mm_storeu_si128(target, _mm_unpacklo_epi64(a[i], a[i + 4]));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + (2 * i + 1) * tile_rows * 2),
                     _mm_unpackhi_epi64(a[i], a[i + 4]));
  }
}

#endif

std::uint32_t packed_word(Word word, std::uint32_t v) {
  if (word == Word::turned_word) return v ^ 0x80808080U;
  if (word == Word::fifth_bits) return spread_fifth_bits(v);
  return v;
}

void pack_words(const Rows& rows, const Field& field, std::byte* out) {
  int i = 0;
#if defined(__SSE2__)
  if (field.word != Word::fifth_bits) {
    const __m128i turn =
        field.word == Word::turned_word ? _mm_set1_epi8(static_cast<char>(0x80)) : _mm_setzero_si128();
    for (; i + 4 <= field.count; i += 4) {
      transpose_four_words(rows, field.offset + 4 * i, turn, out + i * tile_rows * 4);
    }
  }
#endif
  for (; i < field.count; ++i) {
    for (std::size_t r = 0; r < tile_rows; ++r) {
      const std::uint32_t word = packed_word(field.word, load_word(rows[r] + field.offset + 4 * i));
      std::memcpy(out + (static_cast<std::size_t>(i) * tile_rows + r) * 4, &word, 4);
    }
  }
}

std::byte* pack_field(const Rows& rows, const Field& field, std::byte* out) {
  if (field.word == Word::byte) {
    for (std::size_t r = 0; r < tile_rows; ++r) out[r] = rows[r][field.offset];
  } else if (field.word == Word::half) {
    for (std::size_t r = 0; r < tile_rows; ++r) std::memcpy(out + 2 * r, rows[r] + field.offset, 2);
  } else {
    pack_words(rows, field, out);
  }
  return out + field.count * bytes_of(field.word) * tile_rows;
}

// Element types have blocks of one element: several columns at once.
std::int64_t pack_columns(Type type, std::int64_t columns, const Rows& rows, std::byte* tile) {
  std::int64_t k = 0;
#if defined(__SSE2__)
  if (type == Type::f32) {
    for (; k + 4 <= columns; k += 4) {
      transpose_four_words(rows, k * 4, _mm_setzero_si128(), tile + k * tile_rows * 4);
    }
  } else if (type == Type::f16 || type == Type::bf16) {
    for (; k + 8 <= columns; k += 8) {
      std::byte* const out = tile + k * tile_rows * 2;
      transpose_eight_halves(rows.data(), k * 2, out);
      transpose_eight_halves(rows.data() + 8, k * 2, out + 16);
    }
  }
#endif
  return k;
}

void pack_full_tile(Type type, std::int64_t columns, Rows rows, std::byte* tile) {
  const BlockShape shape = block_shape(type);
  const std::int64_t done = pack_columns(type, columns, rows, tile);
  tile += done * tile_rows * shape.bytes;
  for (const std::byte*& row : rows) row += done * shape.bytes;
  for (std::int64_t b = 0; b < (columns - done) / shape.elements; ++b) {
    for (const Field& field : fields_of(type)) tile = pack_field(rows, field, tile);
    for (const std::byte*& row : rows) row += shape.bytes;
  }
}

}  // namespace

void pack_tile(Type type, std::int64_t columns, const std::byte* rows, std::int64_t row_stride, int count,
               std::byte* tile) {
  assert(count >= 1 && count <= tile_rows);
  Rows pointers;
  for (int r = 0; r < tile_rows; ++r)
    pointers[static_cast<std::size_t>(r)] = rows + std::min(r, count - 1) * row_stride;
  pack_full_tile(type, columns, pointers, tile);
  if (count == tile_rows) return;
  // The missing rows were filled with the last one: clear them, block by block.
  const BlockShape shape = block_shape(type);
  for (std::int64_t b = 0; b < columns / shape.elements; ++b) {
    for (const Field& field : fields_of(type)) {
      const auto bytes = static_cast<std::size_t>(bytes_of(field.word));
      for (int i = 0; i < field.count; ++i) {
        std::memset(tile + static_cast<std::size_t>(count) * bytes, 0,
                    static_cast<std::size_t>(tile_rows - count) * bytes);
        tile += tile_rows * bytes;
      }
    }
  }
}

}  // namespace fovea::kernels::cpu
