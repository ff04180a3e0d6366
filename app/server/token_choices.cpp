#include "app/server/token_choices.h"

namespace fovea::app {
namespace {

// A token may be a part of a character, whose bytes tell which.
Json token_json(TokenId token, float logprob, const TextModel& text) {
  const std::string piece = text.piece(token);
  Json bytes = Json::array();
  for (const char c : piece) bytes.push_back(static_cast<unsigned char>(c));
  return {{"token", piece}, {"logprob", logprob}, {"bytes", std::move(bytes)}};
}

}  // namespace

Json choices_json(const std::vector<TokenChoice>& choices, const TextModel& text) {
  Json list = Json::array();
  for (const TokenChoice& choice : choices) {
    Json entry = token_json(choice.token, choice.logprob, text);
    entry["top_logprobs"] = Json::array();
    for (const auto& each : choice.likeliest)
      entry["top_logprobs"].push_back(token_json(each.token, each.logprob, text));
    list.push_back(std::move(entry));
  }
  return list;
}

Json choices_by_column(const std::vector<TokenChoice>& choices, const TextModel& text, std::size_t& offset) {
  Json tokens = Json::array(), logprobs = Json::array(), likeliest = Json::array(), offsets = Json::array();
  for (const TokenChoice& choice : choices) {
    const std::string piece = text.piece(choice.token);
    tokens.push_back(piece);
    logprobs.push_back(choice.logprob);
    Json by_token = Json::object();
    for (const auto& each : choice.likeliest) by_token[text.piece(each.token)] = each.logprob;
    likeliest.push_back(std::move(by_token));
    offsets.push_back(offset);
    offset += piece.size();
  }
  return {{"tokens", std::move(tokens)},
          {"token_logprobs", std::move(logprobs)},
          {"top_logprobs", std::move(likeliest)},
          {"text_offset", std::move(offsets)}};
}

}  // namespace fovea::app
