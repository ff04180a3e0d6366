#include "engine/checkpoint/gguf_reader.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "engine/checkpoint/describe.h"
#include "engine/core/result.h"
#include "kernels/api/types.h"

static_assert(std::endian::native == std::endian::little, "files are read as the machine stores numbers");

namespace fovea::checkpoint {
namespace {

// The least that an entry of each kind takes in the file: what bounds a count before anything is allocated.
constexpr std::uint64_t min_pair_bytes = 8 + 1 + 4 + 1;  // key length, key, type, value
constexpr std::uint64_t min_tensor_bytes =
    8 + 1 + 4 + 8 + 4 + 8;  // name length, name, rank, size, type, offset
constexpr std::uint64_t longest_name_bytes = 65535;
constexpr std::uint32_t max_dimensions = 4;
constexpr std::uint64_t default_alignment = 32;
constexpr std::uint64_t largest_alignment = 1 << 20;
// The largest public vocabularies have a quarter of a million entries. The bound keeps the widened copy of
// small elements (8 bytes for each u8) from outgrowing what a vocabulary needs.
constexpr std::uint64_t max_array_elements = std::uint64_t{1} << 25;

// The name of a ggml type number that Fovea has no kernel for; empty for a number nobody has given out.
std::string_view foreign_type_name(std::uint32_t type) {
  switch (type) {
    case 4:
      return "Q4_2";
    case 5:
      return "Q4_3";
    case 9:
      return "Q8_1";
    case 15:
      return "Q8_K";
    case 16:
      return "IQ2_XXS";
    case 17:
      return "IQ2_XS";
    case 18:
      return "IQ3_XXS";
    case 19:
      return "IQ1_S";
    case 21:
      return "IQ3_S";
    case 22:
      return "IQ2_S";
    case 24:
      return "I8";
    case 25:
      return "I16";
    case 26:
      return "I32";
    case 27:
      return "I64";
    case 28:
      return "F64";
    case 29:
      return "IQ1_M";
    case 31:
      return "Q4_0_4_4";
    case 32:
      return "Q4_0_4_8";
    case 33:
      return "Q4_0_8_8";
    case 34:
      return "TQ1_0";
    case 35:
      return "TQ2_0";
    case 36:
      return "IQ4_NL_4_4";
    case 37:
      return "IQ4_NL_4_8";
    case 38:
      return "IQ4_NL_8_8";
    case 40:
      return "NVFP4";
    case 41:
      return "Q1_0";
    case 42:
      return "Q2_0";
    default:
      return {};
  }
}

template <class Number>
Number load(const std::byte* from) {
  Number value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

class Reader {
 public:
  Reader(std::span<const std::byte> file, const std::filesystem::path& name) : file_(file), name_(name) {}

  Result<GgufContents> read();

 private:
  std::uint64_t left() const { return file_.size() - position_; }
  std::unexpected<Error> damaged_here(Error error) const {
    return damaged(name_, position_, std::move(error));
  }
  std::unexpected<Error> cut_off(const Phrase& subject, std::uint64_t needed) const;

  template <class Number>
  Result<Number> scalar(const Phrase& subject);
  Result<std::string_view> text(const Phrase& subject, std::uint64_t longest);
  Result<void> header();
  Result<void> pair();
  Result<StoredType> type(const Phrase& subject);
  Result<MetadataValue> value(StoredType type, const std::string& key);
  Result<MetadataValue> array(const std::string& key, StoredType& element);
  template <class Stored, class Wide>
  std::vector<Wide> numbers(std::uint64_t count);
  Result<std::vector<std::string_view>> strings(std::uint64_t count, const std::string& key);
  Result<std::vector<bool>> booleans(std::uint64_t count, const std::string& key);
  Result<std::uint64_t> alignment() const;
  Result<TensorInfo> tensor();
  Result<kernels::Type> tensor_type(const std::string& tensor);
  Result<void> tensor_bytes(TensorInfo& info, const std::string& label);
  Result<void> lay_out(std::uint64_t alignment);
  Result<void> check_overlaps() const;

  std::span<const std::byte> file_;
  const std::filesystem::path& name_;
  std::uint64_t position_ = 0;
  std::uint64_t pair_count_ = 0;
  std::uint64_t tensor_count_ = 0;
  std::uint64_t array_elements_ = 0;
  std::uint64_t alignment_field_ = 0;           // where general.alignment's value stands
  std::unordered_set<std::string_view> names_;  // of the tensors so far
  std::vector<std::uint64_t> offset_fields_;    // where each tensor's offset stands, for errors
  GgufContents contents_;
};

std::unexpected<Error> Reader::cut_off(const Phrase& subject, std::uint64_t needed) const {
  return damaged_here(errors::gguf_cut_off(left(), subject, needed));
}

template <class Number>
Result<Number> Reader::scalar(const Phrase& subject) {
  if (left() < sizeof(Number)) return cut_off(subject, sizeof(Number));
  const Number value = load<Number>(file_.data() + position_);
  position_ += sizeof(Number);
  return value;
}

Result<std::string_view> Reader::text(const Phrase& subject, std::uint64_t longest) {
  FOVEA_TRY(const std::uint64_t length, scalar<std::uint64_t>(subject));
  if (length > left() || length > longest) {
    position_ -= sizeof length;
    return damaged_here(
        errors::gguf_length(subject, length, std::min<std::uint64_t>(left() - sizeof length, longest)));
  }
  const auto* data = reinterpret_cast<const char*>(file_.data() + position_);
  position_ += length;
  return std::string_view(data, length);
}

Result<void> Reader::header() {
  if (file_.size() < 4 || std::memcmp(file_.data(), "GGUF", 4) != 0) {
    const std::string_view start(reinterpret_cast<const char*>(file_.data()),
                                 std::min<std::size_t>(file_.size(), 4));
    const bool older = start == "tjgg" || start == "lmgg" || start == "fmgg";
    return fail(phrases::offset_place(name_, 0),
                older ? errors::before_gguf() : errors::gguf_magic(in_quotes(start)));
  }
  position_ = 4;
  FOVEA_TRY(contents_.version, scalar<std::uint32_t>(phrases::gguf_version()));
  const std::uint32_t version = contents_.version;
  if (version != 2 && version != 3) {
    const bool big_endian = version != 0 && (version & 0xffff) == 0;
    return fail(phrases::offset_place(name_, 4),
                big_endian ? errors::gguf_big_endian() : errors::gguf_other_version(version));
  }
  FOVEA_TRY(tensor_count_, scalar<std::uint64_t>(phrases::gguf_tensor_count()));
  FOVEA_TRY(pair_count_, scalar<std::uint64_t>(phrases::gguf_key_count()));
  if (tensor_count_ > left() / min_tensor_bytes) {
    return damaged(
        name_, 8,
        errors::gguf_too_many(phrases::gguf_tensor_count(), tensor_count_, left() / min_tensor_bytes));
  }
  if (pair_count_ > left() / min_pair_bytes) {
    return damaged(name_, 16,
                   errors::gguf_too_many(phrases::gguf_key_count(), pair_count_, left() / min_pair_bytes));
  }
  return {};
}

Result<StoredType> Reader::type(const Phrase& subject) {
  FOVEA_TRY(const std::uint32_t type, scalar<std::uint32_t>(subject));
  if (type > static_cast<std::uint32_t>(StoredType::f64)) {
    position_ -= sizeof type;
    return damaged_here(errors::gguf_value_type(subject, type));
  }
  return static_cast<StoredType>(type);
}

Result<void> Reader::pair() {
  const std::uint64_t start = position_;
  FOVEA_TRY(const std::string_view key, text(phrases::gguf_key(), longest_name_bytes));
  if (key.empty()) return damaged(name_, start, errors::gguf_key_empty());
  const std::string label = in_quotes(key);
  if (contents_.metadata.contains(key)) {
    return damaged(name_, start, errors::gguf_key_twice(label));
  }
  FOVEA_TRY(StoredType stored, type(phrases::gguf_type_of(label)));
  if (key == "general.alignment") alignment_field_ = position_;
  const bool is_array = stored == StoredType::array;
  FOVEA_TRY(MetadataValue content, is_array ? array(label, stored) : value(stored, label));
  contents_.metadata.set(std::string(key), std::move(content), stored);
  return {};
}

Result<MetadataValue> Reader::value(StoredType type, const std::string& key) {
  if (type == StoredType::string) {
    FOVEA_TRY(const std::string_view content, text(phrases::gguf_value(key), file_.size()));
    return content;
  }
  const std::uint64_t width = stored_bytes(type);
  if (left() < width) return cut_off(phrases::gguf_value(key), width);
  switch (type) {
    case StoredType::boolean: {
      FOVEA_TRY(const std::vector<bool> flag, booleans(1, key));
      return MetadataValue(static_cast<bool>(flag[0]));
    }
    case StoredType::u8:
      return numbers<std::uint8_t, std::uint64_t>(1)[0];
    case StoredType::u16:
      return numbers<std::uint16_t, std::uint64_t>(1)[0];
    case StoredType::u32:
      return numbers<std::uint32_t, std::uint64_t>(1)[0];
    case StoredType::u64:
      return numbers<std::uint64_t, std::uint64_t>(1)[0];
    case StoredType::i8:
      return numbers<std::int8_t, std::int64_t>(1)[0];
    case StoredType::i16:
      return numbers<std::int16_t, std::int64_t>(1)[0];
    case StoredType::i32:
      return numbers<std::int32_t, std::int64_t>(1)[0];
    case StoredType::i64:
      return numbers<std::int64_t, std::int64_t>(1)[0];
    case StoredType::f32:
      return numbers<float, double>(1)[0];
    case StoredType::f64:
      return numbers<double, double>(1)[0];
    default:
      return damaged_here(errors::gguf_type_without_value(key));
  }
}

Result<MetadataValue> Reader::array(const std::string& key, StoredType& element) {
  FOVEA_TRY(element, type(phrases::gguf_type_of_elements(key)));
  if (element == StoredType::array) {
    return fail(phrases::offset_place(name_, position_ - 4), errors::gguf_array_of_arrays(key));
  }
  FOVEA_TRY(const std::uint64_t count, scalar<std::uint64_t>(phrases::gguf_length_of(key)));
  const std::uint64_t width = element == StoredType::string ? sizeof(std::uint64_t) : stored_bytes(element);
  const std::uint64_t most = std::min(left() / width, max_array_elements - array_elements_);
  if (count > most) {
    position_ -= sizeof count;
    return damaged_here(errors::gguf_array_length(key, count, most));
  }
  array_elements_ += count;
  switch (element) {
    case StoredType::boolean:
      return booleans(count, key);
    case StoredType::string:
      return strings(count, key);
    case StoredType::u8:
      return numbers<std::uint8_t, std::uint64_t>(count);
    case StoredType::u16:
      return numbers<std::uint16_t, std::uint64_t>(count);
    case StoredType::u32:
      return numbers<std::uint32_t, std::uint64_t>(count);
    case StoredType::u64:
      return numbers<std::uint64_t, std::uint64_t>(count);
    case StoredType::i8:
      return numbers<std::int8_t, std::int64_t>(count);
    case StoredType::i16:
      return numbers<std::int16_t, std::int64_t>(count);
    case StoredType::i32:
      return numbers<std::int32_t, std::int64_t>(count);
    case StoredType::i64:
      return numbers<std::int64_t, std::int64_t>(count);
    case StoredType::f32:
      return numbers<float, double>(count);
    default:
      return numbers<double, double>(count);
  }
}

// The caller has checked that the file holds them.
template <class Stored, class Wide>
std::vector<Wide> Reader::numbers(std::uint64_t count) {
  std::vector<Wide> list(count);
  const std::byte* from = file_.data() + position_;
  for (std::uint64_t i = 0; i < count; ++i)
    list[i] = static_cast<Wide>(load<Stored>(from + i * sizeof(Stored)));
  position_ += count * sizeof(Stored);
  return list;
}

Result<std::vector<std::string_view>> Reader::strings(std::uint64_t count, const std::string& key) {
  std::vector<std::string_view> list;
  list.reserve(count);
  const Phrase subject = phrases::gguf_value(key);
  for (std::uint64_t i = 0; i < count; ++i) {
    FOVEA_TRY(const std::string_view element, text(subject, file_.size()));
    list.push_back(element);
  }
  return list;
}

Result<std::vector<bool>> Reader::booleans(std::uint64_t count, const std::string& key) {
  std::vector<bool> list(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto byte = std::to_integer<unsigned>(file_[position_]);
    if (byte > 1) return damaged_here(errors::gguf_truth_value(key, byte));
    list[i] = byte == 1;
    ++position_;
  }
  return list;
}

Result<std::uint64_t> Reader::alignment() const {
  const MetadataValue* value = contents_.metadata.find("general.alignment");
  if (!value) return default_alignment;
  const auto* found = std::get_if<std::uint64_t>(value);
  if (!found || *found < 8 || *found > largest_alignment || !std::has_single_bit(*found)) {
    return damaged(name_, alignment_field_,
                   found ? errors::gguf_alignment(*found, largest_alignment)
                         : errors::gguf_alignment_no_number(largest_alignment));
  }
  return *found;
}

Result<kernels::Type> Reader::tensor_type(const std::string& tensor) {
  FOVEA_TRY(const std::uint32_t found, scalar<std::uint32_t>(phrases::gguf_tensor_type(tensor)));
  const auto type = static_cast<kernels::Type>(found);
  if (found <= std::numeric_limits<std::uint8_t>::max() && kernels::is_gguf_type(type) &&
      kernels::block_shape(type).elements != 0)
    return type;
  position_ -= sizeof found;
  const std::string_view name = foreign_type_name(found);
  if (name.empty()) return damaged_here(errors::gguf_undefined_type(tensor, found));
  return fail(phrases::offset_place(name_, position_), errors::gguf_foreign_type(tensor, name, found));
}

// Size in bytes from shape and type. The product of the dimensions is bounded by the file's size before each
// multiplication: no type takes less than two bits for a weight.
Result<void> Reader::tensor_bytes(TensorInfo& info, const std::string& label) {
  const kernels::BlockShape block = kernels::block_shape(info.type);
  const std::int64_t row = info.shape.back();
  if (row % block.elements != 0) {
    return damaged_here(errors::gguf_row_length(label, row, kernels::type_name(info.type), block.elements));
  }
  const std::uint64_t most = file_.size() / static_cast<std::uint64_t>(block.bytes);  // blocks
  std::uint64_t blocks = static_cast<std::uint64_t>(row / block.elements);
  bool fits = blocks <= most;
  for (std::size_t i = 0; fits && i + 1 < info.shape.size(); ++i) {
    const auto size = static_cast<std::uint64_t>(info.shape[i]);
    fits = size <= most / blocks;
    blocks *= fits ? size : 1;
  }
  if (!fits) {
    return damaged_here(errors::gguf_shape_too_large(label, info.shape, Bytes{std::ssize(file_)}));
  }
  info.bytes = blocks * static_cast<std::uint64_t>(block.bytes);
  return {};
}

Result<TensorInfo> Reader::tensor() {
  TensorInfo info;
  const std::uint64_t start = position_;
  FOVEA_TRY(const std::string_view name, text(phrases::gguf_tensor_name(), longest_name_bytes));
  if (name.empty()) return damaged(name_, start, errors::gguf_tensor_name_empty());
  const std::string label = in_quotes(name);
  if (!names_.insert(name).second) {
    return damaged(name_, start, errors::gguf_tensor_twice(label));
  }
  info.name = name;
  FOVEA_TRY(const std::uint32_t rank, scalar<std::uint32_t>(phrases::gguf_tensor_rank(label)));
  if (rank == 0 || rank > max_dimensions) {
    position_ -= sizeof rank;
    return damaged_here(errors::gguf_dimensions(label, rank));
  }
  info.shape.resize(rank);
  const Phrase shape = phrases::gguf_tensor_shape(label);
  for (std::uint32_t i = rank; i-- > 0;) {
    FOVEA_TRY(const std::uint64_t size, scalar<std::uint64_t>(shape));
    if (size == 0 || size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      position_ -= sizeof size;
      return damaged_here(errors::gguf_dimension(label, size));
    }
    info.shape[i] = static_cast<std::int64_t>(size);
  }
  FOVEA_TRY(info.type, tensor_type(label));
  FOVEA_CHECK(tensor_bytes(info, label));
  offset_fields_.push_back(position_);
  FOVEA_TRY(info.offset, scalar<std::uint64_t>(phrases::gguf_tensor_offset(label)));
  return info;
}

// Turns offsets in the data section into offsets in the file.
Result<void> Reader::lay_out(std::uint64_t alignment) {
  const std::uint64_t data = (position_ + alignment - 1) / alignment * alignment;
  for (std::size_t i = 0; i < contents_.tensors.size(); ++i) {
    TensorInfo& info = contents_.tensors[i];
    const std::uint64_t field = offset_fields_[i];
    if (info.offset % alignment != 0) {
      return damaged(name_, field,
                     errors::gguf_tensor_alignment(in_quotes(info.name), info.offset, alignment));
    }
    const std::uint64_t room = file_.size() > data ? file_.size() - data : 0;
    if (info.offset > room || info.bytes > room - info.offset) {
      return damaged(name_, field,
                     errors::gguf_tensor_outside(in_quotes(info.name), bytes_of(info.bytes), info.offset,
                                                 bytes_of(room)));
    }
    info.offset += data;
  }
  return check_overlaps();
}

Result<void> Reader::check_overlaps() const {
  std::vector<std::size_t> order(contents_.tensors.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(contents_.tensors[i].offset, i); });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const TensorInfo& before = contents_.tensors[order[i - 1]];
    const TensorInfo& after = contents_.tensors[order[i]];
    if (after.offset < before.offset + before.bytes) {
      return damaged(name_, offset_fields_[order[i]],
                     errors::gguf_tensors_overlap(in_quotes(after.name), after.offset, in_quotes(before.name),
                                                  before.offset + before.bytes));
    }
  }
  return {};
}

Result<GgufContents> Reader::read() {
  FOVEA_CHECK(header());
  for (std::uint64_t i = 0; i < pair_count_; ++i) FOVEA_CHECK(pair());
  FOVEA_TRY(const std::uint64_t step, alignment());
  for (std::uint64_t i = 0; i < tensor_count_; ++i) {
    FOVEA_TRY(TensorInfo info, tensor());
    contents_.tensors.push_back(std::move(info));
  }
  FOVEA_CHECK(lay_out(step));
  return std::move(contents_);
}

}  // namespace

Result<GgufContents> read_gguf(std::span<const std::byte> file, const std::filesystem::path& name) {
  return Reader(file, name).read();
}

}  // namespace fovea::checkpoint
