#include "app/files/size_text.h"

#include <charconv>
#include <cmath>
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

std::optional<std::int64_t> parse_size(std::string_view text) {
  double value = 0;
  const auto [rest, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || !(value >= 0)) return std::nullopt;
  std::string unit;
  for (const char c : std::string_view(rest, text.data() + text.size()))
    if (c != ' ' || !unit.empty()) unit += (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
  double scale = 1;
  if (!unit.empty() && unit != "b") {
    constexpr std::string_view prefixes = "kmgt";
    const std::size_t power = prefixes.find(unit.front());
    if (power == std::string_view::npos) return std::nullopt;
    const std::string_view suffix = std::string_view(unit).substr(1);
    if (suffix != "" && suffix != "b" && suffix != "ib") return std::nullopt;
    scale = std::pow(suffix == "b" ? 1000.0 : 1024.0, static_cast<double>(power + 1));
  }
  constexpr double most = 1e15;
  if (value * scale > most) return std::nullopt;
  return std::llround(value * scale);
}

}  // namespace fovea::app
