// Sentences for errors, put together from words and numbers.
#pragma once

#include <cstdint>
#include <span>
#include <sstream>
#include <string>
#include <utility>

namespace fovea::models {

template <class... Parts>
std::string say(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}

// "[3, 4]"
inline std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

}  // namespace fovea::models
