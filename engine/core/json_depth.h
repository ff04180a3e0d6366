// Whether a JSON text may be taken apart: its library copies and writes values by recursion.
#pragma once

#include <algorithm>
#include <string_view>

namespace fovea {

inline constexpr int max_json_depth = 1000;  // of a text that anybody may have written

// How many lists and objects stand inside each other, at most; of a text that is no JSON, some number.
inline int json_depth(std::string_view text) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') in_string = !in_string;
    if (in_string) {
      at += c == '\\' ? 1 : 0;
      continue;
    }
    if (c == '[' || c == '{') deepest = std::max(deepest, ++depth);
    if (c == ']' || c == '}') --depth;
  }
  return deepest;
}

}  // namespace fovea
