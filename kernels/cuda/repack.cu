// repack: weights that came from main memory in the processor's order (kernels/formats/processor_tiles.h)
// become tiles of this device (fields.h). A thread moves a block of one row, 16 neighbours those of 16 rows:
// they read 64 bytes in a row for each word and write up to 16 at once. Bound by memory, which is read and
// written once: of what a link brings at a fortieth of that speed it should take a twentieth of the time. No
// card has shown it yet.
#include "kernels/cuda/dispatch.h"
#include "kernels/cuda/fields.h"
#include "kernels/cuda/grid.h"
#include "kernels/cuda/operations.h"
#include "kernels/formats/processor_tiles.h"

namespace fovea::kernels::cuda {
namespace {

constexpr unsigned threads = 256;
using processor_tiles::Word;
static_assert(tile_rows == processor_tiles::rows);

// What device code needs of the tables that only the host's code may ask.
template <Type type>
constexpr int source_count = static_cast<int>(processor_tiles::fields_of(type).size());
template <Type type, int index>
constexpr processor_tiles::Field source_field = processor_tiles::fields_of(type)[index];
template <Type type>
constexpr int bytes_of_fields_before(int index) {
  int bytes = 0;
  for (int i = 0; i < index; ++i)
    bytes += processor_tiles::fields_of(type)[static_cast<std::size_t>(i)].bytes();
  return bytes;
}
template <Type type, int index>
constexpr int source_before = bytes_of_fields_before<type>(index);
template <Type type>
constexpr Field plane_with(int offset) {
  for (const Field& plane : Fields<type>::planes)
    if (plane.offset <= offset && offset < plane.offset + plane.bytes) return plane;
  return {};
}
template <Type type, int index>
constexpr Field target_plane = plane_with<type>(source_field<type, index>.offset);
template <Type type, int index>
constexpr bool is_parted = has_parted_nibbles<type>(target_plane<type, index>);
// Of the words where they go to, as far as four of them, 16 bytes, can be written at once.
template <Type type, int index>
constexpr int target_alignment =
    smaller_of(alignment_of(target_plane<type, index>.bytes),
               alignment_of(16 + source_field<type, index>.offset - target_plane<type, index>.offset));

__device__ __forceinline__ std::uint32_t load_word(const std::byte* at) {
  return *reinterpret_cast<const std::uint32_t*>(at);
}

template <Type type, int index>
__device__ __forceinline__ std::uint32_t moved_word(const std::byte* from, int row, int i) {
  constexpr Word form = source_field<type, index>.word;
  std::uint32_t word = load_word(from + (i * tile_rows + row) * 4);
  if constexpr (form == Word::turned_word) word ^= 0x80808080U;
  if constexpr (form == Word::fifth_bits) {
    std::uint32_t gathered = 0;
#pragma unroll
    for (int bit = 0; bit < 32; ++bit) gathered |= (word >> (bit % 4 * 8 + bit / 4) & 1U) << bit;
    word = gathered;
  }
  if constexpr (is_parted<type, index>) word = parted_nibbles(word);
  return word;
}

// From block `at` of the tile's `count` (all rows'), which is `row`'s; `from` is its tile block.
template <Type type, int index = 0>
__device__ __forceinline__ void move_fields(const std::byte* tile_block, int row, std::byte* tile,
                                            std::int64_t count, std::int64_t at) {
  constexpr processor_tiles::Field field = source_field<type, index>;
  constexpr Field plane = target_plane<type, index>;
  const std::byte* const from = tile_block + tile_rows * source_before<type, index>;
  std::byte* const to =
      tile + bytes_before<type, plane> * count + at * plane.bytes + (field.offset - plane.offset);
  if constexpr (field.word == Word::byte) {
    *to = from[row];
  } else if constexpr (field.word == Word::half) {
    *reinterpret_cast<std::uint16_t*>(to) = reinterpret_cast<const std::uint16_t*>(from)[row];
  } else if constexpr (field.count % 4 == 0) {
    static_assert(target_alignment<type, index> == 16);
#pragma unroll
    for (int i = 0; i < field.count; i += 4) {
      Words4 words;
#pragma unroll
      for (int k = 0; k < 4; ++k) words.v[k] = moved_word<type, index>(from, row, i + k);
      *reinterpret_cast<Words4*>(to + 4 * i) = words;
    }
  } else {
    static_assert(target_alignment<type, index> >= 4);
#pragma unroll
    for (int i = 0; i < field.count; ++i)
      *reinterpret_cast<std::uint32_t*>(to + 4 * i) = moved_word<type, index>(from, row, i);
  }
  if constexpr (index + 1 < source_count<type>)
    move_fields<type, index + 1>(tile_block, row, tile, count, at);
}

template <Type type>
__global__ void __launch_bounds__(threads, 1) repack_kernel(Repack op) {
  const std::int64_t blocks = op.columns / elements_of<type>;
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  const std::int64_t block = i / tile_rows, tile = blockIdx.y;
  const int row = static_cast<int>(i % tile_rows);
  const std::int64_t left = op.rows - tile * tile_rows;
  const std::int64_t rows = left < tile_rows ? left : tile_rows;
  if (block >= blocks || row >= rows) return;
  const std::int64_t tile_bytes = tile_rows * blocks * bytes_of<type>, matrix = blockIdx.z * op.stride;
  move_fields<type>(op.source + matrix + tile * tile_bytes + block * tile_rows * bytes_of<type>, row,
                    op.target + matrix + tile * tile_bytes, rows * blocks, row * blocks + block);
}

// Plain numbers become rows: a thread moves 16 bytes of one.
template <typename Number>
__global__ void __launch_bounds__(threads, 1) repack_numbers_kernel(Repack op) {
  constexpr int at_once = 16 / static_cast<int>(sizeof(Number));
  const std::int64_t i = std::int64_t{blockIdx.x} * threads + threadIdx.x;
  const std::int64_t first = i / tile_rows * at_once;
  const std::int64_t row = std::int64_t{blockIdx.y} * tile_rows + i % tile_rows;
  if (first >= op.columns || row >= op.rows) return;
  const std::int64_t matrix = blockIdx.z * op.stride;
  const auto* const source = reinterpret_cast<const Number*>(op.source + matrix) +
                             (std::int64_t{blockIdx.y} * op.columns + first) * tile_rows + i % tile_rows;
  auto* const target = reinterpret_cast<Number*>(op.target + matrix) + row * op.columns + first;
#pragma unroll
  for (int k = 0; k < at_once; ++k)
    if (first + k < op.columns) target[k] = source[k * tile_rows];
}

template <typename Number>
void repack_numbers(const Repack& op, CudaStream& stream) {
  constexpr std::int64_t at_once = 16 / sizeof(Number);
  launch<repack_numbers_kernel<Number>>(
      {.grid_x = blocks_for(quotient_up(op.columns, at_once) * tile_rows, threads),
       .grid_y = blocks_for(op.rows, tile_rows),
       .grid_z = static_cast<unsigned>(op.count),
       .threads = threads},
      stream, op);
}

template <Type type>
void repack_blocks(const Repack& op, CudaStream& stream) {
  launch<repack_kernel<type>>({.grid_x = blocks_for(op.columns / elements_of<type> * tile_rows, threads),
                               .grid_y = blocks_for(op.rows, tile_rows),
                               .grid_z = static_cast<unsigned>(op.count),
                               .threads = threads},
                              stream, op);
}

}  // namespace

void repack(const Repack& op, Stream& stream) {
  if (op.count == 0) return;
  CudaStream& cuda = on_cuda(stream);
  dispatch(op.type, [&]<Type type>() {
    if constexpr (is_quantised(type)) {
      repack_blocks<type>(op, cuda);
    } else if constexpr (type == Type::f32) {
      repack_numbers<std::uint32_t>(op, cuda);
    } else {
      repack_numbers<std::uint16_t>(op, cuda);
    }
  });
}

}  // namespace fovea::kernels::cuda
