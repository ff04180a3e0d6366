// The formats of channels, and what they share.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/chat/channels.h"

namespace fovea::chat {

std::unique_ptr<Channels> read_harmony();
std::vector<ChannelPart> in_harmony(std::string_view begun);

std::unique_ptr<Channels> read_gemma();
std::vector<ChannelPart> in_gemma(std::string_view begun, bool opened);

// Thoughts in an answer's text.
inline constexpr std::string_view blank_line = "\n\n";
extern const std::string open_line, close_line;

std::string_view without(std::string_view text, std::string_view prefix, std::string_view suffix);

}  // namespace fovea::chat
