// Which tokens end an answer. Files often name only one of them.
#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>

#include "engine/text/tokenizer_parts.h"

namespace fovea::text {
namespace {

constexpr std::array<std::string_view, 22> ending_names = {"<|eot_id|>",
                                                           "<|im_end|>",
                                                           "<|end|>",
                                                           "<|return|>",
                                                           "<|call|>",
                                                           "<|flush|>",
                                                           "<|calls|>",
                                                           "<end_of_turn>",
                                                           "<|endoftext|>",
                                                           "</s>",
                                                           "<|eom_id|>",
                                                           "<EOT>",
                                                           "_<EOT>",
                                                           "[EOT]",
                                                           "[EOS]",
                                                           "<|end_of_text|>",
                                                           "<end_of_utterance>",
                                                           "<eos>",
                                                           "<turn|>",
                                                           "<|tool_response>",
                                                           "<｜end▁of▁sentence｜>",
                                                           "[e~["};

// Where calls end with their own tokens, or messages have channels, <|end|> only ends a part of the answer;
// some files name it among the ends all the same.
bool answers_have_parts(const Tokenizer::Parts& parts) {
  std::unordered_set<std::string_view> names;
  for (TokenId id = 0; id < parts.vocabulary.size(); ++id)
    if (parts.control[static_cast<std::size_t>(id)]) names.insert(parts.vocabulary.text(id));
  const auto has = [&names](std::string_view name) { return names.contains(name); };
  if (has("<|return|>")) return has("<|call|>") || (has("<|channel|>") && has("<|message|>"));
  return has("<|flush|>") && (has("<|call|>") || has("<|calls|>"));
}

bool ends_a_part(const Tokenizer::Parts& parts, TokenId id) {
  return parts.answers_have_parts && parts.vocabulary.text(id) == "<|end|>";
}

}  // namespace

void find_end_of_generation(Tokenizer::Parts& parts) {
  parts.answers_have_parts = answers_have_parts(parts);
  std::vector<TokenId>& ends = parts.end_of_generation;
  TokenId found[ending_names.size()];
  std::ranges::fill(found, -1);
  for (TokenId id = 0; id < parts.vocabulary.size(); ++id) {
    if (!parts.control[static_cast<std::size_t>(id)]) continue;
    const auto name = std::ranges::find(ending_names, parts.vocabulary.text(id));
    if (name != ending_names.end()) found[name - ending_names.begin()] = id;
  }
  const auto id_of = [&](std::string_view name) {
    return found[std::ranges::find(ending_names, name) - ending_names.begin()];
  };
  const bool plain_s = id_of("<|tool_response>") >= 0;  // there </s> is an ordinary token
  if (parts.eos >= 0 && !ends_a_part(parts, parts.eos)) ends.push_back(parts.eos);
  for (std::size_t i = 0; i < ending_names.size(); ++i) {
    if (found[i] < 0 || ends_a_part(parts, found[i]) || (plain_s && ending_names[i] == "</s>")) continue;
    ends.push_back(found[i]);
  }
  std::ranges::sort(ends);
  ends.erase(std::ranges::unique(ends).begin(), ends.end());
}

void add_end_of_generation(Tokenizer::Parts& parts, TokenId id) {
  std::vector<TokenId>& ends = parts.end_of_generation;
  const auto at = std::ranges::lower_bound(ends, id);
  if (id < 0 || ends_a_part(parts, id)) return;
  if (at == ends.end() || *at != id) ends.insert(at, id);
}

}  // namespace fovea::text
