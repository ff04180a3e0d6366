#include "kernels/cpu/pack.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

#include "kernels/cpu/tiles.h"
#include "kernels/formats/processor_tiles.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace fovea::kernels::cpu {
namespace {

using processor_tiles::Field;
using processor_tiles::fields_of;
using processor_tiles::Word;
static_assert(tile_rows == processor_tiles::rows);

using Rows = std::array<const std::byte*, tile_rows>;

std::uint32_t load_word(const std::byte* p) {
  std::uint32_t word = 0;
  std::memcpy(&word, p, 4);
  return word;
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
      const std::uint32_t word =
          processor_tiles::packed(field.word, load_word(rows[r] + field.offset + 4 * i));
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
  return out + field.bytes() * tile_rows;
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
      const auto bytes = static_cast<std::size_t>(processor_tiles::bytes_of(field.word));
      for (int i = 0; i < field.count; ++i) {
        std::memset(tile + static_cast<std::size_t>(count) * bytes, 0,
                    static_cast<std::size_t>(tile_rows - count) * bytes);
        tile += tile_rows * bytes;
      }
    }
  }
}

}  // namespace fovea::kernels::cpu
