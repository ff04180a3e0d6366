#include "engine/checkpoint/gguf_writer.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/checkpoint/describe.h"
#include "engine/core/result.h"

namespace fovea::checkpoint {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
  return (value + step - 1) / step * step;
}

// The part of the file before the tensors' data.
class Header {
 public:
  template <class Number>
  void number(Number value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), bytes, bytes + sizeof value);
  }

  void text(std::string_view value) {
    number<std::uint64_t>(value.size());
    const auto* bytes = reinterpret_cast<const std::byte*>(value.data());
    bytes_.insert(bytes_.end(), bytes, bytes + value.size());
  }

  void pair(std::string_view key, const MetadataValue& value, StoredType type);
  void tensor(const TensorInfo& info);
  const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  template <class Wide>
  void scalar(Wide value, StoredType type);
  void scalar(std::string_view value, StoredType) { text(value); }
  std::vector<std::byte> bytes_;
};

template <class Wide>
void Header::scalar(Wide value, StoredType type) {
  switch (type) {
    case StoredType::u8:
      return number(static_cast<std::uint8_t>(value));
    case StoredType::i8:
      return number(static_cast<std::int8_t>(value));
    case StoredType::u16:
      return number(static_cast<std::uint16_t>(value));
    case StoredType::i16:
      return number(static_cast<std::int16_t>(value));
    case StoredType::u32:
      return number(static_cast<std::uint32_t>(value));
    case StoredType::i32:
      return number(static_cast<std::int32_t>(value));
    case StoredType::u64:
      return number(static_cast<std::uint64_t>(value));
    case StoredType::i64:
      return number(static_cast<std::int64_t>(value));
    case StoredType::f32:
      return number(static_cast<float>(value));
    case StoredType::f64:
      return number(static_cast<double>(value));
    case StoredType::boolean:
      return number(static_cast<std::uint8_t>(value ? 1 : 0));
    case StoredType::string:
    case StoredType::array:
      return;
  }
}

void Header::pair(std::string_view key, const MetadataValue& value, StoredType type) {
  text(key);
  std::visit(
      [&](const auto& content) {
        using Content = std::decay_t<decltype(content)>;
        if constexpr (requires { typename Content::allocator_type; }) {
          number(static_cast<std::uint32_t>(StoredType::array));
          number(static_cast<std::uint32_t>(type));
          number<std::uint64_t>(content.size());
          for (const auto& element : content)
            scalar(static_cast<typename Content::value_type>(element), type);
        } else {
          number(static_cast<std::uint32_t>(type));
          scalar(content, type);
        }
      },
      value);
}

void Header::tensor(const TensorInfo& info) {
  text(info.name);
  number(static_cast<std::uint32_t>(info.shape.size()));
  for (auto it = info.shape.rbegin(); it != info.shape.rend(); ++it)
    number<std::uint64_t>(static_cast<std::uint64_t>(*it));
  number(static_cast<std::uint32_t>(info.type));
  number<std::uint64_t>(info.offset);
}

// Whether a value of this kind can be stored as `type`.
bool storable(const MetadataValue& value, StoredType type) {
  const std::size_t kind = value.index() % 5;  // bool, signed, unsigned, number, string; then their vectors
  switch (type) {
    case StoredType::boolean:
      return kind == 0;
    case StoredType::i8:
    case StoredType::i16:
    case StoredType::i32:
    case StoredType::i64:
      return kind == 1;
    case StoredType::u8:
    case StoredType::u16:
    case StoredType::u32:
    case StoredType::u64:
      return kind == 2;
    case StoredType::f32:
    case StoredType::f64:
      return kind == 3;
    case StoredType::string:
      return kind == 4;
    case StoredType::array:
      return false;
  }
  return false;
}

// Sizes and offsets of the tensors, offsets counted from the beginning of the data. Returns the data's bytes.
Result<std::uint64_t> lay_out(std::vector<TensorInfo>& tensors, std::uint64_t alignment) {
  std::uint64_t offset = 0;
  for (TensorInfo& info : tensors) {
    const kernels::BlockShape block = kernels::block_shape(info.type);
    const bool positive = std::ranges::all_of(info.shape, [](std::int64_t size) { return size > 0; });
    if (!kernels::is_gguf_type(info.type) || info.shape.empty() || info.shape.size() > 4 || !positive ||
        info.shape.back() % block.elements != 0) {
      return fail(phrases::lone_tensor_place(in_quotes(info.name)),
                  errors::shape_not_storable(kernels::type_name(info.type)));
    }
    info.bytes = static_cast<std::uint64_t>(info.elements() / block.elements * block.bytes);
    info.offset = offset;
    offset = round_up(offset + info.bytes, alignment);
  }
  return offset;
}

}  // namespace

Result<GgufWriter> GgufWriter::create(const std::filesystem::path& path, const Metadata& metadata,
                                      std::vector<TensorInfo> tensors) {
  const auto alignment = static_cast<std::uint64_t>(metadata.integer("general.alignment").value_or(32));
  if (alignment < 8 || !std::has_single_bit(alignment)) {
    return fail(phrases::file_place(path), errors::alignment_not_writable());
  }
  FOVEA_TRY(const std::uint64_t data_bytes, lay_out(tensors, alignment));
  Header header;
  header.number<std::uint32_t>(0x46554747);  // "GGUF"
  header.number<std::uint32_t>(3);
  header.number<std::uint64_t>(tensors.size());
  header.number<std::uint64_t>(metadata.all().size());
  for (const auto& [key, value] : metadata.all()) {
    const StoredType type = metadata.stored_type(key);
    if (!storable(value, type)) {
      return fail(phrases::new_key_place(in_quotes(key)), errors::value_not_storable(stored_type_name(type)));
    }
    header.pair(key, value, type);
  }
  for (const TensorInfo& info : tensors) header.tensor(info);
  const std::uint64_t data = round_up(header.bytes().size(), alignment);
  for (TensorInfo& info : tensors) info.offset += data;

  FOVEA_TRY(auto file, AtomicFile::create(path));
  GgufWriter writer(std::move(file), std::move(tensors), alignment, data + data_bytes);
  FOVEA_CHECK(writer.put(header.bytes()));
  FOVEA_CHECK(writer.pad_to(data));
  return writer;
}

Result<void> GgufWriter::put(std::span<const std::byte> bytes) {
  FOVEA_CHECK(file_.write(bytes));
  written_bytes_ += bytes.size();
  return {};
}

Result<void> GgufWriter::pad_to(std::uint64_t offset) {
  const std::vector<std::byte> zeros(offset - written_bytes_);
  return put(zeros);
}

Result<void> GgufWriter::append(std::span<const std::byte> bytes) {
  if (bytes.empty()) return {};
  const std::uint64_t end =
      current_ < tensors_.size() ? tensors_[current_].offset + tensors_[current_].bytes : 0;
  if (written_bytes_ > end || bytes.size() > end - written_bytes_) {
    return fail(phrases::file_place(file_.target()), errors::more_bytes_than_announced());
  }
  FOVEA_CHECK(put(bytes));
  if (written_bytes_ < end) return {};
  ++current_;
  return pad_to(round_up(end, alignment_));
}

Result<void> GgufWriter::finish() {
  if (written_bytes_ != total_bytes_) {
    return fail(phrases::file_place(file_.target()),
                errors::fewer_bytes_than_announced(bytes_of(written_bytes_), bytes_of(total_bytes_)));
  }
  return file_.commit();
}

}  // namespace fovea::checkpoint
