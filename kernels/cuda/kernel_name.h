// The name of a kernel, for people: "add_kernel".
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace fovea::kernels::cuda {

// Out of a compiler's description of a function template with the argument `kernel`.
inline std::string kernel_name(std::string_view description) {
  const std::size_t begin = description.find("kernel = ");
  if (begin == std::string_view::npos) return "?";
  std::string_view name = description.substr(begin + 9);
  std::size_t end = 0;
  for (int depth = 0; end < name.size(); ++end) {
    const char c = name[end];
    depth += c == '<' ? 1 : c == '>' ? -1 : 0;
    if (depth == 0 && (c == ';' || c == ']' || c == ',')) break;
  }
  name = name.substr(0, end);
  const std::size_t arguments = std::min(name.find('<'), name.size());
  const std::size_t scope = name.substr(0, arguments).rfind("::");
  return std::string(scope == std::string_view::npos ? name : name.substr(scope + 2));
}

}  // namespace fovea::kernels::cuda
