// One linear layer whose weights lie in a folder as packed integers, as GPTQ, AutoAWQ and AutoRound write it:
//
//   w[row][column] = scale[group(column)][row] · (code[column][row] − zero[group(column)][row])
//
// Its rows are read as those of the smallest block type that holds every code − zero which the layer can
// have, with the scale as the block's: Q4_0 (−8 … 7), Q5_0 (−16 … 15), Q8_0 (−128 … 127). That loses nothing.
// Where no block type can, they become F16, each weight rounded to nearest (by at most 2⁻¹¹ of itself).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/api/error.h"
#include "engine/checkpoint/quantization.h"
#include "kernels/api/types.h"

namespace fovea::checkpoint {

// A tensor of the layer as the file's header describes it.
struct PackedPart {
  std::string name;
  std::filesystem::path file;
  kernels::Type type = kernels::Type::f32;  // of the scales; the others are 32-bit integers
  std::vector<std::int64_t> shape;
  std::uint32_t file_index = 0;
  std::uint64_t offset = 0;         // in its file
  std::span<const std::byte> data;  // as long as shape and type say
};

struct PackedParts {
  std::optional<PackedPart> codes;   // X.qweight
  std::optional<PackedPart> zeros;   // X.qzeros
  std::optional<PackedPart> scales;  // X.scales
  std::optional<PackedPart> groups;  // X.g_idx, each column's group; without it they follow one another
};

// Why rows are not exactly what the file says.
enum class Rounding : std::uint8_t {
  none,
  scales,       // a scale of BF16 or F32 is no F16 number: it is rounded to nearest
  permuted,     // F16: a block of 32 columns has several groups, in the order of activations
  groups,       // F16: groups are no multiple of 32 columns
  columns,      // F16: the columns are no multiple of 32
  zero_points,  // F16: codes of 8 bits with zero points apart from the middle need 9
};

Phrase phrase_of(Rounding rounding);

// Rows that no file holds: cut out of packed values at offsets that follow from a seed.
struct SyntheticRows {
  std::shared_ptr<const std::vector<std::byte>> pool;  // whole blocks
  std::int64_t block_bytes = 0;
  std::uint64_t seed = 0;

  void read(std::int64_t first, std::int64_t count, std::int64_t row_bytes, std::byte* out) const;
};

// Rows whose elements stand apart in the file, as gpt-oss' folders have the experts (joined_experts.cpp) and
// Qwen3-Next's the projections of gated delta (joined_projections.cpp).
// Element c of row r of matrix m lies at first + m · matrix + r · row + c · column; with `scales` an element
// is a block.
struct JoinedRows {
  const std::byte* data = nullptr;
  const std::byte* scales = nullptr;  // of MXFP4's blocks, where they lie apart
  std::int64_t rows = 0;              // of one matrix
  std::int64_t first = 0, matrix = 0, row = 0, column = 0;

  void read(kernels::Type type, std::int64_t columns, std::int64_t first_row, std::int64_t count,
            std::byte* out) const;
};

struct PackedLayer {
  PackedLayout layout = PackedLayout::gptq;
  bool zeros_less_one = false;
  int bits = 4;
  std::int64_t rows = 0, columns = 0;
  std::int64_t group_count = 0;
  std::int64_t group_columns = 0;  // where the groups follow one another
  std::int64_t zero_words = 0;     // of one group
  const std::byte* codes = nullptr;
  const std::byte* zeros = nullptr;
  const std::byte* scales = nullptr;  // [groups, rows]
  const std::byte* groups = nullptr;  // [columns]; null: they follow one another
  kernels::Type scale_type = kernels::Type::f16;

  kernels::Type type = kernels::Type::f16;  // of the rows that are read
  Rounding rounding = Rounding::none;

  // Where the parts lie, for advice to the system; the codes first.
  struct Region {
    std::uint32_t file = 0;
    std::uint64_t offset = 0, bytes = 0;
  };
  std::vector<Region> regions;

  // With a pool, or with data: nothing of the above but rows, columns, type and regions.
  SyntheticRows synthetic;
  JoinedRows joined;

  std::int64_t group(std::int64_t column) const;
};

// Checks every shape, zero point and group, and chooses the type. `name` is the layer's, without ".weight".
Result<PackedLayer> check_packed(const std::string& name, const PackedParts& parts,
                                 const Quantization& quantization);

// Rows first … first + count − 1, as the layer's type stores them.
void read_packed_rows(const PackedLayer& layer, std::int64_t first, std::int64_t count, std::byte* out);

// The zero points of rows first … first + count − 1 in one group.
void read_packed_zeros(const PackedLayer& layer, std::int64_t group, std::int64_t first, int count,
                       std::uint8_t* out);

float packed_scale(const PackedLayer& layer, std::int64_t group, std::int64_t row);

}  // namespace fovea::checkpoint
