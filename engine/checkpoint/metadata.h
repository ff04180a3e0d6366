// GGUF's key-value section. Strings are views into the mapped file.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace fovea::checkpoint {

// How a file stores a value; the numbers are GGUF's.
enum class StoredType : std::uint8_t {
  u8 = 0,
  i8 = 1,
  u16 = 2,
  i16 = 3,
  u32 = 4,
  i32 = 5,
  f32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  u64 = 10,
  i64 = 11,
  f64 = 12,
};
std::string_view stored_type_name(StoredType type);  // "u8", "string" …
std::size_t stored_bytes(StoredType type);           // of one scalar; 0 for strings and arrays

// Every integer is widened to 64 bits and every number to double, which loses nothing.
using MetadataValue = std::variant<bool, std::int64_t, std::uint64_t, double, std::string_view,
                                   std::vector<bool>, std::vector<std::int64_t>, std::vector<std::uint64_t>,
                                   std::vector<double>, std::vector<std::string_view>>;

class Metadata {
 public:
  bool contains(std::string_view key) const { return values_.contains(key); }
  const MetadataValue* find(std::string_view key) const;
  // Nothing when the key is missing or of another kind; integers convert when they fit.
  std::optional<std::int64_t> integer(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string_view> string(std::string_view key) const;
  std::vector<std::int64_t> integers(std::string_view key) const;  // empty when one of them does not fit
  const std::vector<std::string_view>* strings(std::string_view key) const;
  std::vector<double> numbers(std::string_view key) const;
  // The type in the file: of the value, or of an array's elements.
  StoredType stored_type(std::string_view key) const;

  const std::map<std::string, MetadataValue, std::less<>>& all() const { return values_; }
  // Without a type: u64, i64, f64, bool or string, as the value is.
  void set(std::string key, MetadataValue value);
  void set(std::string key, MetadataValue value, StoredType type);

 private:
  std::map<std::string, MetadataValue, std::less<>> values_;
  std::map<std::string, StoredType, std::less<>> types_;
};

}  // namespace fovea::checkpoint
