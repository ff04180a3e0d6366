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
constexpr std::uint64_t least_pair_bytes = 8 + 1 + 4 + 1;  // key length, key, type, value
constexpr std::uint64_t least_tensor_bytes =
    8 + 1 + 4 + 8 + 4 + 8;  // name length, name, rank, size, type, offset
constexpr std::uint64_t longest_name_bytes = 65535;
constexpr std::uint32_t max_dimensions = 4;
constexpr std::uint64_t default_alignment = 32;
constexpr std::uint64_t largest_alignment = 1 << 20;
// The largest public vocabularies have a quarter of a million entries. The bound keeps the widened copy of
// small elements (8 bytes for each u8) from outgrowing what a vocabulary needs.
constexpr std::uint64_t max_array_elements = std::uint64_t{1} << 25;

std::string number(std::uint64_t value) {
  return std::to_string(value);
}

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
  Reader(std::span<const std::byte> file, const std::string& name) : file_(file), name_(name) {}

  Result<GgufContents> read();

 private:
  std::uint64_t left() const { return file_.size() - position_; }
  std::unexpected<Error> damaged_here(std::string what) const {
    return damaged(name_, position_, std::move(what));
  }
  std::unexpected<Error> cut_off(std::string_view subject, std::uint64_t needed) const;

  template <class Number>
  Result<Number> scalar(std::string_view subject);
  Result<std::string_view> text(std::string_view subject, std::uint64_t longest);
  Result<void> header();
  Result<void> pair();
  Result<StoredType> type(const std::string& key);
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
  const std::string& name_;
  std::uint64_t position_ = 0;
  std::uint64_t pair_count_ = 0;
  std::uint64_t tensor_count_ = 0;
  std::uint64_t array_elements_ = 0;
  std::uint64_t alignment_field_ = 0;           // where general.alignment's value stands
  std::unordered_set<std::string_view> names_;  // of the tensors so far
  std::vector<std::uint64_t> offset_fields_;    // where each tensor's offset stands, for errors
  GgufContents contents_;
};

std::unexpected<Error> Reader::cut_off(std::string_view subject, std::uint64_t needed) const {
  return damaged_here("the file ends after " + number(left()) + " more bytes where " + std::string(subject) +
                      " needs " + number(needed));
}

template <class Number>
Result<Number> Reader::scalar(std::string_view subject) {
  if (left() < sizeof(Number)) return cut_off(subject, sizeof(Number));
  const Number value = load<Number>(file_.data() + position_);
  position_ += sizeof(Number);
  return value;
}

Result<std::string_view> Reader::text(std::string_view subject, std::uint64_t longest) {
  FOVEA_TRY(const std::uint64_t length, scalar<std::uint64_t>(subject));
  if (length > left() || length > longest) {
    position_ -= sizeof length;
    return damaged_here("the length of " + std::string(subject) + " is " + number(length) + ", at most " +
                        number(std::min(left() - sizeof length, longest)) + " is possible here");
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
    return fail(older ? ErrorKind::unsupported : ErrorKind::format, at(name_, 0),
                older ? "this is a GGML file from before GGUF"
                      : "the file begins with " + in_quotes(start) + ", a GGUF file begins with \"GGUF\"",
                older ? "Get the model as GGUF" : "Name a .gguf file or a folder with config.json");
  }
  position_ = 4;
  FOVEA_TRY(contents_.version, scalar<std::uint32_t>("the version"));
  const std::uint32_t version = contents_.version;
  if (version != 2 && version != 3) {
    const bool big_endian = version != 0 && (version & 0xffff) == 0;
    return fail(
        ErrorKind::unsupported, at(name_, 4),
        big_endian ? "the file is big-endian, Fovea reads little-endian files"
                   : "the GGUF version is " + number(version) + ", Fovea reads 2 and 3",
        big_endian ? "Get the model's little-endian file" : "Convert the model again with current tools");
  }
  FOVEA_TRY(tensor_count_, scalar<std::uint64_t>("the tensor count"));
  FOVEA_TRY(pair_count_, scalar<std::uint64_t>("the number of metadata keys"));
  if (tensor_count_ > left() / least_tensor_bytes) {
    return damaged(name_, 8,
                   "the tensor count is " + number(tensor_count_) + ", the file can hold at most " +
                       number(left() / least_tensor_bytes));
  }
  if (pair_count_ > left() / least_pair_bytes) {
    return damaged(name_, 16,
                   "the number of metadata keys is " + number(pair_count_) + ", the file can hold at most " +
                       number(left() / least_pair_bytes));
  }
  return {};
}

Result<StoredType> Reader::type(const std::string& key) {
  FOVEA_TRY(const std::uint32_t type, scalar<std::uint32_t>("the type of " + key));
  if (type > static_cast<std::uint32_t>(StoredType::f64)) {
    position_ -= sizeof type;
    return damaged_here("the type of " + key + " is " + number(type) + ", GGUF knows 0 to 12");
  }
  return static_cast<StoredType>(type);
}

Result<void> Reader::pair() {
  const std::uint64_t start = position_;
  FOVEA_TRY(const std::string_view key, text("a metadata key", longest_name_bytes));
  if (key.empty()) return damaged(name_, start, "a metadata key is empty");
  const std::string label = in_quotes(key);
  if (contents_.metadata.contains(key)) {
    return damaged(name_, start, "the metadata key " + label + " occurs twice, expected once");
  }
  FOVEA_TRY(StoredType stored, type(label));
  if (key == "general.alignment") alignment_field_ = position_;
  const bool is_array = stored == StoredType::array;
  FOVEA_TRY(MetadataValue content, is_array ? array(label, stored) : value(stored, label));
  contents_.metadata.set(std::string(key), std::move(content), stored);
  return {};
}

Result<MetadataValue> Reader::value(StoredType type, const std::string& key) {
  if (type == StoredType::string) {
    FOVEA_TRY(const std::string_view content, text(key, file_.size()));
    return content;
  }
  const std::uint64_t width = stored_bytes(type);
  if (left() < width) return cut_off(key, width);
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
      return damaged_here("the type of " + key + " has no value");
  }
}

Result<MetadataValue> Reader::array(const std::string& key, StoredType& element) {
  FOVEA_TRY(element, type(key + "'s elements"));
  if (element == StoredType::array) {
    return fail(ErrorKind::unsupported, at(name_, position_ - 4),
                "the metadata key " + key +
                    " is an array of arrays, "
                    "which Fovea does not read",
                "Convert the model again with current tools");
  }
  FOVEA_TRY(const std::uint64_t count, scalar<std::uint64_t>("the length of " + key));
  const std::uint64_t width = element == StoredType::string ? sizeof(std::uint64_t) : stored_bytes(element);
  const std::uint64_t most = std::min(left() / width, max_array_elements - array_elements_);
  if (count > most) {
    position_ -= sizeof count;
    return damaged_here("the array " + key + " has " + number(count) + " elements, at most " + number(most) +
                        " are possible here");
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
  for (std::uint64_t i = 0; i < count; ++i) {
    FOVEA_TRY(const std::string_view element, text(key, file_.size()));
    list.push_back(element);
  }
  return list;
}

Result<std::vector<bool>> Reader::booleans(std::uint64_t count, const std::string& key) {
  std::vector<bool> list(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto byte = std::to_integer<unsigned>(file_[position_]);
    if (byte > 1) return damaged_here(key + " holds the truth value " + number(byte) + ", expected 0 or 1");
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
                   "general.alignment is " + (found ? number(*found) : "not an unsigned number") +
                       ", expected a power of two from 8 to " + number(largest_alignment));
  }
  return *found;
}

Result<kernels::Type> Reader::tensor_type(const std::string& tensor) {
  FOVEA_TRY(const std::uint32_t found, scalar<std::uint32_t>("the type of tensor " + tensor));
  const auto type = static_cast<kernels::Type>(found);
  if (found <= std::numeric_limits<std::uint8_t>::max() && kernels::is_gguf_type(type) &&
      kernels::block_shape(type).elements != 0)
    return type;
  position_ -= sizeof found;
  const std::string_view name = foreign_type_name(found);
  if (name.empty()) {
    return damaged_here("tensor " + tensor + " has the type number " + number(found) +
                        ", which GGUF does not define");
  }
  return fail(
      ErrorKind::unsupported, at(name_, position_),
      "tensor " + tensor + " has type " + std::string(name) + " (" + number(found) +
          "), which Fovea does not read",
      "Use a file of the model in F32, F16, BF16, Q4_0 to Q8_0, Q2_K to Q6_K, IQ4_NL, IQ4_XS or MXFP4");
}

// Size in bytes from shape and type. The product of the dimensions is bounded by the file's size before each
// multiplication: no type takes less than two bits for a weight.
Result<void> Reader::tensor_bytes(TensorInfo& info, const std::string& label) {
  const kernels::BlockShape block = kernels::block_shape(info.type);
  const std::int64_t row = info.shape.back();
  if (row % block.elements != 0) {
    return damaged_here("tensor " + label + " has rows of " + std::to_string(row) + " elements, " +
                        std::string(kernels::type_name(info.type)) + " needs a multiple of " +
                        std::to_string(block.elements));
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
    std::string shape;
    for (const std::int64_t size : info.shape) shape += (shape.empty() ? "" : ", ") + std::to_string(size);
    return damaged_here("tensor " + label + " has the shape [" + shape +
                        "], which takes more than the file's " + number(file_.size()) + " bytes");
  }
  info.bytes = blocks * static_cast<std::uint64_t>(block.bytes);
  return {};
}

Result<TensorInfo> Reader::tensor() {
  TensorInfo info;
  const std::uint64_t start = position_;
  FOVEA_TRY(const std::string_view name, text("a tensor's name", longest_name_bytes));
  if (name.empty()) return damaged(name_, start, "a tensor's name is empty");
  const std::string label = in_quotes(name);
  if (!names_.insert(name).second) {
    return damaged(name_, start, "tensor " + label + " occurs twice, expected once");
  }
  info.name = name;
  FOVEA_TRY(const std::uint32_t rank, scalar<std::uint32_t>("the rank of tensor " + label));
  if (rank == 0 || rank > max_dimensions) {
    position_ -= sizeof rank;
    return damaged_here("tensor " + label + " has " + number(rank) + " dimensions, expected 1 to 4");
  }
  info.shape.resize(rank);
  for (std::uint32_t i = rank; i-- > 0;) {
    FOVEA_TRY(const std::uint64_t size, scalar<std::uint64_t>("the shape of tensor " + label));
    if (size == 0 || size > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      position_ -= sizeof size;
      return damaged_here("tensor " + label + " has a dimension of " + number(size) + ", expected 1 or more");
    }
    info.shape[i] = static_cast<std::int64_t>(size);
  }
  FOVEA_TRY(info.type, tensor_type(label));
  FOVEA_CHECK(tensor_bytes(info, label));
  offset_fields_.push_back(position_);
  FOVEA_TRY(info.offset, scalar<std::uint64_t>("the offset of tensor " + label));
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
                     "tensor " + in_quotes(info.name) + " begins at " + number(info.offset) +
                         " of the data, expected a multiple of " + number(alignment));
    }
    const std::uint64_t room = file_.size() > data ? file_.size() - data : 0;
    if (info.offset > room || info.bytes > room - info.offset) {
      return damaged(name_, field,
                     "tensor " + in_quotes(info.name) + " takes " + number(info.bytes) + " bytes at " +
                         number(info.offset) + " of the data, the file holds " + number(room));
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
                     "tensor " + in_quotes(after.name) + " begins at file offset " + number(after.offset) +
                         ", inside tensor " + in_quotes(before.name) + " which ends at " +
                         number(before.offset + before.bytes));
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

Result<GgufContents> read_gguf(std::span<const std::byte> file, const std::string& name) {
  return Reader(file, name).read();
}

}  // namespace fovea::checkpoint
