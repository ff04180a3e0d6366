#include "engine/chat/channels.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "engine/chat/channel_formats.h"
#include "engine/chat/thoughts.h"

namespace fovea::chat {

const std::string open_line = std::string(thoughts_open) + "\n";
const std::string close_line = "\n" + std::string(thoughts_close) + "\n\n";

std::string_view without(std::string_view text, std::string_view prefix, std::string_view suffix) {
  if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  if (text.ends_with(suffix)) text.remove_suffix(suffix.size());
  return text;
}

std::optional<ChannelTokens> ChannelTokens::of(const text::Tokenizer& tokenizer) {
  struct Names {
    Format format;
    const char* sign;                             // that tells the format
    std::array<const char*, Channels::marks> of;  // by mark; null: none
    std::size_t needed;                           // of the first
  };
  constexpr Names all[] = {{Format::harmony,
                            "<|return|>",
                            {"<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|constrain|>", nullptr},
                            4},
                           {Format::gemma,
                            "<channel|>",
                            {"<|turn>", "<|channel>", nullptr, "<channel|>", nullptr, "<|tool_call>"},
                            2}};
  for (const Names& names : all) {
    if (tokenizer.find(names.sign) < 0) continue;
    ChannelTokens tokens;
    tokens.format_ = names.format;
    for (std::size_t i = 0; i < Channels::marks; ++i)
      tokens.ids_[i] = names.of[i] ? tokenizer.find(names.of[i]) : -1;
    const auto needed = std::begin(tokens.ids_) + static_cast<std::ptrdiff_t>(names.needed);
    if (std::find(std::begin(tokens.ids_), needed, -1) == needed) return tokens;
  }
  return {};
}

std::optional<Channels::Mark> ChannelTokens::mark(TokenId token) const {
  const auto found = std::ranges::find(ids_, token);
  if (found == std::end(ids_) || token < 0) return {};
  return static_cast<Channels::Mark>(found - std::begin(ids_));
}

std::unique_ptr<Channels> ChannelTokens::begin() const {
  return format_ == Format::gemma ? read_gemma() : read_harmony();
}

std::vector<ChannelPart> ChannelTokens::parts(std::string_view begun, bool opened) const {
  return format_ == Format::gemma ? in_gemma(begun, opened) : in_harmony(begun);
}

std::string_view ChannelTokens::opening() const {
  return format_ == Format::gemma ? "<|channel>thought" : "";
}

std::string_view ChannelTokens::closing() const {
  return format_ == Format::gemma ? "<channel|>" : "";
}

}  // namespace fovea::chat
