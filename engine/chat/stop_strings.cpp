#include "engine/chat/stop_strings.h"

#include <algorithm>
#include <utility>

namespace fovea::chat {

std::string StopStrings::push(std::string_view text) {
  if (found_) return {};
  held_ += text;
  // Of several, the one that is complete first: so token borders do not matter.
  std::size_t begin = 0;
  std::size_t end = std::string::npos;
  for (const std::string& stop : strings_) {
    const std::size_t at = held_.find(stop);
    if (at == std::string::npos || std::pair(at + stop.size(), at) >= std::pair(end, begin)) continue;
    begin = at;
    end = at + stop.size();
  }
  if (end != std::string::npos) {
    found_ = true;
    return std::exchange(held_, {}).substr(0, begin);
  }
  const std::size_t safe = safe_length();
  std::string ready = held_.substr(0, safe);
  held_.erase(0, safe);
  return ready;
}

std::string StopStrings::finish() {
  return std::exchange(held_, {});
}

// Up to the first place from which the rest of the text is the beginning of a stop string.
std::size_t StopStrings::safe_length() const {
  std::size_t safe = held_.size();
  for (const std::string& stop : strings_) {
    const std::size_t longest = std::min(stop.size() - 1, held_.size());
    for (std::size_t length = longest; length > 0; --length) {
      if (std::string_view(held_).ends_with(std::string_view(stop).substr(0, length))) {
        safe = std::min(safe, held_.size() - length);
        break;
      }
    }
  }
  return safe;
}

}  // namespace fovea::chat
