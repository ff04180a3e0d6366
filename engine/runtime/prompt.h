// From a request's messages to the tokens of a prompt that fits the context.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/api/request.h"
#include "engine/api/text.h"
#include "engine/runtime/control_tokens.h"
#include "engine/text/tokenizer.h"

namespace fovea::runtime {

struct Prompt {
  std::vector<TokenId> tokens;
  std::int32_t dropped_messages = 0;
};

// What a prompt is made with.
struct PromptMaker {
  const TextModel& text;
  const text::Tokenizer& tokenizer;
  const ControlTokens& control;
  std::int64_t context = 0;  // tokens; a prompt leaves room for at least one more

  Result<Prompt> make(const GenerateRequest& request) const;

 private:
  Result<std::vector<TokenId>> encode(std::vector<Message> messages, bool continue_last) const;
  std::vector<TokenId> encode_raw(const std::string& prompt) const;
  Result<Prompt> drop_oldest_turns(const GenerateRequest& request, std::int64_t prompt_tokens) const;
};

}  // namespace fovea::runtime
