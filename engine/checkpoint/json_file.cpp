#include "engine/checkpoint/json_file.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "engine/checkpoint/describe.h"
#include "engine/core/result.h"

namespace fovea::checkpoint {
namespace {

using Json = nlohmann::json;

// Builds the value as the parser walks the text, and stops it at the first thing out of bounds.
class Builder {
 public:
  explicit Builder(const JsonLimits& limits) : limits_(limits) {}

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(std::int64_t value) { return put(value); }
  bool number_unsigned(std::uint64_t value) { return put(value); }
  bool number_float(double value, const std::string&) { return put(value); }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(Json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(Json::object()); }
  bool start_array(std::size_t) { return open(Json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    const auto [it, is_new] = stack_.back()->get_ref<Json::object_t&>().try_emplace(name, nullptr);
    if (!is_new && limits_.unique_keys) {
      problem_ = errors::json_key_twice(in_quotes(name));
      return false;
    }
    slot_ = &it->second;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token, const Json::exception&) {
    position_ = position > 0 ? position - 1 : 0;  // the parser counts the bytes it has read
    problem_ = errors::json_not_valid(in_quotes(token));
    return false;
  }

  Json take() { return std::move(root_); }
  const Error& problem() const { return problem_; }
  std::size_t position() const { return position_; }

 private:
  template <class Value>
  Json* insert(Value&& value) {
    if (stack_.empty()) return &(root_ = std::forward<Value>(value));
    if (stack_.back()->is_object()) return &(*slot_ = std::forward<Value>(value));
    auto& list = stack_.back()->get_ref<Json::array_t&>();
    return &list.emplace_back(std::forward<Value>(value));
  }

  template <class Value>
  bool put(Value&& value) {
    insert(std::forward<Value>(value));
    return true;
  }

  bool open(Json container) {
    if (static_cast<int>(stack_.size()) >= limits_.depth) {
      problem_ = errors::json_too_deep(limits_.depth);
      return false;
    }
    stack_.push_back(insert(std::move(container)));
    return true;
  }

  bool close() {
    stack_.pop_back();
    return true;
  }

  JsonLimits limits_;
  Json root_;
  std::vector<Json*> stack_;  // open containers; none moves while it is open
  Json* slot_ = nullptr;      // the value of the last key
  Error problem_;
  std::size_t position_ = 0;
};

}  // namespace

Result<Json> parse_json(std::string_view text, const std::filesystem::path& file, std::size_t base,
                        JsonLimits limits) {
  Builder builder(limits);
  if (Json::sax_parse(text, &builder)) return builder.take();
  return damaged(file, base + builder.position(), builder.problem());
}

}  // namespace fovea::checkpoint
