#include "app/top/draw_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <spdlog/fmt/fmt.h>
#include <vector>

#include "ui/theme/scale/precision_scale.h"

namespace fovea::app {
namespace {

using ui::Rgb;

constexpr Rgb dark_ground{0x11, 0x13, 0x16}, light_ground{0xFF, 0xFF, 0xFF};
constexpr Rgb dark_text{0xEC, 0xEE, 0xF0}, light_text{0x16, 0x18, 0x1B};
constexpr double moving_share = 0.5, fresh_share = 0.6;  // of the text's colour, that marks
constexpr int number_columns = 4;                        // of a layer's number, with a blank

// What a part of the map shows of some experts.
struct Patch {
  std::optional<Rgb> colour = {};  // none: there is no expert
  char letter = ' ';               // of the hottest of them
  double strength = 0;
  bool is_fresh = false;
};

// The experts as they are looked at, with what marks them.
class Experts {
 public:
  Experts(const TopModel& model, const TopView& view)
      : model_(model), view_(view), frame_(model.frame()), fresh_(frame_.size()) {
    for (const ui::FreshChange& change : model.fresh(view.now))
      if (change.unit < std::ssize(fresh_)) {
        double& known = fresh_[static_cast<std::size_t>(change.unit)];
        known = std::max(known, change.freshness);
      }
    for (std::int64_t layer = 0; layer < frame_.layers; ++layer) {
      const auto row = std::span(frame_.hot).subspan(first(layer), static_cast<std::size_t>(width()));
      hottest_.push_back(row.empty() ? std::uint8_t{0} : std::ranges::max(row));
    }
  }

  std::int64_t layers() const { return frame_.layers; }
  std::int64_t width() const { return frame_.units_per_layer; }
  std::size_t unit_at(std::int64_t layer, std::int64_t slot) const {
    const bool is_known = view_.places.fits(frame_);
    const std::int64_t expert =
        is_known ? view_.places.expert_at(static_cast<int>(layer), static_cast<int>(slot)) : slot;
    return first(layer) + static_cast<std::size_t>(expert);
  }
  bool is_there(std::size_t unit) const {
    const auto layer = static_cast<std::int64_t>(unit) / width();
    return static_cast<std::int64_t>(unit) % width() < model_.experts_of(layer);
  }
  double strength(std::size_t unit) const {
    return ui::heat_strength(frame_.hot[unit], hottest_[unit / static_cast<std::size_t>(width())]);
  }
  std::size_t place(std::size_t unit) const {
    return ui::place_of_tier(frame_.tier[unit], model_.numbers().tiers.size());
  }
  double fresh(std::size_t unit) const { return fresh_[unit]; }

  Rgb colour(std::size_t unit) const {
    const Rgb ground = view_.is_light ? light_ground : dark_ground;
    const Rgb text = view_.is_light ? light_text : dark_text;
    const Rgb solid = place_colour(place(unit), model_.numbers(), view_.is_light);
    const Rgb own = ui::mixed(ground, solid, std::lerp(cold_opacity(), 1.0, strength(unit)));
    const bool is_moving = frame_.target[unit] != no_tier;
    return ui::mixed(own, text, std::max(is_moving ? moving_share : 0, fresh_share * fresh_[unit]));
  }

  // Those of layers and slots, a range of each: their mean colour, and the hottest's letter.
  Patch patch(std::int64_t layer, std::int64_t last_layer, std::int64_t slot, std::int64_t last_slot) const {
    Patch patch;
    double red = 0, green = 0, blue = 0;
    int count = 0;
    for (std::int64_t l = layer; l < last_layer; ++l)
      for (std::int64_t s = slot; s < last_slot; ++s) {
        const std::size_t unit = unit_at(l, s);
        if (!is_there(unit)) continue;
        const Rgb each = colour(unit);
        red += each.red;
        green += each.green;
        blue += each.blue;
        if (count++ == 0 || strength(unit) > patch.strength) {
          patch.letter = place_letter(place(unit), model_.numbers());
          patch.strength = strength(unit);
        }
        patch.is_fresh |= fresh_[unit] > 0;
      }
    if (count == 0) return patch;
    const auto mean = [&](double sum) { return static_cast<std::uint8_t>(std::lround(sum / count)); };
    patch.colour = Rgb{mean(red), mean(green), mean(blue)};
    return patch;
  }

 private:
  // Few colours have few shades of what is dark.
  double cold_opacity() const {
    if (view_.colours == Colours::all) return ui::cold_opacity;
    return view_.colours == Colours::palette ? 0.5 : 1;
  }
  std::size_t first(std::int64_t layer) const { return static_cast<std::size_t>(layer * width()); }

  const TopModel& model_;
  const TopView& view_;
  const MapFrame& frame_;
  std::vector<double> fresh_;          // [units]
  std::vector<std::uint8_t> hottest_;  // [layers]
};

// How things share places: each thing has some, with one between them where that leaves enough; or each place
// has some things.
struct Shares {
  int places_of_each = 0;  // 0: each place has some
  bool has_gaps = false;
  int places = 0;
  std::int64_t things = 0;

  Shares(std::int64_t count, int room) : things(count) {
    places_of_each = static_cast<int>(std::min<std::int64_t>(room / std::max<std::int64_t>(1, count), 12));
    has_gaps = places_of_each >= 3;
    places = places_of_each > 0 ? places_of_each * static_cast<int>(count) : room;
  }
  // First and last of the things at this place; the same: a gap.
  std::pair<std::int64_t, std::int64_t> at(int place) const {
    if (places_of_each == 0) return {place * things / places, (place + 1) * things / places};
    const std::int64_t thing = place / places_of_each;
    const bool is_gap = has_gaps && place % places_of_each == places_of_each - 1;
    return {thing, is_gap ? thing : thing + 1};
  }
};

void put_patches(Canvas& canvas, int row, int column, const Patch& upper, const Patch& lower) {
  if (upper.colour) {
    canvas.put(row, column, "▀", {.text = upper.colour, .ground = lower.colour});
  } else if (lower.colour) {
    canvas.put(row, column, "▄", {.text = lower.colour});
  }
}

constexpr std::array<const char*, 9> eighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};

std::string bar(double share, int columns) {
  const auto full = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * 8 * columns));
  std::string text;
  for (int i = 0; i < full / 8; ++i) text += eighths[8];
  return text + eighths[static_cast<std::size_t>(full % 8)];
}

}  // namespace

Rgb place_colour(std::size_t place, const SnapshotNumbers& numbers, bool is_light) {
  if (place < numbers.tiers.size()) return ui::precision_rgb(numbers.tiers[place].bits_per_weight);
  if (place > numbers.tiers.size()) return ui::host_rgb;
  return ui::mixed(is_light ? light_ground : dark_ground, is_light ? light_text : dark_text, ui::disk_share);
}

char place_letter(std::size_t place, const SnapshotNumbers& numbers) {
  if (place > numbers.tiers.size()) return 'c';
  if (place == numbers.tiers.size()) return '.';
  const std::int64_t bits = ui::whole_bits(numbers.tiers[place].bits_per_weight);
  return bits < 10 ? static_cast<char>('0' + std::max<std::int64_t>(0, bits)) : 'F';
}

std::string place_name(std::size_t place, const SnapshotNumbers& numbers) {
  if (place > numbers.tiers.size()) return "with the processor";
  if (place == numbers.tiers.size()) return "on disk alone";
  return fmt::format("{} bits", ui::whole_bits(numbers.tiers[place].bits_per_weight));
}

void draw_map(Canvas& canvas, const CanvasArea& area, const TopModel& model, const TopView& view) {
  const Experts experts(model, view);
  const int room = area.columns - number_columns;
  if (experts.layers() == 0 || experts.width() == 0 || room < 1 || area.rows < 1) return;
  const bool has_colours = view.colours != Colours::none;
  const Shares down(experts.layers(), has_colours ? 2 * area.rows : area.rows), across(experts.width(), room);
  const auto patch = [&](int place, int column) {
    if (place >= down.places) return Patch{};
    const auto [layer, last_layer] = down.at(place);
    const auto [slot, last_slot] = across.at(column);
    return experts.patch(layer, last_layer, slot, last_slot);
  };
  std::int64_t numbered = -1;  // layer
  for (int row = 0; row < area.rows; ++row) {
    const int place = has_colours ? 2 * row : row;
    if (place >= down.places) break;
    if (const std::int64_t layer = down.at(place).first; layer != numbered) {
      canvas.put_right(area.row + row, area.column + number_columns - 1,
                       std::to_string(model.layer_number(layer)), {.faint = true});
      numbered = layer;
    }
    for (int x = 0; x < across.places; ++x) {
      const int column = area.column + number_columns + x;
      const Patch upper = patch(place, x);
      if (has_colours) {
        put_patches(canvas, area.row + row, column, upper, patch(place + 1, x));
      } else if (upper.colour) {
        canvas.put(area.row + row, column, std::string_view(&upper.letter, 1),
                   {.bold = upper.is_fresh || upper.strength >= 0.5, .faint = upper.strength < 0.15});
      }
    }
  }
}

// A column of text after the other: number, bits, how hot, share of the layer's uses.
void draw_layer(Canvas& canvas, const CanvasArea& area, const TopModel& model, const TopView& view) {
  constexpr int entry_columns = 24, bar_columns = 6;
  const Experts experts(model, view);
  if (experts.layers() == 0 || area.rows < 1) return;
  const std::int64_t layer = std::clamp<std::int64_t>(view.layer.value_or(0), 0, experts.layers() - 1);
  const MapFrame& frame = model.frame();
  const std::size_t begin = static_cast<std::size_t>(layer * experts.width());
  const auto uses = std::span(frame.uses).subspan(begin, static_cast<std::size_t>(experts.width()));
  const double all = std::accumulate(uses.begin(), uses.end(), 0.0);
  int at = 0;
  for (std::int64_t slot = 0; slot < experts.width(); ++slot) {
    const std::size_t unit = experts.unit_at(layer, slot);
    if (!experts.is_there(unit)) continue;
    const int row = area.row + at % area.rows, column = area.column + entry_columns * (at / area.rows);
    ++at;
    if (column + entry_columns - 2 > area.column + area.columns) {  // the coldest have no room
      canvas.put_right(area.row + area.rows - 1, area.column + area.columns,
                       fmt::format(" +{}", experts.width() - slot), {.faint = true});
      break;
    }
    const std::size_t place = experts.place(unit);
    const bool is_fresh = experts.fresh(unit) > 0;
    canvas.put_right(row, column + 4, std::to_string(unit - begin), {.bold = is_fresh, .faint = !is_fresh});
    const std::string letter(1, place_letter(place, model.numbers()));
    canvas.put(row, column + 5,
               place < model.numbers().tiers.size() && letter != "F" ? letter + "b"
               : letter == "F"                                       ? "16b"
               : letter == "c"                                       ? "cpu"
                                                                     : "disk",
               {.text = view.colours == Colours::none
                            ? std::nullopt
                            : std::optional(place_colour(place, model.numbers(), view.is_light)),
                .bold = is_fresh});
    canvas.put(row, column + 10, bar(experts.strength(unit), bar_columns),
               {.text = view.colours == Colours::none ? std::nullopt : std::optional(experts.colour(unit))});
    const double share = all > 0 ? frame.uses[unit] / all : 0;
    canvas.put_right(row, column + entry_columns - 2, fmt::format("{:.1f} %", 100 * share), {.faint = true});
  }
}

}  // namespace fovea::app
