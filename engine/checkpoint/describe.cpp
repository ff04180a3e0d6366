#include "engine/checkpoint/describe.h"

namespace fovea::checkpoint {

std::string in_quotes(std::string_view name) {
  constexpr std::size_t longest = 80;
  static constexpr char digits[] = "0123456789abcdef";
  std::string text = "\"";
  for (const char c : name.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f && byte != '"') {
      text += c;
    } else {
      text += "\\x";
      text += digits[byte >> 4];
      text += digits[byte & 15];
    }
  }
  text += name.size() > longest ? "…\"" : "\"";
  return text;
}

}  // namespace fovea::checkpoint
