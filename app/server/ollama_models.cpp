#include <charconv>
#include <ctime>
#include <utility>

#include "app/server/ollama.h"

namespace fovea::app {
namespace {

// "135M", "30.5B"
std::string parameter_size(std::int64_t parameters) {
  const bool is_large = parameters >= 1'000'000'000;
  const double value = static_cast<double>(parameters) / (is_large ? 1e9 : 1e6);
  char text[32];
  const auto [end, error] =
      std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, is_large ? 1 : 0);
  return std::string(text, error == std::errc() ? end : text) + (is_large ? "B" : "M");
}

Json details(const ModelInfo& info) {
  std::string type;
  std::int64_t most = -1;
  for (const auto& [name, bytes] : info.bytes_by_type)
    if (bytes > most) most = bytes, type = name;
  const std::string format = lower(info.format.substr(0, info.format.find(' ')));
  return {{"parent_model", ""},
          {"format", format},
          {"family", info.architecture},
          {"families", {info.architecture}},
          {"parameter_size", parameter_size(info.parameters)},
          {"quantization_level", type}};
}

// "2026-01-31T12:00:00Z"
std::string modified_text(std::time_t seconds) {
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace

Json ollama_tags(ServedModels& models, bool only_loaded) {
  Json list = Json::array();
  for (const ServedEntry& entry : models.list()) {
    if (only_loaded && !entry.is_loaded) continue;
    const auto info = models.inspect(entry.name);
    if (!info) continue;  // nothing that can be loaded
    list.push_back({{"name", entry.name},
                    {"model", entry.name},
                    {"modified_at", modified_text(entry.modified)},
                    {"size", entry.file_bytes},
                    {"digest", ""},
                    {"details", details(*info)}});
  }
  return {{"models", std::move(list)}};
}

Result<Json> ollama_show(ServedModels& models, const Json& body) {
  std::optional<Error> error;
  JsonFields fields(body, error);
  std::string name = fields.text("model").value_or("");
  const std::string older = fields.text("name").value_or("");
  if (name.empty()) name = older;
  fields.finish(
      {.honoured = {}, .without_effect = {"verbose"}, .refused = {"system", "template", "options"}});
  if (error) return std::unexpected(*std::move(error));
  const auto info = models.inspect(name);
  if (!info) return std::unexpected(info.error());
  Json capabilities = {"completion"};
  if (info->has_chat_template) capabilities.push_back("tools");
  if (info->can_switch_thinking || info->has_effort) capabilities.push_back("thinking");
  const std::string& family = info->architecture;
  Json facts = {{"general.architecture", family},
                {"general.basename", info->name},
                {"general.parameter_count", info->parameters},
                {family + ".context_length", info->context},
                {family + ".embedding_length", info->hidden},
                {family + ".block_count", info->layers},
                {family + ".attention.head_count", info->heads},
                {family + ".attention.head_count_kv", info->kv_heads}};
  if (info->experts > 0) {
    facts[family + ".expert_count"] = info->experts;
    facts[family + ".expert_used_count"] = info->experts_used;
  }
  return Json{{"modelfile", ""},
              {"parameters", ""},
              {"template", ""},
              {"details", details(*info)},
              {"model_info", std::move(facts)},
              {"capabilities", std::move(capabilities)}};
}

}  // namespace fovea::app
