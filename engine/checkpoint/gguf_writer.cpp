#include "engine/checkpoint/gguf_writer.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include "engine/checkpoint/describe.h"
#include "engine/core/result.h"

namespace fovea::checkpoint {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
  return (value + step - 1) / step * step;
}

std::unexpected<Error> system_error(const std::filesystem::path& path, const char* action) {
  const int code = errno;
  return fail(ErrorKind::io, path.string(), std::string(action) + ": " + std::strerror(code),
              code == ENOSPC ? "Free some space on the disk" : "Check that the folder can be written to");
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

// Sizes and places of the tensors, offsets counted from the beginning of the data. Returns the data's bytes.
Result<std::uint64_t> place(std::vector<TensorInfo>& tensors, std::uint64_t alignment) {
  std::uint64_t offset = 0;
  for (TensorInfo& info : tensors) {
    const kernels::BlockShape block = kernels::block_shape(info.type);
    const bool positive = std::ranges::all_of(info.shape, [](std::int64_t size) { return size > 0; });
    if (!kernels::is_gguf_type(info.type) || info.shape.empty() || info.shape.size() > 4 || !positive ||
        info.shape.back() % block.elements != 0) {
      return fail(ErrorKind::invalid, "tensor " + in_quotes(info.name),
                  "its shape cannot be stored as " + std::string(kernels::type_name(info.type)));
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
  GgufWriter writer(path, std::move(tensors));
  writer.alignment_ = static_cast<std::uint64_t>(metadata.integer("general.alignment").value_or(32));
  if (writer.alignment_ < 8 || !std::has_single_bit(writer.alignment_)) {
    return fail(ErrorKind::invalid, path.string(), "general.alignment is not a power of two from 8");
  }
  FOVEA_TRY(const std::uint64_t data_bytes, place(writer.tensors_, writer.alignment_));
  Header header;
  header.number<std::uint32_t>(0x46554747);  // "GGUF"
  header.number<std::uint32_t>(3);
  header.number<std::uint64_t>(writer.tensors_.size());
  header.number<std::uint64_t>(metadata.all().size());
  for (const auto& [key, value] : metadata.all()) {
    const StoredType type = metadata.stored_type(key);
    if (!storable(value, type)) {
      return fail(ErrorKind::invalid, "key " + in_quotes(key),
                  "its value cannot be stored as " + std::string(stored_type_name(type)));
    }
    header.pair(key, value, type);
  }
  for (const TensorInfo& info : writer.tensors_) header.tensor(info);
  const std::uint64_t data = round_up(header.bytes().size(), writer.alignment_);
  for (TensorInfo& info : writer.tensors_) info.offset += data;
  writer.total_bytes_ = data + data_bytes;

  writer.descriptor_ = ::open(writer.incomplete_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (writer.descriptor_ < 0) return system_error(writer.incomplete_, "cannot create the file");
  FOVEA_CHECK(writer.put(header.bytes()));
  FOVEA_CHECK(writer.pad_to(data));
  return writer;
}

GgufWriter::GgufWriter(std::filesystem::path path, std::vector<TensorInfo> tensors)
    : path_(std::move(path)), incomplete_(path_.string() + ".incomplete"), tensors_(std::move(tensors)) {}

GgufWriter::GgufWriter(GgufWriter&& other) noexcept
    : path_(std::move(other.path_)),
      incomplete_(std::move(other.incomplete_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      tensors_(std::move(other.tensors_)),
      current_(other.current_),
      alignment_(other.alignment_),
      written_bytes_(other.written_bytes_),
      total_bytes_(other.total_bytes_) {}

GgufWriter::~GgufWriter() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(incomplete_.c_str());
}

Result<void> GgufWriter::put(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error(incomplete_, "cannot write to the file");
    written_bytes_ += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
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
  if (descriptor_ < 0 || written_bytes_ > end || bytes.size() > end - written_bytes_) {
    return fail(ErrorKind::invalid, path_.string(), "more bytes were given than the tensors announced take");
  }
  FOVEA_CHECK(put(bytes));
  if (written_bytes_ < end) return {};
  ++current_;
  return pad_to(round_up(end, alignment_));
}

Result<void> GgufWriter::finish() {
  if (descriptor_ < 0 || written_bytes_ != total_bytes_) {
    return fail(
        ErrorKind::invalid, path_.string(),
        std::to_string(written_bytes_) + " bytes were written, expected " + std::to_string(total_bytes_));
  }
  if (::fsync(descriptor_) != 0) return system_error(incomplete_, "cannot bring the file to the disk");
  if (::rename(incomplete_.c_str(), path_.c_str()) != 0)
    return system_error(path_, "cannot name the finished file");
  ::close(std::exchange(descriptor_, -1));
  // The name, too, must survive a power cut.
  const std::filesystem::path folder = path_.has_parent_path() ? path_.parent_path() : ".";
  const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    ::fsync(directory);
    ::close(directory);
  }
  return {};
}

}  // namespace fovea::checkpoint
