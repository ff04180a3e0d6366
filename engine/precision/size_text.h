// Sizes as people read them in advice and errors.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace fovea::precision {

// "3.25 GiB", "512 MiB", "77 KiB": three digits.
inline std::string size_text(std::int64_t bytes) {
  const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  int unit = 0;
  for (; unit < 4 && (value >= 999.5 || value <= -999.5); ++unit) value /= 1024;
  const double size = value < 0 ? -value : value;
  char text[32];
  std::snprintf(text, sizeof text, "%.*f %s",
                unit == 0 || size >= 99.95 ? 0
                : size >= 9.995            ? 1
                                           : 2,
                value, units[unit]);
  return text;
}

}  // namespace fovea::precision
