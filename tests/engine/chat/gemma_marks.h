// The tokeniser of tests/golden/thinking with Gemma 4's control tokens in place of gpt-oss'.
#pragma once

#include <array>
#include <string>
#include <utility>

namespace fovea::tests {

// Of its tokenizer.json or tokenizer_config.json.
inline std::string with_gemmas_marks(std::string json) {
  constexpr std::array names{std::pair{"<|start|>", "<|turn>"}, std::pair{"<|end|>", "<channel|>"},
                             std::pair{"<|channel|>", "<|channel>"}, std::pair{"<|return|>", "<turn|>"},
                             std::pair{"<|call|>", "<|tool_call>"}};
  for (const auto& [from, to] : names) {
    const std::string name(from);
    for (std::size_t at = json.find(name); at != json.npos; at = json.find(name))
      json.replace(at, name.size(), to);
  }
  return json;
}

}  // namespace fovea::tests
