#include "engine/runtime/prompt.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "engine/core/result.h"
#include "engine/runtime/errors.h"

namespace fovea::runtime {
namespace {

Result<std::string> to_json(const std::vector<Message>& messages) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const Message& message : messages)
    json.push_back({{"role", message.role}, {"content", message.content}});
  try {
    return json.dump();
  } catch (const nlohmann::json::exception&) {
    return fail(phrases::given_messages(), errors::message_not_utf8());
  }
}

std::unexpected<Error> too_long(std::int64_t prompt, std::int64_t context, Phrase advice) {
  return fail(phrases::prompt_place(), errors::prompt_too_long(prompt, context).advise(std::move(advice)));
}

// A turn is a user's message and everything up to the next one. Begins of turns, and the end.
std::vector<std::size_t> turn_borders(const std::vector<Message>& messages) {
  std::size_t first = 0;
  while (first < messages.size() && messages[first].role == "system") ++first;
  std::vector<std::size_t> borders{first};
  for (std::size_t i = first + 1; i < messages.size(); ++i) {
    if (messages[i].role == "user") borders.push_back(i);
  }
  borders.push_back(messages.size());
  return borders;
}

}  // namespace

Result<Prompt> PromptMaker::make(const GenerateRequest& request) const {
  Prompt prompt;
  if (request.raw_prompt) {
    prompt.tokens = encode_raw(*request.raw_prompt);
  } else if (request.messages.empty()) {
    return fail(phrases::given_messages(), errors::nothing_asked());
  } else {
    if (request.continue_last && request.messages.back().role != "assistant")
      return fail(phrases::given_messages(), errors::last_is_not_assistants(request.messages.back().role));
    FOVEA_TRY(prompt.tokens, encode(request.messages, request.continue_last));
  }
  if (prompt.tokens.empty()) return fail(phrases::prompt_place(), errors::empty_prompt());
  const std::int64_t length = std::ssize(prompt.tokens);
  if (length < context) return prompt;
  if (request.raw_prompt) return too_long(length, context, phrases::longer_context_or_shorter_conversation());
  Result<Prompt> shorter = drop_oldest_turns(request, length);
  if (request.overflow == ContextOverflow::drop_oldest_turns || !shorter) return shorter;
  return fail(phrases::prompt_place(),
              errors::conversation_too_long(length, context, shorter->dropped_messages));
}

std::vector<TokenId> PromptMaker::encode_raw(const std::string& prompt) const {
  std::vector<TokenId> tokens = tokenizer.encode(prompt, {.add_special = false, .parse_special = true});
  if (tokenizer.adds_bos() && (tokens.empty() || tokens.front() != tokenizer.bos()))
    tokens.insert(tokens.begin(), tokenizer.bos());
  return tokens;
}

Result<std::vector<TokenId>> PromptMaker::encode(std::vector<Message> messages, bool continue_last) const {
  if (!text.has_chat_template()) {
    return fail(phrases::chat_template(), errors::model_is_no_chat_model());
  }
  std::string begun;  // of the answer
  if (continue_last) {
    begun = std::move(messages.back().content);
    messages.pop_back();
  }
  const std::string mark = unused_mark(messages);
  for (Message& message : messages) message.content = control.protect(message.content, mark);
  FOVEA_TRY(const std::string json, to_json(messages));
  FOVEA_TRY(const std::string rendered, text.render(json, true));
  std::vector<TokenId> tokens = encode_protected(tokenizer, control, rendered, mark);
  if (!begun.empty()) {
    const std::vector<TokenId> more = tokenizer.encode(begun, {.add_special = false, .parse_special = false});
    tokens.insert(tokens.end(), more.begin(), more.end());
  }
  return tokens;
}

// Goes through the conversation as it grew: whenever a turn no longer fitted, turns were dropped until half
// of the context was free. So the beginning of the prompt, and with it the cache, changes seldom and not in
// every turn.
Result<Prompt> PromptMaker::drop_oldest_turns(const GenerateRequest& request,
                                              std::int64_t prompt_tokens) const {
  const std::vector<Message>& messages = request.messages;
  const std::vector<std::size_t> borders = turn_borders(messages);
  const std::size_t turns = borders.size() - 1;
  constexpr std::int64_t template_tokens = 8;  // around each message, about
  std::vector<std::int64_t> sizes(turns);
  std::int64_t system_size = 0;
  for (std::size_t i = 0, turn = 0; i < messages.size(); ++i) {
    const std::int64_t size = std::ssize(tokenizer.encode(messages[i].content)) + template_tokens;
    while (turn + 1 < turns && i >= borders[turn + 1]) ++turn;
    (i < borders[0] ? system_size : sizes[turn]) += size;
  }

  std::size_t first = 0;
  std::int64_t total = system_size;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    total += sizes[turn];
    if (total < context) continue;
    for (; first < turn && total > context / 2; ++first) total -= sizes[first];
  }
  for (first = std::max<std::size_t>(first, 1); first < turns; ++first) {
    std::vector<Message> kept(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(borders[0]));
    kept.insert(kept.end(), messages.begin() + static_cast<std::ptrdiff_t>(borders[first]), messages.end());
    FOVEA_TRY(std::vector<TokenId> tokens, encode(std::move(kept), request.continue_last));
    prompt_tokens = std::ssize(tokens);
    if (prompt_tokens < context)
      return Prompt{std::move(tokens), static_cast<std::int32_t>(borders[first] - borders[0])};
  }
  return too_long(prompt_tokens, context, phrases::last_message_too_long());
}

}  // namespace fovea::runtime
