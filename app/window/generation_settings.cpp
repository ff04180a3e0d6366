#include "app/window/generation_settings.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

namespace fovea::app {
namespace {

using Json = nlohmann::json;

Json object_of(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  return json.is_object() ? json : Json::object();
}

// The shortest decimal number that is this float: 0.6, not 0.60000002384.
double decimal(float value) {
  char text[32];
  const auto end = std::to_chars(std::begin(text), std::end(text), value).ptr;
  double number = value;
  std::from_chars(std::begin(text), end, number);
  return number;
}

// A number that the type holds; any other is as none.
template <class T>
void read(const Json& json, const char* key, std::optional<T>& value) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number()) return;
  if constexpr (std::is_floating_point_v<T>) {
    value = found->get<T>();
  } else {
    const auto take = [&value](auto number) {
      if (std::in_range<T>(number)) value = static_cast<T>(number);
    };
    if (found->is_number_unsigned()) return take(found->get<std::uint64_t>());
    if (found->is_number_integer()) take(found->get<std::int64_t>());
  }
}

template <class T>
void write(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

}  // namespace

ui::ChatSettingsView read_generation_settings(const std::string& json) {
  const Json object = object_of(json);
  ui::ChatSettingsView settings;
  read(object, "temperature", settings.temperature);
  read(object, "top_p", settings.top_p);
  read(object, "min_p", settings.min_p);
  read(object, "repetition_penalty", settings.repetition_penalty);
  read(object, "dry_multiplier", settings.dry_multiplier);
  read(object, "top_k", settings.top_k);
  read(object, "max_tokens", settings.max_tokens);
  read(object, "seed", settings.seed);
  const auto thinking = object.find("thinking");
  if (thinking != object.end() && thinking->is_boolean()) settings.thinking = thinking->get<bool>();
  const auto effort = object.find("effort");
  if (effort != object.end() && (*effort == "low" || *effort == "medium" || *effort == "high"))
    settings.effort = QString::fromStdString(effort->get<std::string>());
  const auto as_json = object.find("as_json");
  settings.as_json = as_json != object.end() && as_json->is_boolean() && as_json->get<bool>();
  const auto schema = object.find("schema");
  if (schema != object.end() && schema->is_string())
    settings.schema = QString::fromStdString(schema->get<std::string>());
  const auto leave_out = object.find("leave_out_oldest");
  settings.leave_out_oldest = leave_out != object.end() && leave_out->is_boolean() && leave_out->get<bool>();
  return settings;
}

std::string write_generation_settings(const ui::ChatSettingsView& settings) {
  Json json = Json::object();
  write(json, "temperature", settings.temperature);
  write(json, "top_p", settings.top_p);
  write(json, "min_p", settings.min_p);
  write(json, "repetition_penalty", settings.repetition_penalty);
  write(json, "dry_multiplier", settings.dry_multiplier);
  write(json, "top_k", settings.top_k);
  write(json, "max_tokens", settings.max_tokens);
  write(json, "seed", settings.seed);
  write(json, "thinking", settings.thinking);
  if (!settings.effort.isEmpty()) json["effort"] = settings.effort.toStdString();
  if (settings.as_json) json["as_json"] = true;
  if (!settings.schema.isEmpty()) json["schema"] = settings.schema.toStdString();
  if (settings.leave_out_oldest) json["leave_out_oldest"] = true;
  return json.empty() ? std::string() : json.dump();
}

ui::ChatSettingsView with_general(ui::ChatSettingsView settings, const Settings& general) {
  const auto fill = [](auto& own, const auto& usual) {
    if (own || !usual) return;
    if constexpr (std::is_same_v<decltype(own), std::optional<int>&>) {
      own = static_cast<int>(std::min<std::int64_t>(*usual, std::numeric_limits<int>::max()));
    } else {
      own = *usual;
    }
  };
  fill(settings.temperature, general.temperature);
  fill(settings.top_p, general.top_p);
  fill(settings.min_p, general.min_p);
  fill(settings.repetition_penalty, general.repetition_penalty);
  fill(settings.top_k, general.top_k);
  fill(settings.max_tokens, general.max_tokens);
  return settings;
}

void apply(const ui::ChatSettingsView& settings, GenerateRequest& request) {
  SamplingSettings& sampling = request.sampling;
  if (settings.temperature) sampling.temperature = static_cast<float>(*settings.temperature);
  if (settings.top_p) sampling.top_p = static_cast<float>(*settings.top_p);
  if (settings.min_p) sampling.min_p = static_cast<float>(*settings.min_p);
  if (settings.repetition_penalty)
    sampling.repetition_penalty = static_cast<float>(*settings.repetition_penalty);
  if (settings.dry_multiplier) sampling.dry_multiplier = static_cast<float>(*settings.dry_multiplier);
  if (settings.top_k) sampling.top_k = *settings.top_k;
  if (settings.max_tokens) request.max_tokens = *settings.max_tokens;
  if (settings.seed) sampling.seed = *settings.seed;
  if (settings.thinking) request.thinking = settings.thinking;
  if (!settings.effort.isEmpty()) request.effort = settings.effort.toStdString();
  if (settings.as_json && settings.schema.isEmpty()) request.form = {.kind = AnswerForm::Kind::json};
  if (settings.as_json && !settings.schema.isEmpty())
    request.form = {.kind = AnswerForm::Kind::json_schema, .text = settings.schema.toStdString()};
  if (settings.leave_out_oldest) request.overflow = ContextOverflow::drop_oldest_turns;
}

void leave_out_unknown(const ModelInfo& info, GenerateRequest& request) {
  if (!info.can_switch_thinking) request.thinking.reset();
  if (!info.has_effort) request.effort.clear();
}

ui::ChatSettingsView view_of(const GenerateRequest& request) {
  ui::ChatSettingsView view;
  view.temperature = decimal(request.sampling.temperature);
  view.top_p = decimal(request.sampling.top_p);
  view.min_p = decimal(request.sampling.min_p);
  view.repetition_penalty = decimal(request.sampling.repetition_penalty);
  view.dry_multiplier = decimal(request.sampling.dry_multiplier);
  view.top_k = request.sampling.top_k;
  if (request.max_tokens >= 0) view.max_tokens = request.max_tokens;
  view.thinking = request.thinking;
  view.effort = QString::fromStdString(request.effort);
  view.as_json =
      request.form.kind == AnswerForm::Kind::json || request.form.kind == AnswerForm::Kind::json_schema;
  if (request.form.kind == AnswerForm::Kind::json_schema)
    view.schema = QString::fromStdString(request.form.text);
  view.leave_out_oldest = request.overflow == ContextOverflow::drop_oldest_turns;
  return view;
}

std::string effective_settings(const GenerateRequest& request) {
  Json json = object_of(write_generation_settings(view_of(request)));
  const SamplingSettings& sampling = request.sampling;
  json["presence_penalty"] = decimal(sampling.presence_penalty);
  json["frequency_penalty"] = decimal(sampling.frequency_penalty);
  json["penalty_window"] = sampling.penalty_window;
  json["dry_base"] = decimal(sampling.dry_base);
  json["dry_allowed_length"] = sampling.dry_allowed_length;
  json["dry_window"] = sampling.dry_window;
  return json.dump();
}

std::string timings_json(const GenerateResult& result) {
  const Timings& times = result.timings;
  Json json{{"prompt_tokens", times.prompt_tokens},
            {"reused_tokens", times.reused_tokens},
            {"prefill_seconds", times.prefill_seconds},
            {"tokens", times.generated_tokens},
            {"decode_seconds", times.decode_seconds}};
  if (result.bits_per_use > 0) json["bits_per_use"] = result.bits_per_use;
  if (result.quality_kept) json["quality_kept"] = *result.quality_kept;
  if (result.joules) json["joules"] = *result.joules;
  return json.dump();
}

KeptTimings read_timings(const std::string& json) {
  const Json object = object_of(json);
  std::optional<std::int64_t> tokens;
  std::optional<double> decode, prefill;
  read(object, "tokens", tokens);
  read(object, "decode_seconds", decode);
  read(object, "prefill_seconds", prefill);
  KeptTimings kept;
  kept.tokens = tokens.value_or(0);
  if (decode.value_or(0) > 0) kept.tokens_per_second = static_cast<double>(kept.tokens) / *decode;
  kept.ttft_seconds = prefill.value_or(0);
  kept.decode_seconds = decode.value_or(0);
  read(object, "prompt_tokens", kept.prompt_tokens);
  read(object, "bits_per_use", kept.bits_per_use);
  read(object, "quality_kept", kept.quality_kept);
  read(object, "joules", kept.joules);
  return kept;
}

}  // namespace fovea::app
