// Fields of untrusted JSON objects, as values or errors.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/core/result.h"
#include "engine/text/errors.h"

namespace fovea::text {

inline Result<std::string> string_field(const nlohmann::json& object, const char* key, const Phrase& where) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_string()) return fail(where, errors::tokenizer_not_string(key));
  return it->get<std::string>();
}

inline Result<std::string> string_field_or(const nlohmann::json& object, const char* key,
                                           std::string otherwise, const Phrase& where) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return otherwise;
  return string_field(object, key, where);
}

inline Result<bool> flag_field(const nlohmann::json& object, const char* key, bool otherwise,
                               const Phrase& where) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return otherwise;
  if (!it->is_boolean()) return fail(where, errors::tokenizer_not_flag(key));
  return it->get<bool>();
}

inline Result<std::int64_t> count_field(const nlohmann::json& object, const char* key, std::int64_t otherwise,
                                        std::int64_t limit, const Phrase& where) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return otherwise;
  if (!it->is_number_unsigned() || it->get<std::uint64_t>() > static_cast<std::uint64_t>(limit))
    return fail(where, errors::tokenizer_not_count(key, limit));
  return it->get<std::int64_t>();
}

// The "type" of a step, "" for null.
inline Result<std::string> type_field(const nlohmann::json& step, const Phrase& where) {
  if (step.is_null()) return std::string();
  if (!step.is_object()) return fail(where, errors::tokenizer_not_object());
  return string_field(step, "type", where);
}

}  // namespace fovea::text
