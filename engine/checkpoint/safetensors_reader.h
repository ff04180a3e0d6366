// Reads the header of one safetensors file from memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "engine/api/error.h"
#include "engine/checkpoint/tensor_info.h"

namespace fovea::checkpoint {

struct SafetensorsEntry {
  std::string name;
  std::string dtype;  // as the format spells it: "F32", "I16" …
  std::vector<std::int64_t> shape;
  std::uint64_t offset = 0;  // in the file
  std::uint64_t bytes = 0;
};

// Entries of every type that takes whole bytes, in the order of their data. As the format demands, the data
// must be covered without holes or overlaps. `name` is the file in errors.
Result<std::vector<SafetensorsEntry>> read_safetensors_entries(std::span<const std::byte> file,
                                                               const std::filesystem::path& name);

// The same for a model's weights: F32, F16 and BF16. Entries of other types go to `others`; without it they
// are refused by name.
Result<std::vector<TensorInfo>> read_safetensors(std::span<const std::byte> file,
                                                 const std::filesystem::path& name,
                                                 std::vector<SafetensorsEntry>* others = nullptr);

// The error for an entry whose type holds no weights.
std::unexpected<Error> not_a_weight(const SafetensorsEntry& entry, const std::filesystem::path& file,
                                    std::uint64_t offset);

}  // namespace fovea::checkpoint
