#include "app/terminal/live_view.h"

#include <algorithm>
#include <array>
#include <spdlog/fmt/fmt.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace fovea::app {
namespace {

constexpr auto interval = std::chrono::milliseconds(100);
constexpr int most_rows = 13;  // of the view, status line included
constexpr int text_rows = 8;   // that must be left for the text
constexpr int label_columns = 4;

// Of the 256-colour palette: from the highest tier to the lowest, then disk and nothing.
constexpr std::array<int, 6> tier_colours = {208, 39, 26, 61, 60, 59};
constexpr int disk_colour = 236;
constexpr int moving_colour = 231;
constexpr int empty_colour = 0;

int colour_of(std::uint8_t tier) {
  return tier < tier_colours.size() ? tier_colours[tier] : disk_colour;
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
  return colour_of(static_cast<std::uint8_t>(std::ranges::max_element(count) - count.begin()));
}

std::int64_t groups(std::int64_t things, std::int64_t places) {
  return std::max<std::int64_t>(1, (things + places - 1) / std::max<std::int64_t>(1, places));
}

std::string rate(double bytes) {
  return bytes < 1e9 ? fmt::format("{:.1f} MB", bytes / 1e6) : fmt::format("{:.2f} GB", bytes / 1e9);
}

}  // namespace

std::string status_line(const Snapshot& s) {
  std::string line;
  std::int64_t hits = 0;
  for (const TierState& tier : s.tiers) hits += tier.hits;
  for (const TierState& tier : s.tiers) {
    const double share = hits > 0 ? 100.0 * static_cast<double>(tier.hits) / static_cast<double>(hits) : 0;
    line += fmt::format("{} {} ({:.0f} % of uses)  ", tier.name, tier.units, share);
  }
  line += fmt::format("{:.2f} bits  {} of {}  ↑{} ↓{}  read {}  in flight {}  {:.1f} tok/s",
                      s.mean_bits_per_weight, rate(static_cast<double>(s.arena_used_bytes)),
                      rate(static_cast<double>(s.arena_bytes)), s.swaps.promotions, s.swaps.demotions,
                      rate(static_cast<double>(s.swaps.bytes_read)), s.queued + s.reading + s.ready,
                      s.tokens_per_second);
  if (s.swaps.stalls > 0)
    line += fmt::format("  {} stalls ({:.1f} s)", s.swaps.stalls, s.swaps.stall_seconds);
  const std::int64_t failures = s.swaps.io_errors + s.swaps.checksum_errors;
  if (failures > 0) line += fmt::format("  {} failed swaps", failures);
  return line;
}

std::vector<std::string> draw_snapshot(const Snapshot& s, int columns, int rows) {
  std::vector<std::string> lines = {
      "\033[2m" + status_line(s).substr(0, static_cast<std::size_t>(columns) + 4) + "\033[0m"};
  const std::int64_t layers = groups(s.layers, 2 * (rows - 1));
  const std::int64_t units = groups(s.units_per_layer, columns - label_columns);
  for (std::int64_t layer = 0; layer < s.layers && std::ssize(lines) < rows; layer += 2 * layers) {
    std::string line = fmt::format("\033[2m{:>3} \033[0m", layer);
    int upper = -1, lower = -1;
    for (std::int64_t unit = 0; unit < s.units_per_layer; unit += units) {
      const int above = cell_colour(s, layer, layers, unit, units);
      const int below = cell_colour(s, layer + layers, layers, unit, units);
      if (above != upper || below != lower) line += fmt::format("\033[38;5;{};48;5;{}m", above, below);
      upper = above;
      lower = below;
      line += "▀";
    }
    lines.push_back(line + "\033[0m");
  }
  return lines;
}

LiveView::LiveView(Engine& engine) : engine_(engine) {
  engine_.read_snapshot(snapshot_);  // says that somebody looks
  reserve_lines();
}

LiveView::~LiveView() {
  if (!shown()) return;
  // The whole screen scrolls again; the view's lines are cleared, and the cursor stays where the text is.
  std::string text = "\0337\033[r";
  for (int row = 0; row < rows_; ++row) text += fmt::format("\033[{};1H\033[K", height_ - row);
  text += "\0338";
  static_cast<void>(::write(STDOUT_FILENO, text.data(), text.size()));
}

void LiveView::reserve_lines() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) != 1 || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return;
  if (size.ws_row == height_ && size.ws_col == columns_) return;
  height_ = size.ws_row;
  columns_ = size.ws_col;
  rows_ = std::min(most_rows, height_ - text_rows);
  if (rows_ < 2 || columns_ < 40) {
    rows_ = 0;
    return;
  }
  // Makes room below the cursor, then lets only the lines above the view scroll.
  std::string text(static_cast<std::size_t>(rows_), '\n');
  text += fmt::format("\033[{}A\0337\033[1;{}r\0338", rows_, height_ - rows_);
  static_cast<void>(::write(STDOUT_FILENO, text.data(), text.size()));
}

void LiveView::refresh() {
  const auto now = std::chrono::steady_clock::now();
  if (!shown() || now - drawn_at_ < interval || !engine_.read_snapshot(snapshot_)) return;
  drawn_at_ = now;
  reserve_lines();
  if (!shown()) return;
  const std::vector<std::string> lines = draw_snapshot(snapshot_, columns_, rows_);
  std::string text = "\0337";
  for (int row = 0; row < rows_; ++row) {
    text += fmt::format("\033[{};1H\033[K", height_ - rows_ + 1 + row);
    if (row < std::ssize(lines)) text += lines[static_cast<std::size_t>(row)];
  }
  text += "\0338";
  static_cast<void>(::write(STDOUT_FILENO, text.data(), text.size()));
}

}  // namespace fovea::app
