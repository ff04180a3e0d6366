#include "engine/checkpoint/safetensors_reader.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "engine/checkpoint/describe.h"
#include "engine/checkpoint/json_file.h"
#include "engine/core/result.h"

namespace fovea::checkpoint {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t prefix_bytes = 8;                // the header's length
constexpr std::uint64_t max_header_bytes = 100'000'000;  // the format's own limit
constexpr std::size_t max_dimensions = 8;

class Reader {
 public:
  Reader(std::span<const std::byte> file, const std::filesystem::path& name) : file_(file), name_(name) {}
  Result<std::vector<SafetensorsEntry>> read();
  Result<TensorInfo> weight(SafetensorsEntry entry) const;

 private:
  Result<void> header();
  Result<SafetensorsEntry> entry(const std::string& name, const Json& description) const;
  Result<std::uint64_t> element_bytes(SafetensorsEntry& entry, const Json& description) const;
  Result<std::uint64_t> elements(SafetensorsEntry& entry, const Json& description) const;
  Result<void> check_coverage(const std::vector<SafetensorsEntry>& entries) const;
  // The offset in the file at which the header names a tensor.
  std::uint64_t place(const std::string& name) const;
  std::unexpected<Error> damaged_at(const std::string& tensor, Error error) const {
    return damaged(name_, place(tensor), std::move(error));
  }

  std::span<const std::byte> file_;
  const std::filesystem::path& name_;
  std::string_view text_;   // the header
  std::uint64_t data_ = 0;  // where the data begins
  std::uint64_t data_bytes_ = 0;
};

std::uint64_t Reader::place(const std::string& name) const {
  const std::size_t found = text_.find("\"" + name + "\"");
  return prefix_bytes + (found == std::string_view::npos ? 0 : found);
}

Result<void> Reader::header() {
  if (file_.size() < prefix_bytes) {
    return damaged(name_, 0, errors::safetensors_too_short(Bytes{std::ssize(file_)}));
  }
  std::uint64_t length = 0;
  std::memcpy(&length, file_.data(), sizeof length);
  const std::uint64_t most = std::min<std::uint64_t>(file_.size() - prefix_bytes, max_header_bytes);
  if (length > most || length < 2) {
    return damaged(name_, 0, errors::safetensors_header_length(length, most));
  }
  text_ = {reinterpret_cast<const char*>(file_.data()) + prefix_bytes, length};
  data_ = prefix_bytes + length;
  data_bytes_ = file_.size() - data_;
  return {};
}

std::optional<std::uint64_t> unsigned_number(const Json& value) {
  if (!value.is_number_unsigned()) return std::nullopt;
  return value.get<std::uint64_t>();
}

const Json* member(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

// Bytes of an element; 0 for a type that the format does not define or that takes less than a byte.
std::uint64_t dtype_bytes(std::string_view dtype) {
  struct Width {
    std::string_view dtype;
    std::uint64_t bytes;
  };
  static constexpr Width widths[] = {
      {"BOOL", 1}, {"U8", 1},  {"I8", 1},  {"F8_E5M2", 1}, {"F8_E4M3", 1}, {"F8_E8M0", 1},
      {"I16", 2},  {"U16", 2}, {"F16", 2}, {"BF16", 2},    {"I32", 4},     {"U32", 4},
      {"F32", 4},  {"I64", 8}, {"U64", 8}, {"F64", 8},     {"C64", 8},
  };
  const auto* it = std::ranges::find(widths, dtype, &Width::dtype);
  return it == std::end(widths) ? 0 : it->bytes;
}

Result<std::uint64_t> Reader::element_bytes(SafetensorsEntry& entry, const Json& description) const {
  const Json* dtype = member(description, "dtype");
  if (!dtype || !dtype->is_string())
    return damaged_at(entry.name, errors::safetensors_no_dtype(in_quotes(entry.name)));
  entry.dtype = dtype->get<std::string>();
  const std::uint64_t width = dtype_bytes(entry.dtype);
  if (width != 0) return width;
  return fail(phrases::offset_place(name_, place(entry.name)),
              errors::safetensors_foreign_dtype(in_quotes(entry.name), in_quotes(entry.dtype)));
}

// Fills in the shape and returns the number of elements, which is bounded by the data's bytes.
Result<std::uint64_t> Reader::elements(SafetensorsEntry& entry, const Json& description) const {
  const Json* sizes = member(description, "shape");
  const std::string label = in_quotes(entry.name);
  if (!sizes || !sizes->is_array()) return damaged_at(entry.name, errors::safetensors_no_shape(label));
  if (sizes->size() > max_dimensions) {
    return damaged_at(entry.name, errors::safetensors_dimensions(label, sizes->size(), max_dimensions));
  }
  std::uint64_t count = 1;
  for (const Json& item : *sizes) {
    const auto size = unsigned_number(item);
    if (!size || *size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return damaged_at(entry.name, errors::safetensors_shape(label, sizes->dump()));
    }
    if (*size != 0 && count > std::numeric_limits<std::int64_t>::max() / *size) {
      return damaged_at(entry.name,
                        errors::safetensors_shape_too_large(label, sizes->dump(), Bytes{std::ssize(file_)}));
    }
    count *= *size;
    entry.shape.push_back(static_cast<std::int64_t>(*size));
  }
  return count;
}

Result<SafetensorsEntry> Reader::entry(const std::string& name, const Json& description) const {
  const std::string label = in_quotes(name);
  if (!description.is_object()) return damaged_at(name, errors::safetensors_no_description(label));
  SafetensorsEntry entry;
  entry.name = name;
  FOVEA_TRY(const std::uint64_t width, element_bytes(entry, description));
  FOVEA_TRY(const std::uint64_t count, elements(entry, description));
  const Json* offsets = member(description, "data_offsets");
  const bool pair = offsets && offsets->is_array() && offsets->size() == 2;
  const auto begin = pair ? unsigned_number((*offsets)[0]) : std::nullopt;
  const auto end = pair ? unsigned_number((*offsets)[1]) : std::nullopt;
  if (!begin || !end) return damaged_at(name, errors::safetensors_no_offsets(label));
  if (*begin > *end || *end > data_bytes_) {
    return damaged_at(name, errors::safetensors_offsets(label, offsets->dump(), bytes_of(data_bytes_)));
  }
  if ((*end - *begin) / width != count || (*end - *begin) % width != 0) {
    return damaged_at(name, errors::safetensors_size(label, bytes_of(*end - *begin), count, width));
  }
  entry.offset = data_ + *begin;
  entry.bytes = *end - *begin;
  return entry;
}

Result<void> Reader::check_coverage(const std::vector<SafetensorsEntry>& entries) const {
  std::uint64_t expected = data_;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.offset != expected) {
      return damaged_at(entry.name, errors::safetensors_hole(in_quotes(entry.name), entry.offset - data_,
                                                             expected - data_));
    }
    expected = entry.offset + entry.bytes;
  }
  if (expected != file_.size()) {
    return damaged(name_, expected, errors::safetensors_tail(file_.size() - expected));
  }
  return {};
}

Result<std::vector<SafetensorsEntry>> Reader::read() {
  FOVEA_CHECK(header());
  if (text_.front() != '{') {
    return damaged(name_, prefix_bytes, errors::safetensors_header_start(in_quotes(text_.substr(0, 1))));
  }
  FOVEA_TRY(const Json root, parse_json(text_, name_, prefix_bytes, {.depth = 4, .unique_keys = true}));
  std::vector<SafetensorsEntry> entries;
  entries.reserve(root.size());
  for (const auto& [name, description] : root.items()) {
    if (name == "__metadata__") continue;
    FOVEA_TRY(SafetensorsEntry found, entry(name, description));
    entries.push_back(std::move(found));
  }
  std::ranges::sort(entries, {}, [](const SafetensorsEntry& e) { return std::pair(e.offset, e.bytes); });
  FOVEA_CHECK(check_coverage(entries));
  return entries;
}

Result<TensorInfo> Reader::weight(SafetensorsEntry entry) const {
  TensorInfo info;
  if (entry.dtype == "F32") {
    info.type = kernels::Type::f32;
  } else if (entry.dtype == "F16") {
    info.type = kernels::Type::f16;
  } else if (entry.dtype == "BF16") {
    info.type = kernels::Type::bf16;
  } else {
    return not_a_weight(entry, name_, place(entry.name));
  }
  info.name = std::move(entry.name);
  info.shape = std::move(entry.shape);
  info.offset = entry.offset;
  info.bytes = entry.bytes;
  return info;
}

}  // namespace

Result<std::vector<SafetensorsEntry>> read_safetensors_entries(std::span<const std::byte> file,
                                                               const std::filesystem::path& name) {
  return Reader(file, name).read();
}

std::unexpected<Error> not_a_weight(const SafetensorsEntry& entry, const std::filesystem::path& file,
                                    std::uint64_t offset) {
  return fail(phrases::offset_place(file, offset),
              errors::safetensors_no_weight_type(in_quotes(entry.name), in_quotes(entry.dtype)));
}

Result<std::vector<TensorInfo>> read_safetensors(std::span<const std::byte> file,
                                                 const std::filesystem::path& name,
                                                 std::vector<SafetensorsEntry>* others) {
  Reader reader(file, name);
  FOVEA_TRY(std::vector<SafetensorsEntry> entries, reader.read());
  std::vector<TensorInfo> tensors;
  tensors.reserve(entries.size());
  for (SafetensorsEntry& entry : entries) {
    if (others != nullptr && entry.dtype != "F32" && entry.dtype != "F16" && entry.dtype != "BF16") {
      others->push_back(std::move(entry));
      continue;
    }
    FOVEA_TRY(TensorInfo info, reader.weight(std::move(entry)));
    tensors.push_back(std::move(info));
  }
  return tensors;
}

}  // namespace fovea::checkpoint
