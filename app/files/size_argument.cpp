#include "app/files/size_argument.h"

#include <charconv>
#include <cmath>

namespace fovea::app {

std::string size_argument(std::int64_t bytes) {
  struct Unit {
    std::int64_t bytes;
    const char* name;
  };
  constexpr Unit units[] = {{std::int64_t{1} << 30, "GiB"}, {1'000'000'000, "GB"}, {1'000'000, "MB"}};
  for (const Unit& unit : units)
    if (bytes % unit.bytes == 0) return std::to_string(bytes / unit.bytes) + unit.name;
  return std::to_string(bytes);
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
