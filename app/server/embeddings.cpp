#include "app/server/embeddings.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "app/server/errors.h"
#include "app/server/ollama.h"
#include "engine/core/log.h"
#include "engine/core/result.h"

namespace fovea::app {
namespace {

using Clock = std::chrono::steady_clock;
using Input = decltype(EmbeddingRequest::input);

constexpr std::size_t max_texts = 2048;  // as OpenAI has it

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

bool is_ids(const Json& list) {
  return list.is_array() && !list.empty() && std::ranges::all_of(list, [](const Json& each) {
           return each.is_number_integer() && each >= 0 && each <= INT32_MAX;
         });
}

// A text, a list of them, a list of tokens, or a list of such lists.
void read_input(JsonFields& fields, bool takes_tokens, Input& into) {
  const Json* const input = fields.take("input");
  const auto add = [&](const Json& one) {
    const bool is_text = one.is_string();
    if (is_text) into.emplace_back(one.get<std::string>());
    if (!is_text && takes_tokens && is_ids(one)) into.emplace_back(one.get<std::vector<TokenId>>());
    return is_text || (takes_tokens && is_ids(one));
  };
  const Phrase expected =
      takes_tokens ? phrases::server_texts_or_tokens(max_texts) : phrases::server_texts(max_texts);
  if (input == nullptr) return fields.wrong("input", phrases::server_there());
  if (add(*input)) return;
  if (!input->is_array() || input->size() > max_texts || !std::ranges::all_of(*input, add))
    fields.wrong("input", expected);
}

void read_keep_alive(JsonFields& fields, EmbeddingRequest& request) {
  const Json* const keep = fields.take("keep_alive");
  if (keep == nullptr) return;
  request.keep_loaded = read_duration(*keep);
  if (!request.keep_loaded) fields.wrong("keep_alive", phrases::server_duration());
}

void read_options(JsonFields& fields, EmbeddingRequest& request) {
  const Json* const options = fields.object("options");
  if (options == nullptr) return;
  std::optional<Error> error;
  JsonFields inner(*options, error, "options.");
  request.context = inner.integer("num_ctx", 1, 1 << 24).value_or(0);
  inner.finish(ollama_embedding_options());
  if (error) fields.fail(*error);
}

Result<std::vector<std::vector<TokenId>>> tokens_of(const EmbeddingRequest& request,
                                                    const ServedModel& model) {
  if (request.context > model.context())
    return fail(phrases::server_request_place(),
                errors::server_short_context(request.context, model.context()));
  if (request.dimensions != 0 && request.dimensions != model.info().hidden)
    return fail(phrases::server_request_place(), errors::server_refused_parameter("dimensions"));
  const auto most = static_cast<std::size_t>(request.context > 0 ? request.context : model.context());
  std::vector<std::vector<TokenId>> all;
  for (const auto& each : request.input) {
    const auto* const text = std::get_if<std::string>(&each);
    auto& tokens = all.emplace_back(
        text != nullptr ? model.text().encode(*text, {.add_special = true, .parse_special = false})
                        : std::get<std::vector<TokenId>>(each));
    if (request.truncates && tokens.size() > most) tokens.resize(most);
  }
  return all;
}

// To the length 1; what has none stays.
void normalise(std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  if (sum == 0) return;
  for (float& value : values) value = static_cast<float>(static_cast<double>(value) / std::sqrt(sum));
}

std::string base64(const std::vector<float>& values) {
  static_assert(std::endian::native == std::endian::little);
  static constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<unsigned char> bytes(4 * values.size());
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    unsigned group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = group << 8 | (k < count ? bytes[i + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= count ? letters[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace

const ParameterKinds& openai_embeddings_parameters() {
  static const ParameterKinds kinds{.honoured = {"model", "input", "encoding_format", "dimensions"},
                                    .without_effect = {"user"},
                                    .refused = {}};
  return kinds;
}

const ParameterKinds& ollama_embed_parameters() {
  static const ParameterKinds kinds{
      .honoured = {"model", "input", "truncate", "dimensions", "options", "keep_alive"},
      .without_effect = {},
      .refused = {}};
  return kinds;
}

const ParameterKinds& ollama_embeddings_parameters() {
  static const ParameterKinds kinds{
      .honoured = {"model", "prompt", "options", "keep_alive"}, .without_effect = {}, .refused = {}};
  return kinds;
}

// Nothing is sampled.
const ParameterKinds& ollama_embedding_options() {
  static const ParameterKinds kinds = [] {
    ParameterKinds made{.honoured = {"num_ctx"}, .without_effect = {}, .refused = {}};
    const ParameterKinds& all = ollama_options();
    for (const auto* list : {&all.honoured, &all.without_effect, &all.refused})
      std::ranges::copy_if(*list, std::back_inserter(made.without_effect),
                           [](std::string_view name) { return name != "num_ctx"; });
    return made;
  }();
  return kinds;
}

Result<EmbeddingRequest> read_openai_embeddings(const Json& body) {
  std::optional<Error> error;
  JsonFields fields(body, error);
  EmbeddingRequest request;
  request.model = fields.text("model").value_or("");
  read_input(fields, true, request.input);
  if (request.input.empty()) fields.wrong("input", phrases::server_not_empty());
  request.base64 = fields.one_of("encoding_format", {"float", "base64"}) == 1;
  request.dimensions = fields.integer("dimensions", 1, 1 << 24).value_or(0);
  fields.finish(openai_embeddings_parameters());
  if (error) return std::unexpected(*std::move(error));
  return request;
}

Result<EmbeddingRequest> read_ollama_embed(const Json& body) {
  std::optional<Error> error;
  JsonFields fields(body, error);
  EmbeddingRequest request;
  request.model = fields.text("model").value_or("");
  if (body.contains("input")) read_input(fields, false, request.input);
  request.truncates = fields.boolean("truncate").value_or(true);
  request.dimensions = fields.integer("dimensions", 0, 1 << 24).value_or(0);
  read_options(fields, request);
  read_keep_alive(fields, request);
  fields.finish(ollama_embed_parameters());
  if (error) return std::unexpected(*std::move(error));
  return request;
}

Result<EmbeddingRequest> read_ollama_embeddings(const Json& body) {
  std::optional<Error> error;
  JsonFields fields(body, error);
  EmbeddingRequest request;
  request.model = fields.text("model").value_or("");
  if (auto prompt = fields.text("prompt"); prompt && !prompt->empty())
    request.input.emplace_back(*std::move(prompt));
  read_options(fields, request);
  read_keep_alive(fields, request);
  fields.finish(ollama_embeddings_parameters());
  if (error) return std::unexpected(*std::move(error));
  return request;
}

Result<Embeddings> make_embeddings(ServedModels& models, Activity& activity, const EmbeddingRequest& request,
                                   const std::stop_token& stop) {
  const auto start = Clock::now();
  FOVEA_TRY(const auto model, models.acquire(request.model, stop));
  Embeddings made{.model = model->name(), .means = {}, .load_seconds = seconds_since(start)};
  FOVEA_TRY(const auto tokens, tokens_of(request, *model));
  Activity::Seat seat(activity, model->name(), model->context());
  const auto began = Clock::now();
  FOVEA_TRY(made.means, model->embed(tokens, stop));
  made.seconds = seconds_since(began);
  for (const std::vector<TokenId>& each : tokens) made.tokens += std::ssize(each);
  seat.add_embeddings(made.tokens, made.seconds);
  if (request.keep_loaded) models.keep(model->name(), *request.keep_loaded);
  log::info("server", model->name(), ": ", made.tokens, " tokens of ", tokens.size(), " texts embedded in ",
            made.seconds, " s");
  return made;
}

Json openai_embeddings_json(const EmbeddingRequest& request, Embeddings made) {
  Json data = Json::array();
  for (std::vector<float>& values : made.means) {
    normalise(values);
    data.push_back({{"object", "embedding"},
                    {"index", data.size()},
                    {"embedding", request.base64 ? Json(base64(values)) : Json(values)}});
  }
  return {{"object", "list"},
          {"data", std::move(data)},
          {"model", made.model},
          {"usage", {{"prompt_tokens", made.tokens}, {"total_tokens", made.tokens}}}};
}

Json ollama_embed_json(Embeddings made) {
  for (std::vector<float>& values : made.means) normalise(values);
  const auto nanoseconds = [](double seconds) { return static_cast<std::int64_t>(1e9 * seconds); };
  return {{"model", made.model},
          {"embeddings", made.means},
          {"total_duration", nanoseconds(made.load_seconds + made.seconds)},
          {"load_duration", nanoseconds(made.load_seconds)},
          {"prompt_eval_count", made.tokens}};
}

Json ollama_embeddings_json(const Embeddings& made) {
  return {{"embedding", made.means.empty() ? Json::array() : Json(made.means.front())}};
}

}  // namespace fovea::app
