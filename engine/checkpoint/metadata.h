// GGUF's key-value section. Strings and arrays are views into the mapped file where that is possible.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fovea::checkpoint {

using MetadataValue =
    std::variant<bool, std::int64_t, std::uint64_t, double, std::string_view, std::vector<bool>,
                 std::vector<std::int64_t>, std::vector<std::uint64_t>, std::vector<double>,
                 std::vector<std::string_view>>;

class Metadata {
 public:
  bool contains(std::string_view key) const { return values_.contains(key); }
  const MetadataValue* find(std::string_view key) const {
    const auto it = values_.find(key);
    return it == values_.end() ? nullptr : &it->second;
  }
  // Nothing when the key is missing or of another kind; integers convert when they fit.
  std::optional<std::int64_t> integer(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::string_view> string(std::string_view key) const;
  std::vector<std::int64_t> integers(std::string_view key) const;
  const std::vector<std::string_view>* strings(std::string_view key) const;
  std::vector<double> numbers(std::string_view key) const;

  const std::map<std::string, MetadataValue, std::less<>>& all() const { return values_; }
  void set(std::string key, MetadataValue value) { values_.insert_or_assign(std::move(key), std::move(value)); }

 private:
  std::map<std::string, MetadataValue, std::less<>> values_;
};

}  // namespace fovea::checkpoint
