#include "engine/models/keys.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>
#include <variant>

#include "engine/checkpoint/checkpoint.h"

namespace fovea::models {
namespace {

using checkpoint::MetadataValue;
using nlohmann::json;

Phrase describe(const json& value) {
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return phrases::config_found(std::move(text));
}

Phrase describe(const MetadataValue& value) {
  return std::visit(
      [](const auto& v) -> Phrase {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::string_view>) {
          return phrases::config_found('"' + std::string(v.substr(0, 60)) + '"');
        } else if constexpr (std::is_same_v<T, bool>) {
          return phrases::config_found(v ? "true" : "false");
        } else if constexpr (std::is_arithmetic_v<T>) {
          return phrases::config_found(v);
        } else {
          return phrases::config_list(v.size());
        }
      },
      value);
}

std::optional<std::int64_t> to_integer(const MetadataValue& value) {
  if (const auto* i = std::get_if<std::int64_t>(&value)) return *i;
  if (const auto* u = std::get_if<std::uint64_t>(&value)) {
    if (*u <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return static_cast<std::int64_t>(*u);
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> to_integer(const json& value) {
  if (value.is_number_unsigned()) {
    const auto u = value.get<std::uint64_t>();
    if (u > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return std::nullopt;
    return static_cast<std::int64_t>(u);
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  return std::nullopt;
}

std::optional<double> to_number(const MetadataValue& value) {
  if (const auto* d = std::get_if<double>(&value)) return *d;
  if (const auto* i = std::get_if<std::int64_t>(&value)) return static_cast<double>(*i);
  if (const auto* u = std::get_if<std::uint64_t>(&value)) return static_cast<double>(*u);
  return std::nullopt;
}

}  // namespace

Keys::Keys(const checkpoint::Checkpoint& checkpoint) {
  if (checkpoint.format() == checkpoint::Format::gguf) {
    file_ = checkpoint.path();
    metadata_ = &checkpoint.metadata();
    prefix_ = std::string(metadata_->string("general.architecture").value_or("")) + ".";
  } else {
    file_ = checkpoint.path() / "config.json";
    json_ = &checkpoint.config();
    if (const std::optional<Keys> text = object("text_config")) {
      around_ = std::exchange(json_, text->json_);
      prefix_ = text->prefix_;
    }
  }
}

Keys Keys::whole() const {
  if (around_ == nullptr) return *this;
  Keys all;
  all.file_ = file_;
  all.json_ = around_;
  return all;
}

std::string Keys::gguf_name(const Key& key) const {
  return key.gguf.starts_with("general.") ? std::string(key.gguf) : prefix_ + std::string(key.gguf);
}

const json* Keys::json_value(const Key& key) const {
  for (const json* object : {json_, around_}) {
    if (object == nullptr || !object->is_object()) continue;
    for (const std::string_view name : {key.json, key.json_other}) {
      if (name.empty()) continue;
      const auto it = object->find(name);
      if (it != object->end() && !it->is_null()) return &*it;
    }
  }
  return nullptr;
}

bool Keys::has(const Key& key) const {
  if (is_gguf()) return !key.gguf.empty() && metadata_->contains(gguf_name(key));
  return json_value(key) != nullptr;
}

Result<std::vector<std::int64_t>> Keys::integers(const Key& key, std::int64_t count, std::int64_t least,
                                                 std::int64_t most) const {
  std::vector<std::int64_t> found;
  if (!is_gguf() || !has(key)) return found;
  const auto within = [&](auto value) {
    return std::in_range<std::int64_t>(value) && std::cmp_greater_equal(value, least) &&
           std::cmp_less_equal(value, most);
  };
  const auto read = [&](const auto& list) -> Result<std::vector<std::int64_t>> {
    if (std::ssize(list) != count) return wrong(errors::config_list_length(name(key), list.size(), count));
    for (const auto value : list) {
      if (!within(value)) return wrong(errors::config_list_range(name(key), least, most));
      found.push_back(static_cast<std::int64_t>(value));
    }
    return found;
  };
  const MetadataValue& value = *metadata_->find(gguf_name(key));
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&value)) return read(*list);
  if (const auto* list = std::get_if<std::vector<std::uint64_t>>(&value)) return read(*list);
  FOVEA_TRY(const std::int64_t one, integer(key, least, most));
  found.assign(static_cast<std::size_t>(count), one);
  return found;
}

const std::vector<bool>* Keys::booleans(const Key& key) const {
  const MetadataValue* value = is_gguf() ? metadata_->find(gguf_name(key)) : nullptr;
  return value ? std::get_if<std::vector<bool>>(value) : nullptr;
}

bool Keys::mentions(std::string_view json_name) const {
  return json_ != nullptr && json_->contains(json_name);
}

std::string Keys::name(const Key& key) const {
  if (is_gguf()) return gguf_name(key);
  const auto there = [&](std::string_view name) {
    return !name.empty() && json_->contains(name) && !(*json_)[name].is_null();
  };
  return prefix_ + std::string(!there(key.json) && there(key.json_other) ? key.json_other : key.json);
}

std::unexpected<Error> Keys::wrong(Error error) const {
  const bool damaged = error.kind == ErrorKind::format;
  error.advice = damaged ? phrases::damaged_or_unknown_model() : phrases::cannot_run_this_model();
  return fail(phrases::file_place(file_), std::move(error));
}

Result<std::optional<std::int64_t>> Keys::find_integer(const Key& key) const {
  if (!has(key)) return std::nullopt;
  const auto convert = [&](const auto& value) -> Result<std::optional<std::int64_t>> {
    if (const auto found = to_integer(value)) return found;
    return wrong(errors::config_type(name(key), describe(value), phrases::config_whole_number()));
  };
  return is_gguf() ? convert(*metadata_->find(gguf_name(key))) : convert(*json_value(key));
}

Result<std::optional<double>> Keys::find_number(const Key& key) const {
  if (!has(key)) return std::nullopt;
  if (is_gguf()) {
    const MetadataValue& value = *metadata_->find(gguf_name(key));
    if (const auto found = to_number(value)) return found;
    return wrong(errors::config_type(name(key), describe(value), phrases::a_number()));
  }
  const json& value = *json_value(key);
  if (value.is_number()) return value.get<double>();
  return wrong(errors::config_type(name(key), describe(value), phrases::a_number()));
}

Result<std::int64_t> Keys::integer_or(const Key& key, std::int64_t otherwise, std::int64_t least,
                                      std::int64_t most) const {
  FOVEA_TRY(const std::optional<std::int64_t> found, find_integer(key));
  if (!found) return otherwise;
  if (*found < least || *found > most) {
    return wrong(errors::config_range(name(key), *found, least, most));
  }
  return *found;
}

Result<std::int64_t> Keys::integer(const Key& key, std::int64_t least, std::int64_t most) const {
  if (!has(key)) return wrong(errors::config_missing(name(key), least, most));
  return integer_or(key, 0, least, most);
}

Result<double> Keys::number_or(const Key& key, double otherwise, double least, double most) const {
  FOVEA_TRY(const std::optional<double> found, find_number(key));
  if (!found) return otherwise;
  if (!(*found >= least && *found <= most)) {
    return wrong(errors::config_range(name(key), *found, least, most));
  }
  return *found;
}

Result<double> Keys::number(const Key& key, double least, double most) const {
  if (!has(key)) return wrong(errors::config_missing(name(key), least, most));
  return number_or(key, 0, least, most);
}

Result<bool> Keys::boolean_or(const Key& key, bool otherwise) const {
  if (!has(key)) return otherwise;
  if (is_gguf()) {
    const MetadataValue& value = *metadata_->find(gguf_name(key));
    if (const auto* found = std::get_if<bool>(&value)) return *found;
    return wrong(errors::config_type(name(key), describe(value), phrases::true_or_false()));
  }
  const json& value = *json_value(key);
  if (value.is_boolean()) return value.get<bool>();
  return wrong(errors::config_type(name(key), describe(value), phrases::true_or_false()));
}

Result<std::string> Keys::string_or(const Key& key, std::string_view otherwise) const {
  if (!has(key)) return std::string(otherwise);
  if (is_gguf()) {
    const MetadataValue& value = *metadata_->find(gguf_name(key));
    if (const auto* found = std::get_if<std::string_view>(&value)) return std::string(*found);
    return wrong(errors::config_type(name(key), describe(value), phrases::config_text()));
  }
  const json& value = *json_value(key);
  if (value.is_string()) return value.get<std::string>();
  return wrong(errors::config_type(name(key), describe(value), phrases::config_text()));
}

std::optional<Keys> Keys::object(std::string_view json_name) const {
  if (is_gguf() || !json_->is_object()) return std::nullopt;
  const auto it = json_->find(json_name);
  if (it == json_->end() || !it->is_object() || it->empty()) return std::nullopt;
  Keys inner;
  inner.file_ = file_;
  inner.prefix_ = prefix_ + std::string(json_name) + ".";
  inner.json_ = &*it;
  return inner;
}

const json* Keys::list(std::string_view json_name) const {
  if (is_gguf()) return nullptr;
  const json* found = json_value({"", json_name});
  return found && found->is_array() ? found : nullptr;
}

}  // namespace fovea::models
