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

constexpr std::uint64_t prefix_bytes = 8;                 // the header's length
constexpr std::uint64_t most_header_bytes = 100'000'000;  // the format's own limit
constexpr std::size_t most_dimensions = 8;

class Reader {
 public:
  Reader(std::span<const std::byte> file, const std::string& name) : file_(file), name_(name) {}
  Result<std::vector<TensorInfo>> read();

 private:
  Result<void> header();
  Result<TensorInfo> tensor(const std::string& name, const Json& entry) const;
  Result<kernels::Type> type(const std::string& name, const Json& entry) const;
  Result<std::uint64_t> shape(TensorInfo& info, const Json& entry) const;
  Result<void> check_coverage(const std::vector<TensorInfo>& tensors) const;
  // The offset in the file at which the header names a tensor.
  std::uint64_t place(const std::string& name) const;
  std::unexpected<Error> damaged_at(const std::string& tensor, std::string what) const {
    return damaged(name_, place(tensor), "tensor " + in_quotes(tensor) + " " + std::move(what));
  }

  std::span<const std::byte> file_;
  const std::string& name_;
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
    return damaged(name_, 0,
                   "the file has " + std::to_string(file_.size()) +
                       " bytes, a safetensors file begins with 8 bytes of header length");
  }
  std::uint64_t length = 0;
  std::memcpy(&length, file_.data(), sizeof length);
  const std::uint64_t most = std::min<std::uint64_t>(file_.size() - prefix_bytes, most_header_bytes);
  if (length > most || length < 2) {
    return damaged(
        name_, 0,
        "the header length is " + std::to_string(length) + ", expected 2 to " + std::to_string(most));
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

Result<kernels::Type> Reader::type(const std::string& name, const Json& entry) const {
  const Json* dtype = member(entry, "dtype");
  if (!dtype || !dtype->is_string()) return damaged_at(name, "has no dtype");
  const auto& found = dtype->get_ref<const std::string&>();
  if (found == "F32") return kernels::Type::f32;
  if (found == "F16") return kernels::Type::f16;
  if (found == "BF16") return kernels::Type::bf16;
  return fail(ErrorKind::unsupported, at(name_, place(name)),
              "tensor " + in_quotes(name) + " has type " + in_quotes(found) +
                  ", Fovea reads F32, F16 and BF16 from safetensors",
              "Use the model's unquantised folder, or a GGUF file of it");
}

// Fills in the shape and returns the number of elements, which is bounded by the data's bytes.
Result<std::uint64_t> Reader::shape(TensorInfo& info, const Json& entry) const {
  const Json* sizes = member(entry, "shape");
  if (!sizes || !sizes->is_array()) return damaged_at(info.name, "has no shape");
  if (sizes->size() > most_dimensions) {
    return damaged_at(info.name, "has " + std::to_string(sizes->size()) + " dimensions, expected at most 8");
  }
  std::uint64_t elements = 1;
  for (const Json& entry_size : *sizes) {
    const auto size = unsigned_number(entry_size);
    if (!size || *size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return damaged_at(info.name, "has the shape " + sizes->dump() + ", expected whole numbers");
    }
    if (*size != 0 && elements > std::numeric_limits<std::int64_t>::max() / *size) {
      return damaged_at(info.name, "has the shape " + sizes->dump() + ", which takes more than the file's " +
                                       std::to_string(file_.size()) + " bytes");
    }
    elements *= *size;
    info.shape.push_back(static_cast<std::int64_t>(*size));
  }
  return elements;
}

Result<TensorInfo> Reader::tensor(const std::string& name, const Json& entry) const {
  if (!entry.is_object()) return damaged_at(name, "has no description");
  TensorInfo info;
  info.name = name;
  FOVEA_TRY(info.type, type(name, entry));
  FOVEA_TRY(const std::uint64_t elements, shape(info, entry));
  const Json* offsets = member(entry, "data_offsets");
  const bool pair = offsets && offsets->is_array() && offsets->size() == 2;
  const auto begin = pair ? unsigned_number((*offsets)[0]) : std::nullopt;
  const auto end = pair ? unsigned_number((*offsets)[1]) : std::nullopt;
  if (!begin || !end) return damaged_at(name, "has no data_offsets of two whole numbers");
  if (*begin > *end || *end > data_bytes_) {
    return damaged_at(name, "has the data_offsets " + offsets->dump() + ", the file holds " +
                                std::to_string(data_bytes_) + " bytes of data");
  }
  const auto width = static_cast<std::uint64_t>(kernels::block_shape(info.type).bytes);
  if ((*end - *begin) / width != elements || (*end - *begin) % width != 0) {
    return damaged_at(name, "has " + std::to_string(*end - *begin) +
                                " bytes of data, its shape and type need " + std::to_string(elements) +
                                " times " + std::to_string(width));
  }
  info.offset = data_ + *begin;
  info.bytes = *end - *begin;
  return info;
}

Result<void> Reader::check_coverage(const std::vector<TensorInfo>& tensors) const {
  std::uint64_t expected = data_;
  for (const TensorInfo& info : tensors) {
    if (info.offset != expected) {
      return damaged_at(info.name, "begins at byte " + std::to_string(info.offset - data_) +
                                       " of the data, expected " + std::to_string(expected - data_) +
                                       ", where the one before it ends");
    }
    expected = info.offset + info.bytes;
  }
  if (expected != file_.size()) {
    return damaged(name_, expected,
                   "the tensors end here, the file goes on for " + std::to_string(file_.size() - expected) +
                       " more bytes");
  }
  return {};
}

Result<std::vector<TensorInfo>> Reader::read() {
  FOVEA_CHECK(header());
  if (text_.front() != '{') {
    return damaged(name_, prefix_bytes,
                   "the header begins with " + in_quotes(text_.substr(0, 1)) + ", expected \"{\"");
  }
  FOVEA_TRY(const Json root, parse_json(text_, name_, prefix_bytes, {.depth = 4, .unique_keys = true}));
  std::vector<TensorInfo> tensors;
  tensors.reserve(root.size());
  for (const auto& [name, entry] : root.items()) {
    if (name == "__metadata__") continue;
    FOVEA_TRY(TensorInfo info, tensor(name, entry));
    tensors.push_back(std::move(info));
  }
  std::ranges::sort(tensors, [](const TensorInfo& a, const TensorInfo& b) {
    return std::pair(a.offset, a.bytes) < std::pair(b.offset, b.bytes);
  });
  FOVEA_CHECK(check_coverage(tensors));
  return tensors;
}

}  // namespace

Result<std::vector<TensorInfo>> read_safetensors(std::span<const std::byte> file, const std::string& name) {
  return Reader(file, name).read();
}

}  // namespace fovea::checkpoint
