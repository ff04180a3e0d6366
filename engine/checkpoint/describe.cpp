#include "engine/checkpoint/describe.h"

#include <algorithm>

namespace fovea::checkpoint {
namespace {

// The length of the UTF-8 character that `text` begins with; 0 when it begins with none that may be shown.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return byte(0) >= 0x20 && byte(0) != 0x7f ? 1 : 0;
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xf0 && byte(1) < 0x90);
  const bool beyond = (byte(0) == 0xed && byte(1) > 0x9f) || (byte(0) == 0xf4 && byte(1) > 0x8f);
  return overlong || beyond ? 0 : length;
}

}  // namespace

std::string in_quotes(std::string_view name) {
  constexpr std::size_t longest = 80;
  static constexpr char digits[] = "0123456789abcdef";
  std::string text = "\"";
  std::size_t i = 0;
  while (i < std::min(name.size(), longest)) {
    const std::size_t length = character_bytes(name.substr(i));
    if (length == 0) {
      const auto byte = static_cast<unsigned char>(name[i]);
      text += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
    } else if (name[i] == '"') {
      text += "\\\"";
    } else {
      text += name.substr(i, length);
    }
    i += std::max<std::size_t>(length, 1);
  }
  text += i < name.size() ? "…\"" : "\"";
  return text;
}

}  // namespace fovea::checkpoint
