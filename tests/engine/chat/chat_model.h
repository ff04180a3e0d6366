// The tiny chat model of tests/golden/make_chat.py, loaded, and what transformers says about it.
#pragma once

#include <QtGlobal>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/api/engine.h"
#include "tests/support/paths.h"

namespace fovea::tests {

inline const nlohmann::json& expected_chat() {
  static const nlohmann::json json = [] {
    std::ifstream file(golden("chat/expected.json"));
    return nlohmann::json::parse(file, nullptr, false);
  }();
  return json;
}

inline LoadOptions chat_request() {
  return {.model = golden("chat"),
          .context = 256,
          .kv = KvType::f32,
          .threads = 2,
          .chunk = 16,
          .need_tokenizer = true};
}

inline std::vector<Message> messages_of(const nlohmann::json& chat) {
  std::vector<Message> messages;
  for (const auto& message : chat["messages"]) messages.push_back({message["role"], message["content"]});
  return messages;
}

inline GenerateRequest greedy(std::vector<Message> messages, std::int32_t max_tokens) {
  GenerateRequest request;
  request.messages = std::move(messages);
  request.sampling.temperature = 0;
  request.max_tokens = max_tokens;
  return request;
}

inline GenerateResult generate(Engine& engine, const GenerateRequest& request) {
  auto result = engine.generate(request);
  if (!result) qFatal("%s", result.error().message().c_str());
  return *std::move(result);
}

}  // namespace fovea::tests
