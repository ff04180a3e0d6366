#include "app/library/model_info_json.h"

#include <nlohmann/json.hpp>

namespace fovea::app {
namespace {

using nlohmann::ordered_json;

// Every field under its key, in the order that is printed.
template <class Info, class Visit>
void visit_fields(Info& info, const Visit& visit) {
  visit("path", info.path);
  visit("name", info.name);
  visit("format", info.format);
  visit("architecture", info.architecture);
  visit("layers", info.layers);
  visit("hidden", info.hidden);
  visit("heads", info.heads);
  visit("kv_heads", info.kv_heads);
  visit("head_dim", info.head_dim);
  visit("vocabulary", info.vocabulary);
  visit("context", info.context);
  visit("extended_context", info.extended_context);
  visit("experts", info.experts);
  visit("experts_used", info.experts_used);
  visit("parameters", info.parameters);
  visit("parameters_active", info.parameters_active);
  visit("bytes", info.bytes);
  visit("bytes_by_type", info.bytes_by_type);
  visit("chat_template", info.has_chat_template);
  visit("can_switch_thinking", info.can_switch_thinking);
  visit("has_effort", info.has_effort);
}

void read(const ordered_json& value, std::string& field) {
  if (value.is_string()) field = value.get<std::string>();
}

void read(const ordered_json& value, std::filesystem::path& field) {
  if (value.is_string()) field = value.get<std::string>();
}

void read(const ordered_json& value, std::int64_t& field) {
  if (value.is_number_integer()) field = value.get<std::int64_t>();
}

void read(const ordered_json& value, bool& field) {
  if (value.is_boolean()) field = value.get<bool>();
}

void read(const ordered_json& value, std::map<std::string, std::int64_t>& field) {
  if (!value.is_object()) return;
  for (const auto& [key, number] : value.items())
    if (number.is_number_integer()) field[key] = number.get<std::int64_t>();
}

}  // namespace

ordered_json as_json(const ModelInfo& info) {
  ordered_json object = ordered_json::object();
  visit_fields(info, [&object](const char* key, const auto& field) {
    if constexpr (requires { field.native(); }) {
      object[key] = field.string();
    } else {
      object[key] = field;
    }
  });
  object["conversion"] = english(info.conversion);
  return object;
}

ModelInfo as_model_info(const ordered_json& object) {
  ModelInfo info;
  visit_fields(info, [&object](const char* key, auto& field) {
    if (const auto found = object.find(key); found != object.end()) read(*found, field);
  });
  return info;
}

}  // namespace fovea::app
