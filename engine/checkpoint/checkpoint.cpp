#include "engine/checkpoint/checkpoint.h"

#include <cassert>
#include <cstring>
#include <new>
#include <utility>

#include "engine/checkpoint/contents.h"
#include "engine/checkpoint/describe.h"
#include "engine/core/result.h"

namespace fovea::checkpoint {

std::int64_t TensorInfo::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  return count;
}

void Checkpoint::Contents::add(const std::filesystem::path& file, MappedFile map,
                               std::vector<TensorInfo> from_file) {
  const auto number = static_cast<std::uint32_t>(files.size());
  files.push_back(file);
  maps.push_back(std::move(map));
  tensors.reserve(tensors.size() + from_file.size());
  for (TensorInfo& info : from_file) {
    info.file = number;
    tensors.push_back(std::move(info));
  }
}

Result<void> Checkpoint::Contents::make_index() {
  index.reserve(tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const auto [other, is_new] = index.emplace(tensors[i].name, i);
    if (is_new) continue;
    return fail(phrases::offset_place(files[tensors[i].file], tensors[i].offset),
                errors::tensor_in_two_files(in_quotes(tensors[i].name),
                                            files[tensors[other->second].file].filename()));
  }
  return {};
}

Result<Checkpoint> Checkpoint::open(const std::filesystem::path& path) try {
  auto contents = std::make_unique<Contents>();
  contents->path = path;
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  FOVEA_CHECK(folder ? Opener::folder(path, *contents) : Opener::gguf(path, *contents));
  FOVEA_CHECK(contents->make_index());
  return Checkpoint(std::move(contents));
} catch (const std::bad_alloc&) {
  return fail(phrases::file_place(path), errors::no_memory_to_open());
}

Checkpoint::Checkpoint(std::unique_ptr<Contents> contents) : contents_(std::move(contents)) {}
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;
Checkpoint& Checkpoint::operator=(Checkpoint&&) noexcept = default;
Checkpoint::~Checkpoint() = default;

Format Checkpoint::format() const {
  return contents_->format;
}
std::string Checkpoint::format_name() const {
  return contents_->format_name;
}
const std::filesystem::path& Checkpoint::path() const {
  return contents_->path;
}
const std::vector<std::filesystem::path>& Checkpoint::files() const {
  return contents_->files;
}
const std::vector<TensorInfo>& Checkpoint::tensors() const {
  return contents_->tensors;
}

const TensorInfo* Checkpoint::find(std::string_view name) const {
  const auto it = contents_->index.find(name);
  return it == contents_->index.end() ? nullptr : &contents_->tensors[it->second];
}

std::span<const std::byte> Checkpoint::bytes(const TensorInfo& tensor) const {
  assert(tensor.is_mapped());
  return contents_->maps[tensor.file].bytes().subspan(tensor.offset, tensor.bytes);
}

void Checkpoint::read_rows(const TensorInfo& tensor, std::int64_t columns, std::int64_t first,
                           std::int64_t count, std::byte* out) const {
  if (!tensor.is_mapped()) {
    const PackedLayer& layer = contents_->packed[static_cast<std::size_t>(tensor.packed)];
    assert(columns == layer.columns && first >= 0 && first + count <= layer.rows);
    return read_packed_rows(layer, first, count, out);
  }
  const auto row = static_cast<std::size_t>(kernels::row_bytes(tensor.type, columns));
  const auto source =
      bytes(tensor).subspan(static_cast<std::size_t>(first) * row, static_cast<std::size_t>(count) * row);
  std::memcpy(out, source.data(), source.size());
}

std::span<const std::byte> Checkpoint::rows(const TensorInfo& tensor, std::int64_t columns,
                                            std::int64_t first, std::int64_t count,
                                            std::vector<std::byte>& buffer) const {
  const auto row = static_cast<std::size_t>(kernels::row_bytes(tensor.type, columns));
  if (tensor.is_mapped()) {
    return bytes(tensor).subspan(static_cast<std::size_t>(first) * row,
                                 static_cast<std::size_t>(count) * row);
  }
  buffer.resize(static_cast<std::size_t>(count) * row);
  read_rows(tensor, columns, first, count, buffer.data());
  return buffer;
}

std::span<const std::byte> Checkpoint::identifying_bytes(const TensorInfo& tensor) const {
  if (tensor.is_mapped()) return bytes(tensor);
  const auto& codes = contents_->packed[static_cast<std::size_t>(tensor.packed)].regions.front();
  return contents_->maps[codes.file].bytes().subspan(codes.offset, codes.bytes);
}

const Phrase& Checkpoint::conversion() const {
  return contents_->conversion;
}

template <class F>
void Checkpoint::Contents::each_region(const TensorInfo& tensor, F&& f) const {
  if (tensor.is_mapped()) return f(maps[tensor.file], tensor.offset, tensor.bytes);
  for (const auto& region : packed[static_cast<std::size_t>(tensor.packed)].regions)
    f(maps[region.file], region.offset, region.bytes);
}

void Checkpoint::drop(const TensorInfo& tensor) const {
  contents_->each_region(tensor, [](const MappedFile& map, std::uint64_t offset, std::uint64_t bytes) {
    map.drop(offset, bytes);
  });
}

void Checkpoint::will_need(const TensorInfo& tensor) const {
  contents_->each_region(tensor, [](const MappedFile& map, std::uint64_t offset, std::uint64_t bytes) {
    map.will_need(offset, bytes);
  });
}

const Metadata& Checkpoint::metadata() const {
  return contents_->metadata;
}
const nlohmann::json& Checkpoint::config() const {
  return contents_->config;
}
const nlohmann::json& Checkpoint::generation_config() const {
  return contents_->generation_config;
}
const nlohmann::json& Checkpoint::tokenizer_config() const {
  return contents_->tokenizer_config;
}

std::string_view Checkpoint::tokenizer_json() const {
  const std::span<const std::byte> bytes = contents_->tokenizer_json.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string_view Checkpoint::chat_template() const {
  return contents_->chat_template;
}

}  // namespace fovea::checkpoint
