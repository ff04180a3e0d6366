// From a request's messages to the tokens of a prompt that fits the context.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/api/request.h"
#include "engine/api/text.h"
#include "engine/chat/channels.h"
#include "engine/chat/control_tokens.h"
#include "engine/chat/thoughts.h"
#include "engine/chat/tool_calls.h"
#include "engine/text/tokenizer.h"

namespace fovea::chat {

struct Prompt {
  std::vector<TokenId> tokens = {};
  std::int32_t dropped_messages = 0;
  // Where the model goes on. Of channels the tokens say it.
  AnswerPlace place = AnswerPlace::beginning;
  std::string opened = {};         // what the template has written of the answer's text: "<think>\n"
  bool continues = false;          // an answer that has text already
  bool thoughts_are_over = false;  // the template has ended them, or says that there are none
};

// What a prompt is made with.
struct PromptMaker {
  const TextModel& text;
  const text::Tokenizer& tokenizer;
  const ControlTokens& control;
  const ChannelTokens* channels = nullptr;  // null: the model writes in none
  std::int64_t context = 0;                 // tokens; a prompt leaves room for at least one more
  std::optional<CallSyntax> syntax = {};    // of calls, as call_syntax() finds it

  // `tools`: of the request, tools_of(); of a model whose syntax of calls is known.
  Result<Prompt> make(const GenerateRequest& request, const ToolSet& tools = {}) const;

 private:
  struct Rendered;
  Result<Prompt> encode(std::vector<Message> messages, const GenerateRequest& request,
                        const ToolSet& tools) const;
  Result<Rendered> render(const std::vector<Message>& messages, std::optional<bool> thinking,
                          const GenerateRequest& request, const ToolSet& tools) const;
  std::optional<CallSyntax> syntax_in(const std::vector<Message>& messages, const ToolSet& tools) const;
  void append(std::string_view begun, bool opened, std::vector<TokenId>& tokens) const;
  std::vector<TokenId> encode_raw(const std::string& prompt) const;
  Result<Prompt> drop_oldest_turns(const GenerateRequest& request, const ToolSet& tools,
                                   std::int64_t prompt_tokens) const;
};

}  // namespace fovea::chat
