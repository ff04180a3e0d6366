#include "engine/chat/prompt.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "engine/chat/errors.h"
#include "engine/chat/tool_messages.h"
#include "engine/core/result.h"
#include "engine/text/text_model.h"

namespace fovea::chat {
namespace {

using nlohmann::ordered_json;

Result<std::string> dump(const ordered_json& json, const Phrase& where) {
  try {
    return json.dump();
  } catch (const nlohmann::json::exception&) {
    return fail(where, errors::message_not_utf8());
  }
}

text::ThoughtReads reads_of(const TextModel& text) {
  const auto& chat_template = text.parts().chat_template;
  return chat_template && *chat_template ? (*chat_template)->thoughts() : text::ThoughtReads();
}

// Whether the template is there and asks for what it shall be told.
Result<void> check_thinking(const GenerateRequest& request, const TextModel& text) {
  const char* const told = request.thinking ? "thinking" : !request.effort.empty() ? "effort" : nullptr;
  if (told == nullptr) return {};
  if (request.raw_prompt) return fail(phrases::option_place(told), errors::raw_prompt_has_no_template());
  const auto& chat_template = text.parts().chat_template;
  if (!chat_template || !*chat_template) return {};  // encode() says so
  const text::ThoughtReads& reads = (*chat_template)->thoughts();
  if (request.thinking && reads.switches.empty()) {
    Error error = errors::thinking_not_switched();
    return fail(phrases::option_place("thinking"),
                reads.effort ? std::move(error).advise(phrases::choose_effort()) : std::move(error));
  }
  if (!request.effort.empty() && !reads.effort) {
    Error error = errors::no_effort();
    return fail(phrases::option_place("effort"), reads.switches.empty()
                                                     ? std::move(error)
                                                     : std::move(error).advise(phrases::switch_thinking()));
  }
  return {};
}

std::string_view trimmed_right(std::string_view text) {
  return text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
}

// An earlier answer as the template reads it: thoughts in their own field, or in the content where it takes
// them apart there. One that does neither would send them back, so they are left out.
template <class Protect>
void add_answer(const std::vector<AnswerPart>& parts, const text::ThoughtReads& reads, const Protect& protect,
                ordered_json& json) {
  if (reads.field.empty() && reads.in_content) {
    std::string content;
    for (const AnswerPart& part : parts)
      content += part.thoughts ? std::string(thoughts_open) + protect(part.text) + std::string(thoughts_close)
                               : protect(part.text);
    json["content"] = std::move(content);
    return;
  }
  const SplitAnswer split = split_answer(parts);
  json["content"] = protect(split.text);
  // Where the template looks into the content too, an answer that names the tag has no thoughts there.
  if (!reads.field.empty() && (std::ranges::any_of(parts, &AnswerPart::thoughts) ||
                               (reads.in_content && split.text.contains(thoughts_close))))
    json[reads.field] = protect(split.thoughts);
}

// Its strings, as keys too, protected.
template <class Protect>
ordered_json protected_strings(const ordered_json& json, const Protect& protect) {
  if (json.is_string()) return protect(json.get_ref<const std::string&>());
  if (!json.is_structured()) return json;
  ordered_json all = json.is_array() ? ordered_json::array() : ordered_json::object();
  for (const auto& [key, value] : json.items()) {
    if (json.is_array()) {
      all.push_back(protected_strings(value, protect));
    } else {
      all[protect(key)] = protected_strings(value, protect);
    }
  }
  return all;
}

template <class Protect>
void add_calls(const std::vector<ToolCall>& calls, const Protect& protect, ordered_json& json) {
  if (calls.empty()) return;
  // gpt-oss' template takes thoughts or a content beside a call, not both, and shows either as thoughts.
  if (json.contains("thinking") && !json["thinking"].get_ref<const std::string&>().empty() &&
      !json["content"].get_ref<const std::string&>().empty()) {
    json["thinking"] = json["thinking"].get<std::string>() + "\n\n" + json["content"].get<std::string>();
    json["content"] = "";
  }
  for (const ToolCall& call : calls)
    json["tool_calls"].push_back(
        {{"id", protect(call.id)},
         {"type", "function"},
         {"function",
          {{"name", protect(call.name)}, {"arguments", protected_strings(call.arguments, protect)}}}});
}

// An answer without what the prompt has written of it.
std::string_view behind(std::string_view opened, std::string_view begun) {
  const std::size_t first = std::min(begun.find_first_not_of(" \t\r\n"), begun.size());
  if (opened.empty() || !begun.substr(first).starts_with(thoughts_open)) return begun;
  begun.remove_prefix(first + thoughts_open.size());
  opened.remove_prefix(thoughts_open.size());
  const auto same = std::ranges::mismatch(begun, opened).in1 - begun.begin();
  return begun.substr(static_cast<std::size_t>(same));
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

Result<Prompt> PromptMaker::make(const GenerateRequest& request, const ToolSet& tools) const {
  FOVEA_CHECK(check_thinking(request, text));
  Prompt prompt;
  if (request.raw_prompt) {
    prompt.tokens = encode_raw(*request.raw_prompt);
  } else if (request.messages.empty()) {
    return fail(phrases::given_messages(), errors::nothing_asked());
  } else {
    if (request.continue_last && request.messages.back().role != "assistant")
      return fail(phrases::given_messages(), errors::last_is_not_assistants(request.messages.back().role));
    FOVEA_TRY(prompt, encode(request.messages, request, tools));
  }
  if (prompt.tokens.empty()) return fail(phrases::prompt_place(), errors::empty_prompt());
  const std::int64_t length = std::ssize(prompt.tokens);
  if (length < context) return prompt;
  if (request.raw_prompt) return too_long(length, context, phrases::longer_context_or_shorter_conversation());
  Result<Prompt> shorter = drop_oldest_turns(request, tools, length);
  if (request.overflow == ContextOverflow::drop_oldest_turns || !shorter) return shorter;
  return fail(phrases::prompt_place(),
              errors::conversation_too_long(length, context, shorter->dropped_messages));
}

// Of a conversation without tools a spelled call is text.
std::optional<CallSyntax> PromptMaker::syntax_in(const std::vector<Message>& messages,
                                                 const ToolSet& tools) const {
  if (tools.empty() && std::ranges::find(messages, "tool", &Message::role) == messages.end()) return {};
  const auto& chat_template = text.parts().chat_template;
  if (!chat_template || !*chat_template || !(*chat_template)->reads_calls()) return {};
  return syntax;
}

std::vector<TokenId> PromptMaker::encode_raw(const std::string& prompt) const {
  std::vector<TokenId> tokens = tokenizer.encode(prompt, {.add_special = false, .parse_special = true});
  if (tokenizer.adds_bos() && (tokens.empty() || tokens.front() != tokenizer.bos()))
    tokens.insert(tokens.begin(), tokenizer.bos());
  return tokens;
}

struct PromptMaker::Rendered {
  std::string text;
  std::string mark;
  std::string opened;       // thoughts that the text leaves open, with their tag
  bool has_closed = false;  // it ends with thoughts that are over
};

Result<Prompt> PromptMaker::encode(std::vector<Message> messages, const GenerateRequest& request,
                                   const ToolSet& tools) const {
  if (!text.has_chat_template()) {
    return fail(phrases::chat_template(), errors::model_is_no_chat_model());
  }
  std::string begun;  // of the answer
  if (request.continue_last) {
    begun = std::move(messages.back().content);
    messages.pop_back();
    if (!tools.empty() && begun.contains(call_open))
      return fail(phrases::given_messages(), errors::begun_answer_has_calls());
  }
  FOVEA_TRY(Rendered rendered, render(messages, request.thinking, request, tools));
  const std::vector<AnswerPart> parts = answer_parts(begun, channels != nullptr);
  const bool thinks = !parts.empty() && parts.front().thoughts;
  // An answer goes on as it began, whatever was chosen since.
  const bool contradicts = thinks ? rendered.has_closed : !parts.empty() && !rendered.opened.empty();
  if (contradicts && !reads_of(text).switches.empty()) {
    FOVEA_TRY(rendered, render(messages, thinks, request, tools));
  }
  Prompt prompt;
  prompt.tokens = encode_protected(tokenizer, control, rendered.text, rendered.mark);
  prompt.continues = !parts.empty();
  prompt.thoughts_are_over = rendered.has_closed;
  if (!prompt.continues) {
    if (channels == nullptr) prompt.opened = rendered.opened;
    if (!prompt.opened.empty()) prompt.place = AnswerPlace::thoughts;
    return prompt;
  }
  const bool open = thinks ? !parts.back().closed : !rendered.opened.empty();
  prompt.place = open ? AnswerPlace::thoughts : AnswerPlace::text;
  append(behind(rendered.opened, begun), thinks && !rendered.opened.empty(), prompt.tokens);
  return prompt;
}

Result<PromptMaker::Rendered> PromptMaker::render(const std::vector<Message>& messages,
                                                  std::optional<bool> thinking,
                                                  const GenerateRequest& request,
                                                  const ToolSet& tools) const {
  Rendered rendered;
  FOVEA_TRY(const std::string list_of_tools, dump(tools.list, phrases::given_tools()));
  rendered.mark = unused_mark(messages, list_of_tools);
  const auto protect = [&](std::string_view words) { return control.protect(words, rendered.mark); };
  const text::ThoughtReads reads = reads_of(text);
  ordered_json list = ordered_json::array();
  for (const CalledMessage& called :
       called_messages(messages, channels != nullptr, syntax_in(messages, tools))) {
    const Message& message = called.message;
    ordered_json json = {{"role", message.role}};
    if (message.role == "assistant") {
      add_answer(answer_parts(message.content, channels != nullptr), reads, protect, json);
      add_calls(called.calls, protect, json);
    } else {
      json["content"] = protect(message.content);
      if (!message.tool_call_id.empty()) json["tool_call_id"] = protect(message.tool_call_id);
      if (!message.tool_name.empty()) json["name"] = protect(message.tool_name);
    }
    list.push_back(std::move(json));
  }
  ordered_json variables = ordered_json::object();
  if (thinking)
    for (const std::string& name : reads.switches) variables[name] = *thinking;
  if (!request.effort.empty()) variables["reasoning_effort"] = request.effort;
  FOVEA_TRY(const std::string json, dump(list, phrases::given_messages()));
  FOVEA_TRY(const std::string more, dump(variables, phrases::given_variables()));
  std::string shown;  // of the tools
  if (!tools.empty()) {
    FOVEA_TRY(shown, dump(protected_strings(tools.list, protect), phrases::given_tools()));
  }
  FOVEA_TRY(rendered.text, text.render(json, true, shown, more));
  const std::string_view end = trimmed_right(rendered.text);
  if (end.ends_with(thoughts_open)) rendered.opened = rendered.text.substr(end.size() - thoughts_open.size());
  rendered.has_closed = end.ends_with(thoughts_close);
  if (channels != nullptr && !channels->opening().empty()) {
    if (end.ends_with(channels->opening())) rendered.opened = std::string(thoughts_open) + "\n";
    rendered.has_closed = end.ends_with(channels->closing());
  }
  return rendered;
}

// What an answer said so far. Its words are text, whatever they spell; only what parts it is control tokens.
void PromptMaker::append(std::string_view begun, bool opened, std::vector<TokenId>& tokens) const {
  const auto words = [&](std::string_view more) {
    const std::vector<TokenId> ids = tokenizer.encode(more, {.add_special = false, .parse_special = false});
    tokens.insert(tokens.end(), ids.begin(), ids.end());
  };
  if (channels != nullptr) {
    for (const ChannelPart& part : channels->parts(begun, opened)) {
      if (part.mark) {
        tokens.push_back(channels->token(*part.mark));
      } else {
        words(part.text);
      }
    }
    return;
  }
  for (const std::string_view tag : {thoughts_open, thoughts_close}) {
    const TokenId id = tokenizer.find(tag);
    const std::size_t at = begun.find(tag);
    if (!tokenizer.is_control(id) || at == std::string_view::npos) continue;  // else the tokeniser finds them
    words(begun.substr(0, at));
    tokens.push_back(id);
    begun.remove_prefix(at + tag.size());
  }
  words(begun);
}

// Goes through the conversation as it grew: whenever a turn no longer fitted, turns were dropped until half
// of the context was free. So the beginning of the prompt, and with it the cache, changes seldom and not in
// every turn.
Result<Prompt> PromptMaker::drop_oldest_turns(const GenerateRequest& request, const ToolSet& tools,
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
    FOVEA_TRY(Prompt prompt, encode(std::move(kept), request, tools));
    prompt_tokens = std::ssize(prompt.tokens);
    prompt.dropped_messages = static_cast<std::int32_t>(borders[first] - borders[0]);
    if (prompt_tokens < context) return prompt;
  }
  return too_long(prompt_tokens, context, phrases::last_message_too_long());
}

}  // namespace fovea::chat
