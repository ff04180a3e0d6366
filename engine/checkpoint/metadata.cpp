#include "engine/checkpoint/metadata.h"

#include <limits>

namespace fovea::checkpoint {
namespace {

constexpr std::uint64_t largest_signed = std::numeric_limits<std::int64_t>::max();

StoredType natural_type(const MetadataValue& value) {
  static constexpr StoredType types[] = {StoredType::boolean, StoredType::i64, StoredType::u64,
                                         StoredType::f64, StoredType::string};
  return types[value.index() % std::size(types)];
}

}  // namespace

std::string_view stored_type_name(StoredType type) {
  static constexpr std::string_view names[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                                               "bool", "string", "array", "u64", "i64", "f64"};
  const auto index = static_cast<std::size_t>(type);
  return index < std::size(names) ? names[index] : "unknown";
}

std::size_t stored_bytes(StoredType type) {
  static constexpr std::size_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  const auto index = static_cast<std::size_t>(type);
  return index < std::size(sizes) ? sizes[index] : 0;
}

const MetadataValue* Metadata::find(std::string_view key) const {
  const auto it = values_.find(key);
  return it == values_.end() ? nullptr : &it->second;
}

std::optional<std::int64_t> Metadata::integer(std::string_view key) const {
  const MetadataValue* value = find(key);
  if (!value) return std::nullopt;
  if (const auto* number = std::get_if<std::int64_t>(value)) return *number;
  const auto* number = std::get_if<std::uint64_t>(value);
  if (!number || *number > largest_signed) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<double> Metadata::number(std::string_view key) const {
  const MetadataValue* value = find(key);
  if (!value) return std::nullopt;
  if (const auto* number = std::get_if<double>(value)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(value)) return static_cast<double>(*number);
  if (const auto* number = std::get_if<std::uint64_t>(value)) return static_cast<double>(*number);
  return std::nullopt;
}

std::optional<bool> Metadata::boolean(std::string_view key) const {
  const MetadataValue* value = find(key);
  const bool* flag = value ? std::get_if<bool>(value) : nullptr;
  return flag ? std::optional(*flag) : std::nullopt;
}

std::optional<std::string_view> Metadata::string(std::string_view key) const {
  const MetadataValue* value = find(key);
  const auto* text = value ? std::get_if<std::string_view>(value) : nullptr;
  return text ? std::optional(*text) : std::nullopt;
}

std::vector<std::int64_t> Metadata::integers(std::string_view key) const {
  const MetadataValue* value = find(key);
  if (!value) return {};
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(value)) return *list;
  const auto* list = std::get_if<std::vector<std::uint64_t>>(value);
  if (!list) return {};
  for (const std::uint64_t number : *list) {
    if (number > largest_signed) return {};
  }
  return {list->begin(), list->end()};
}

const std::vector<std::string_view>* Metadata::strings(std::string_view key) const {
  const MetadataValue* value = find(key);
  return value ? std::get_if<std::vector<std::string_view>>(value) : nullptr;
}

std::vector<double> Metadata::numbers(std::string_view key) const {
  const MetadataValue* value = find(key);
  if (!value) return {};
  if (const auto* list = std::get_if<std::vector<double>>(value)) return *list;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(value)) return {list->begin(), list->end()};
  if (const auto* list = std::get_if<std::vector<std::uint64_t>>(value)) return {list->begin(), list->end()};
  return {};
}

StoredType Metadata::stored_type(std::string_view key) const {
  const auto it = types_.find(key);
  return it == types_.end() ? StoredType::string : it->second;
}

void Metadata::set(std::string key, MetadataValue value) {
  const StoredType type = natural_type(value);
  set(std::move(key), std::move(value), type);
}

void Metadata::set(std::string key, MetadataValue value, StoredType type) {
  types_.insert_or_assign(key, type);
  values_.insert_or_assign(std::move(key), std::move(value));
}

}  // namespace fovea::checkpoint
