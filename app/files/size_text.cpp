#include "app/files/size_text.h"

#include <cstdio>

namespace fovea::app {

std::string size_text(std::int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  char text[32];
  if (value < 1e6) {
    std::snprintf(text, sizeof text, "%.1f kB", value / 1e3);
  } else if (value < 1e9) {
    std::snprintf(text, sizeof text, "%.1f MB", value / 1e6);
  } else {
    std::snprintf(text, sizeof text, "%.2f GB", value / 1e9);
  }
  return text;
}

}  // namespace fovea::app
