#include "app/server/llama_server.h"

#include <utility>

#include "app/files/files.h"
#include "app/library/devices_json.h"
#include "app/server/chat_parts.h"
#include "app/server/errors.h"
#include "app/server/openai_chat.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

// A token that is a part of a character has its bytes.
Json piece_json(const std::string& piece) {
  if (invalid_utf8(piece) == std::string::npos) return piece;
  Json bytes = Json::array();
  for (const char c : piece) bytes.push_back(static_cast<unsigned char>(c));
  return bytes;
}

}  // namespace

const ParameterKinds& tokenize_parameters() {
  static const ParameterKinds kinds{
      .honoured = {"model", "content", "add_special", "parse_special", "with_pieces"},
      .without_effect = {},
      .refused = {}};
  return kinds;
}

const ParameterKinds& detokenize_parameters() {
  static const ParameterKinds kinds{.honoured = {"model", "tokens"}, .without_effect = {}, .refused = {}};
  return kinds;
}

const ParameterKinds& apply_template_parameters() {
  static const ParameterKinds kinds{
      .honoured = {"model", "messages", "tools"}, .without_effect = {}, .refused = {"chat_template_kwargs"}};
  return kinds;
}

Json props_json(const ServedModel* model, int slots, const std::string& version) {
  Json json = {{"total_slots", slots}, {"build_info", "fovea " + version}};
  if (model == nullptr) return json;
  const SamplingSettings s = model->sampling();
  json["model_alias"] = model->name();
  json["model_path"] = model->info().path.filename().string();
  json["devices"] = devices_json(model->plan(), model->info().layers);
  json["default_generation_settings"] = {{"n_ctx", model->context()},
                                         {"params",
                                          {{"temperature", s.temperature},
                                           {"top_k", s.top_k},
                                           {"top_p", s.top_p},
                                           {"min_p", s.min_p},
                                           {"repeat_penalty", s.repetition_penalty},
                                           {"repeat_last_n", s.penalty_window},
                                           {"presence_penalty", s.presence_penalty},
                                           {"frequency_penalty", s.frequency_penalty}}}};
  return json;
}

Result<Json> tokenize(ServedModel& model, const Json& body) {
  const TextModel& text = model.text();
  std::optional<Error> error;
  JsonFields fields(body, error);
  fields.text("model");
  const std::string content = fields.needed_text("content");
  const bool add = fields.boolean("add_special").value_or(false);
  const bool parse = fields.boolean("parse_special").value_or(true);
  const bool pieces = fields.boolean("with_pieces").value_or(false);
  fields.finish(tokenize_parameters());
  if (error) return std::unexpected(*std::move(error));
  Json tokens = Json::array();
  for (const TokenId token : text.encode(content, {.add_special = add, .parse_special = parse})) {
    if (pieces) {
      tokens.push_back({{"id", token}, {"piece", piece_json(text.piece(token))}});
    } else {
      tokens.push_back(token);
    }
  }
  return Json{{"tokens", std::move(tokens)}};
}

Result<Json> detokenize(ServedModel& model, const Json& body) {
  const TextModel& text = model.text();
  std::optional<Error> error;
  JsonFields fields(body, error);
  fields.text("model");
  const Json* const list = fields.list("tokens");
  if (list == nullptr) fields.wrong("tokens", phrases::server_a_list());
  fields.finish(detokenize_parameters());
  std::vector<TokenId> tokens;
  for (std::size_t i = 0; list != nullptr && i < list->size() && !error; ++i) {
    const Json& each = (*list)[i];
    const bool is_token = each.is_number_integer() && each >= 0 && each < text.vocabulary();
    if (is_token) tokens.push_back(each.get<TokenId>());
    if (!is_token)
      fields.wrong("tokens[" + std::to_string(i) + "]",
                   phrases::server_whole_number(0, text.vocabulary() - 1));
  }
  if (error) return std::unexpected(*std::move(error));
  return Json{{"content", text.decode(tokens, true)}};
}

Result<Json> apply_template(ServedModel& model, const Json& body) {
  std::optional<Error> error;
  JsonFields fields(body, error);
  fields.text("model");
  ChatRequest request;
  const Json* const messages = fields.list("messages");
  if (messages == nullptr || messages->empty()) fields.wrong("messages", phrases::server_not_empty());
  if (messages != nullptr) read_openai_messages(*messages, error, request.generate.messages);
  read_openai_tools(fields, request);
  fields.finish(apply_template_parameters());
  if (error) return std::unexpected(*std::move(error));
  FOVEA_TRY(const std::vector<TokenId> prompt, model.prompt(request.generate));
  return Json{{"prompt", model.text().decode(prompt, true)}};
}

}  // namespace fovea::app
