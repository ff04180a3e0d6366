// Fields of untrusted JSON objects, as values or errors.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/core/result.h"

namespace fovea::text {

inline Result<std::string> string_field(const nlohmann::json& object, const char* key,
                                        const std::string& where) {
  const auto it = object.find(key);
  if (it == object.end() || !it->is_string())
    return fail(ErrorKind::format, where, std::string("\"") + key + "\" is not a string");
  return it->get<std::string>();
}

inline Result<std::string> string_field_or(const nlohmann::json& object, const char* key,
                                           std::string otherwise, const std::string& where) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return otherwise;
  return string_field(object, key, where);
}

inline Result<bool> flag_field(const nlohmann::json& object, const char* key, bool otherwise,
                               const std::string& where) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return otherwise;
  if (!it->is_boolean())
    return fail(ErrorKind::format, where, std::string("\"") + key + "\" is not true or false");
  return it->get<bool>();
}

inline Result<std::int64_t> count_field(const nlohmann::json& object, const char* key, std::int64_t otherwise,
                                        std::int64_t limit, const std::string& where) {
  const auto it = object.find(key);
  if (it == object.end() || it->is_null()) return otherwise;
  if (!it->is_number_unsigned() || it->get<std::uint64_t>() > static_cast<std::uint64_t>(limit))
    return fail(ErrorKind::format, where,
                std::string("\"") + key + "\" is not a number from 0 to " + std::to_string(limit));
  return it->get<std::int64_t>();
}

// The "type" of a step, "" for null.
inline Result<std::string> type_field(const nlohmann::json& step, const std::string& where) {
  if (step.is_null()) return std::string();
  if (!step.is_object()) return fail(ErrorKind::format, where, "not an object");
  return string_field(step, "type", where);
}

}  // namespace fovea::text
