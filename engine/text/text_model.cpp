#include "engine/text/text_model.h"

#include <array>
#include <string>
#include <utility>

#include "engine/checkpoint/checkpoint.h"
#include "engine/core/json_depth.h"
#include "engine/core/result.h"
#include "engine/text/errors.h"

namespace fovea {
namespace {

using nlohmann::ordered_json;
using text::ChatTemplate;
using text::Tokenizer;

constexpr std::array special_names = {"bos_token", "eos_token", "unk_token", "sep_token",
                                      "pad_token", "cls_token", "mask_token"};

// tokenizer_config.json spells a token as a text or as an object with the text.
void add_configured(const nlohmann::json& config, ordered_json& tokens) {
  if (!config.is_object()) return;
  const auto text_of = [](const nlohmann::json& token) {
    if (token.is_object() && token.contains("content")) return token["content"];
    return token;
  };
  for (const char* const name : special_names) {
    if (!config.contains(name)) continue;
    if (const nlohmann::json text = text_of(config[name]); text.is_string())
      tokens[name] = text.get<std::string>();
  }
  const auto more = config.find("additional_special_tokens");
  if (more == config.end() || !more->is_array() || more->empty()) return;
  ordered_json list = ordered_json::array();
  for (const nlohmann::json& token : *more)
    if (const nlohmann::json text = text_of(token); text.is_string()) list.push_back(text.get<std::string>());
  tokens["additional_special_tokens"] = std::move(list);
}

void add_from_metadata(const checkpoint::Metadata& metadata, const Tokenizer& tokenizer,
                       ordered_json& tokens) {
  if (tokenizer.bos() >= 0) tokens["bos_token"] = std::string(tokenizer.name(tokenizer.bos()));
  if (tokenizer.eos() >= 0) tokens["eos_token"] = std::string(tokenizer.name(tokenizer.eos()));
  constexpr std::pair<const char*, const char*> others[] = {{"unk_token", "tokenizer.ggml.unknown_token_id"},
                                                            {"pad_token", "tokenizer.ggml.padding_token_id"}};
  for (const auto& [name, key] : others) {
    const auto id = metadata.integer(key);
    if (id && *id >= 0 && *id < tokenizer.vocabulary())
      tokens[name] = std::string(tokenizer.name(static_cast<TokenId>(*id)));
  }
}

Result<ordered_json> parse(std::string_view source, const Phrase& where) {
  if (json_depth(source) > max_json_depth) return fail(where, errors::given_nested(max_json_depth));
  ordered_json value = ordered_json::parse(source, nullptr, false);
  if (value.is_discarded()) return fail(where, errors::given_no_json());
  return value;
}

// What Hugging Face's apply_chat_template passes.
Result<ordered_json> variables_for(const ordered_json& special_tokens, std::string_view messages,
                                   bool add_generation_prompt, std::string_view tools,
                                   std::string_view more) {
  ordered_json variables = ordered_json::object();
  FOVEA_TRY(variables["messages"], parse(messages, phrases::given_messages()));
  if (!variables["messages"].is_array())
    return fail(phrases::given_messages(), errors::given_messages_no_list());
  variables["tools"] = nullptr;
  if (!tools.empty()) {
    FOVEA_TRY(variables["tools"], parse(tools, phrases::given_tools()));
    if (!variables["tools"].is_array() && !variables["tools"].is_null())
      return fail(phrases::given_tools(), errors::given_tools_no_list());
  }
  variables["documents"] = nullptr;
  variables["add_generation_prompt"] = add_generation_prompt;
  for (const auto& [name, value] : special_tokens.items()) variables[name] = value;
  if (more.empty()) return variables;
  FOVEA_TRY(const ordered_json own, parse(more, phrases::given_variables()));
  if (!own.is_object()) return fail(phrases::given_variables(), errors::given_variables_no_object());
  for (const auto& [name, value] : own.items()) variables[name] = value;
  return variables;
}

Result<ChatTemplate> parse_template(std::string_view source, Phrase where) {
  return ChatTemplate::parse(source, where.empty() ? phrases::chat_template() : std::move(where));
}

}  // namespace

TextModel::TextModel(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TextModel::~TextModel() = default;

Result<std::shared_ptr<const TextModel>> TextModel::open(const std::filesystem::path& model) {
  FOVEA_TRY(const checkpoint::Checkpoint checkpoint, checkpoint::Checkpoint::open(model));
  return text::open_text_model(checkpoint);
}

Result<std::shared_ptr<const TextModel>> text::open_text_model(const checkpoint::Checkpoint& checkpoint) {
  FOVEA_TRY(Tokenizer tokenizer, Tokenizer::open(checkpoint));
  ordered_json special_tokens = ordered_json::object();
  if (checkpoint.format() == checkpoint::Format::gguf) {
    add_from_metadata(checkpoint.metadata(), tokenizer, special_tokens);
  } else {
    add_configured(checkpoint.tokenizer_config(), special_tokens);
  }
  std::optional<Result<ChatTemplate>> chat_template;
  if (!checkpoint.chat_template().empty())
    chat_template =
        ChatTemplate::parse(checkpoint.chat_template(), phrases::model_chat_template(checkpoint.path()));
  return std::make_shared<const TextModel>(std::make_unique<TextModel::Parts>(
      TextModel::Parts{std::move(tokenizer), std::move(chat_template), std::move(special_tokens)}));
}

std::vector<TokenId> TextModel::encode(std::string_view text, EncodeOptions options) const {
  return parts_->tokenizer.encode(text, options);
}

std::optional<TokenId> TextModel::begin() const {
  return parts_->tokenizer.begin();
}

std::optional<TokenId> TextModel::before_text() const {
  const Tokenizer& tokenizer = parts_->tokenizer;
  const TokenId token = tokenizer.bos() >= 0 ? tokenizer.bos() : tokenizer.eos();
  return token >= 0 ? std::optional(token) : std::nullopt;
}

std::string TextModel::decode(std::span<const TokenId> tokens, bool show_special) const {
  return parts_->tokenizer.decode(tokens, show_special);
}

std::string TextModel::piece(TokenId token) const {
  return parts_->tokenizer.piece(token);
}
std::int64_t TextModel::vocabulary() const {
  return parts_->tokenizer.vocabulary();
}
bool TextModel::has_chat_template() const {
  return parts_->chat_template.has_value();
}

Result<std::string> TextModel::render(std::string_view messages, bool add_generation_prompt,
                                      std::string_view tools, std::string_view variables) const {
  if (!parts_->chat_template) return fail(phrases::chat_template(), errors::no_chat_template());
  if (!*parts_->chat_template) return std::unexpected(parts_->chat_template->error());
  FOVEA_TRY(const ordered_json all,
            variables_for(parts_->special_tokens, messages, add_generation_prompt, tools, variables));
  return (*parts_->chat_template)->render(all);
}

Result<std::string> TextModel::render_with(std::string_view source, std::string_view messages,
                                           bool add_generation_prompt, std::string_view tools,
                                           std::string_view variables, Phrase where) const {
  FOVEA_TRY(const ChatTemplate chat_template, parse_template(source, std::move(where)));
  FOVEA_TRY(const ordered_json all,
            variables_for(parts_->special_tokens, messages, add_generation_prompt, tools, variables));
  return chat_template.render(all);
}

Result<std::string> render_template(std::string_view source, std::string_view messages,
                                    bool add_generation_prompt, std::string_view tools,
                                    std::string_view variables, Phrase where) {
  FOVEA_TRY(const ChatTemplate chat_template, parse_template(source, std::move(where)));
  const ordered_json empty = {{"bos_token", ""}, {"eos_token", ""}};
  FOVEA_TRY(const ordered_json all, variables_for(empty, messages, add_generation_prompt, tools, variables));
  return chat_template.render(all);
}

}  // namespace fovea
