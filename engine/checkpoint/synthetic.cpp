#include "engine/checkpoint/synthetic.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <sys/mman.h>
#include <unistd.h>

#include "engine/checkpoint/contents.h"
#include "engine/checkpoint/errors.h"
#include "engine/core/result.h"
#include "kernels/formats/formats.h"

namespace fovea::checkpoint {
namespace {

constexpr std::int64_t pool_weights = std::int64_t{1} << 20;

// SplitMix64: the same numbers everywhere.
std::uint64_t mixed(std::uint64_t z) {
  z += 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

// Rows are cut out of some packed values at offsets that follow from the seed: making each weight anew would
// take minutes, and a device reads them alike.
std::shared_ptr<const std::vector<std::byte>> make_pool(kernels::Type type, std::uint64_t seed) {
  std::vector<float> values(pool_weights);
  for (std::size_t i = 0; i < values.size(); ++i) {
    // Four uniform numbers, added: near enough to normal.
    const std::uint64_t bits = mixed(seed + i);
    int sum = 0;
    for (int part = 0; part < 4; ++part) sum += static_cast<int>(bits >> (16 * part) & 0xFFFF) - 0x8000;
    values[i] = static_cast<float>(sum) * (0.02F / 37837.0F);
  }
  auto pool = std::make_shared<std::vector<std::byte>>(
      static_cast<std::size_t>(kernels::row_bytes(type, pool_weights)));
  kernels::formats::quantize(type, values.data(), pool_weights, pool->data());
  return pool;
}

// Memory that is read as a file's: vectors are, in place.
Result<MappedFile> map_ones(std::int64_t count) {
  const auto failed = [] {
    return fail(phrases::synthetic_weights_place(), errors::no_memory_for_synthetic());
  };
  const int file = ::memfd_create("fovea-synthetic-weights", MFD_CLOEXEC);
  if (file < 0) return failed();
  const std::vector<float> ones(static_cast<std::size_t>(count), 1.0F);
  const auto bytes = static_cast<ssize_t>(ones.size() * sizeof(float));
  const bool written = ::write(file, ones.data(), static_cast<std::size_t>(bytes)) == bytes;
  auto map = MappedFile::open("/proc/self/fd/" + std::to_string(file));
  ::close(file);
  if (!written) return failed();
  return map;
}

}  // namespace

void SyntheticRows::read(std::int64_t first, std::int64_t count, std::int64_t row_bytes,
                         std::byte* out) const {
  const auto size = static_cast<std::int64_t>(pool->size());
  for (std::int64_t row = first; row < first + count; ++row) {
    auto from = static_cast<std::int64_t>(mixed(seed + static_cast<std::uint64_t>(row)) %
                                          static_cast<std::uint64_t>(size / block_bytes)) *
                block_bytes;
    for (std::int64_t done = 0; done < row_bytes; from = 0) {
      const std::int64_t piece = std::min(row_bytes - done, size - from);
      std::memcpy(out, pool->data() + from, static_cast<std::size_t>(piece));
      out += piece;
      done += piece;
    }
  }
}

Result<void> Opener::synthetic(const SyntheticModel& model, Contents& contents) {
  contents.format = Format::hugging_face;
  contents.format_name = "made from a seed";
  contents.path = model.name;
  contents.config = model.config;
  const auto elements = [](std::span<const std::int64_t> shape) {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
  };
  std::int64_t longest = 1;
  for (const SyntheticTensor& vector : model.vectors) longest = std::max(longest, elements(vector.shape));
  FOVEA_TRY(MappedFile ones, map_ones(longest));
  contents.add(model.name, std::move(ones), {});
  for (const SyntheticTensor& vector : model.vectors) {
    contents.tensors.push_back({.name = vector.name,
                                .shape = vector.shape,
                                .bytes = static_cast<std::uint64_t>(elements(vector.shape)) * sizeof(float)});
  }
  std::map<kernels::Type, std::shared_ptr<const std::vector<std::byte>>> pools;
  for (const SyntheticTensor& matrix : model.matrices) {
    const std::int64_t columns = matrix.shape.back(), rows = elements(matrix.shape) / columns;
    const kernels::BlockShape block = kernels::block_shape(matrix.type);
    if (columns % block.elements != 0)
      return fail(phrases::name_place(matrix.name),
                  errors::synthetic_columns(columns, block.elements, kernels::type_name(matrix.type)));
    auto& pool = pools[matrix.type];
    if (!pool) pool = make_pool(matrix.type, model.seed);
    PackedLayer layer;
    layer.rows = rows;
    layer.columns = columns;
    layer.type = matrix.type;
    layer.synthetic = {
        .pool = pool, .block_bytes = block.bytes, .seed = mixed(model.seed + contents.packed.size())};
    contents.tensors.push_back(
        {.name = matrix.name,
         .type = matrix.type,
         .shape = matrix.shape,
         .bytes = static_cast<std::uint64_t>(rows * kernels::row_bytes(matrix.type, columns)),
         .packed = static_cast<std::int32_t>(contents.packed.size())});
    contents.packed.push_back(std::move(layer));
  }
  return contents.make_index();
}

Result<Checkpoint> Opener::make(const SyntheticModel& model) {
  auto contents = std::make_unique<Contents>();
  FOVEA_CHECK(synthetic(model, *contents));
  return Checkpoint(std::move(contents));
}

SyntheticRows synthetic_rows(kernels::Type type, std::uint64_t seed) {
  return {
      .pool = make_pool(type, seed), .block_bytes = kernels::block_shape(type).bytes, .seed = mixed(seed)};
}

Result<Checkpoint> synthetic_checkpoint(const SyntheticModel& model) try {
  return Opener::make(model);
} catch (const std::bad_alloc&) {
  return fail(phrases::name_place(model.name), errors::no_memory_to_make_weights());
}

}  // namespace fovea::checkpoint
