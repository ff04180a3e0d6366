// The tokeniser of tests/golden/thinking with other control tokens in place of gpt-oss'.
#pragma once

#include <array>
#include <string>
#include <utility>

namespace fovea::tests {

template <std::size_t n>
std::string with_names(std::string json, const std::array<std::pair<const char*, const char*>, n>& names) {
  for (const auto& [from, to] : names) {
    const std::string name(from);
    for (std::size_t at = json.find(name); at != json.npos; at = json.find(name))
      json.replace(at, name.size(), to);
  }
  return json;
}

// Of its tokenizer.json or tokenizer_config.json: Gemma 4's.
inline std::string with_gemmas_marks(std::string json) {
  return with_names(
      std::move(json),
      std::array{std::pair{"<|start|>", "<|turn>"}, std::pair{"<|end|>", "<channel|>"},
                 std::pair{"<|channel|>", "<|channel>"}, std::pair{"<|return|>", "<turn|>"},
                 std::pair{"<|call|>", "<|tool_call>"}, std::pair{"<|constrain|>", "<tool_call|>"}});
}

// Those of calls as Qwen and Mistral write them, and of thoughts.
inline std::string with_calls_marks(std::string json) {
  return with_names(
      std::move(json),
      std::array{std::pair{"<|start|>", "<think>"}, std::pair{"<|end|>", "</think>"},
                 std::pair{"<|message|>", "<tool_call>"}, std::pair{"<|channel|>", "</tool_call>"},
                 std::pair{"<|constrain|>", "[TOOL_CALLS]"}, std::pair{"<|call|>", "[ARGS]"}});
}

}  // namespace fovea::tests
