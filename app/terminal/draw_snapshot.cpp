#include "app/terminal/draw_snapshot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <spdlog/fmt/fmt.h>
#include <string_view>

#include "engine/api/sentence.h"
#include "ui/theme/scale/precision_scale.h"

namespace fovea::app {
namespace {

constexpr int label_columns = 4;

// Of the 256-colour palette, the nearest to the window's colours (ui/theme/tier_colours.h): a number of bits
// has one, in every store. From so many bits on; then disk, host, in flight and nothing.
struct BitsColour {
  double from_bits;
  int colour;
};
constexpr std::array<BitsColour, 6> bits_colours{
    {{12, 229}, {7, 221}, {5, 143}, {3.5, 102}, {2.5, 60}, {0, 24}}};
constexpr int disk_colour = 236;
constexpr int host_colour = 132;
constexpr int moving_colour = 231;
constexpr int empty_colour = 0;
constexpr int unused_colour = 234;

int colour_of(const Snapshot& s, std::uint8_t tier) {
  if (tier == host_tier) return host_colour;
  if (tier >= s.tiers.size()) return disk_colour;
  const double bits = s.tiers[tier].bits_per_weight;
  return std::ranges::find_if(bits_colours, [&](const BitsColour& each) { return bits >= each.from_bits; })
      ->colour;
}

// One half of a character: some layers and some of their units.
int cell_colour(const Snapshot& s, std::int64_t layer, std::int64_t layers, std::int64_t unit,
                std::int64_t units) {
  std::array<int, 256> count{};
  bool any = false;
  for (std::int64_t l = layer; l < std::min(layer + layers, s.layers); ++l) {
    for (std::int64_t u = unit; u < std::min(unit + units, s.units_per_layer); ++u) {
      const UnitState& state = s.units[static_cast<std::size_t>(l * s.units_per_layer + u)];
      if (state.target != no_tier) return moving_colour;
      ++count[state.tier];
      any = true;
    }
  }
  if (!any) return empty_colour;
  return colour_of(s, static_cast<std::uint8_t>(std::ranges::max_element(count) - count.begin()));
}

std::int64_t groups(std::int64_t things, std::int64_t places) {
  return std::max<std::int64_t>(1, (things + places - 1) / std::max<std::int64_t>(1, places));
}

// A colour of the palette's cube of 6 × 6 × 6, down to less than half as light.
int shade(int colour, double strength) {
  constexpr int first = 16;
  const auto level = [&](int step) {
    return static_cast<int>(std::lround((colour - first) / step % 6 * (0.4 + 0.6 * strength)));
  };
  return first + 36 * level(36) + 6 * level(6) + level(1);
}

// The same of a model whose experts all stay as the file has them: the strength is how much they are used, of
// the most in their layer.
int use_colour(const Snapshot& s, std::int64_t layer, std::int64_t layers, std::int64_t unit,
               std::int64_t units) {
  double most = -1;
  for (std::int64_t l = layer; l < std::min(layer + layers, s.layers); ++l) {
    const auto row = std::span(s.units).subspan(static_cast<std::size_t>(l * s.units_per_layer),
                                                static_cast<std::size_t>(s.units_per_layer));
    const float hottest = std::ranges::max(row, {}, &UnitState::hotness).hotness;
    for (std::int64_t u = unit; u < std::min(unit + units, s.units_per_layer); ++u) {
      const UnitState& state = row[static_cast<std::size_t>(u)];
      if (state.tier == no_tier) continue;  // the layer has fewer
      most = std::max(most, hottest > 0 ? std::sqrt(static_cast<double>(state.hotness / hottest)) : 0.0);
    }
  }
  if (most < 0) return empty_colour;
  return most == 0 ? unused_colour : shade(colour_of(s, 0), most);
}

// The first characters of a text, none of them cut in half.
std::string_view first_characters(std::string_view text, int count) {
  std::size_t end = 0;
  while (end < text.size() && count-- > 0) {
    do ++end;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80);
  }
  return text.substr(0, end);
}

// As many of the parts, which two blanks part, as there is room for; of a single one its first characters.
std::string_view first_parts(std::string_view text, int columns) {
  const std::string_view room = first_characters(text, columns);
  if (room.size() == text.size()) return text;
  const std::size_t end = text.rfind("  ", room.size());
  return end == text.npos ? room : text.substr(0, end);
}

}  // namespace

std::string status_line(const Snapshot& s) {
  std::string line;
  std::int64_t hits = s.host_hits;
  for (const TierState& tier : s.tiers) hits += tier.hits;
  const auto add = [&](const std::string& where, std::int64_t units, std::int64_t its_hits) {
    const double share = hits > 0 ? 100.0 * static_cast<double>(its_hits) / static_cast<double>(hits) : 0;
    line += fmt::format("{} {} ({:.0f} % of uses)  ", units, where, share);
  };
  for (const TierState& tier : s.tiers)
    add(fmt::format("at {} bits", ui::whole_bits(tier.bits_per_weight)), tier.units, tier.hits);
  if (s.host_units > 0) add("on the processor", s.host_units, s.host_hits);
  line += fmt::format("{:.2f} bits  ", s.mean_bits_per_weight);
  if (s.arena_bytes > 0)
    line += fmt::format("{} of {}  ↑{} ↓{}  read {}  in flight {}  ", size_text(s.arena_used_bytes),
                        size_text(s.arena_bytes), s.swaps.promotions, s.swaps.demotions,
                        size_text(s.swaps.bytes_read), s.queued + s.reading + s.ready);
  if (s.arena_bytes == 0 && !s.skew.empty()) {
    const float skew =
        std::accumulate(s.skew.begin(), s.skew.end(), 0.0F) / static_cast<float>(s.skew.size());
    line += fmt::format("the hottest tenth has {:.0f} % of the use  ", 100 * skew);
  }
  line += fmt::format("{:.1f} tok/s", s.tokens_per_second);
  if (s.swaps.stalls > 0)
    line += fmt::format("  {} stalls ({:.1f} s)", s.swaps.stalls, s.swaps.stall_seconds);
  const std::int64_t failures = s.swaps.io_errors + s.swaps.checksum_errors;
  if (failures > 0) line += fmt::format("  {} failed swaps", failures);
  return line;
}

std::vector<std::string> draw_snapshot(const Snapshot& s, int columns, int rows) {
  const std::string status = status_line(s);
  std::vector<std::string> lines = {fmt::format("\033[2m{}\033[0m", first_parts(status, columns))};
  const std::int64_t layers = groups(s.layers, 2 * (rows - 1));
  const std::int64_t units = groups(s.units_per_layer, columns - label_columns);
  const auto cell = s.arena_bytes > 0 ? cell_colour : use_colour;
  for (std::int64_t layer = 0; layer < s.layers && std::ssize(lines) < rows; layer += 2 * layers) {
    std::string line = fmt::format("\033[2m{:>3} \033[0m", layer);
    int upper = -1, lower = -1;
    for (std::int64_t unit = 0; unit < s.units_per_layer; unit += units) {
      const int above = cell(s, layer, layers, unit, units);
      const int below = cell(s, layer + layers, layers, unit, units);
      if (above != upper || below != lower) line += fmt::format("\033[38;5;{};48;5;{}m", above, below);
      upper = above;
      lower = below;
      line += "▀";
    }
    lines.push_back(line + "\033[0m");
  }
  return lines;
}

}  // namespace fovea::app
