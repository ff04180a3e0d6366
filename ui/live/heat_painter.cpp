#include "ui/live/heat_painter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "ui/theme/tier_colours.h"

namespace fovea::ui {
namespace {

constexpr double kSpaciousCell = 4.5;  // device pixels: from here cells stand apart

QRgb blend(QRgb a, QRgb b, double share_of_b) {
  const auto mix = [&](int x, int y) { return static_cast<int>(std::lround(x + (y - x) * share_of_b)); };
  return qRgb(mix(qRed(a), qRed(b)), mix(qGreen(a), qGreen(b)), mix(qBlue(a), qBlue(b)));
}

constexpr double kDimmed = 0.12;  // of the strength

// By the difference of the codes, which is a ratio of hotness.
const std::array<double, 256>& strengths() {
  static const std::array<double, 256> table = [] {
    std::array<double, 256> made{};
    for (std::size_t below = 0; below < made.size(); ++below)
      made[below] = std::exp2(-static_cast<double>(below) * (24.0 / 254) / 2);
    return made;
  }();
  return table;
}

// The step of a ramp for each difference of the codes.
std::array<std::uint8_t, 256> make_steps(double share, std::size_t steps) {
  std::array<std::uint8_t, 256> made{};
  for (std::size_t below = 0; below < made.size(); ++below)
    made[below] =
        static_cast<std::uint8_t>(share * strengths()[below] * static_cast<double>(steps - 1) + 0.5);
  return made;
}

}  // namespace

void HeatPlaces::by_index(std::int64_t layers, std::int64_t units_per_layer) {
  units_ = units_per_layer;
  expert_.resize(static_cast<std::size_t>(layers * units_per_layer));
  for (std::size_t i = 0; i < expert_.size(); ++i)
    expert_[i] = static_cast<std::uint16_t>(i % static_cast<std::size_t>(units_));
  slot_ = expert_;
}

void HeatPlaces::by_hotness(const MapFrame& frame) {
  by_index(frame.layers, frame.units_per_layer);
  const auto width = static_cast<std::ptrdiff_t>(units_);
  for (std::int64_t layer = 0; layer < frame.layers; ++layer) {
    const std::uint8_t* const hot = frame.hot.data() + layer * width;
    const auto begin = expert_.begin() + layer * width;
    std::stable_sort(begin, begin + width,
                     [hot](std::uint16_t a, std::uint16_t b) { return hot[a] > hot[b]; });
    for (std::ptrdiff_t slot = 0; slot < width; ++slot)
      slot_[static_cast<std::size_t>(layer * width + begin[slot])] = static_cast<std::uint16_t>(slot);
  }
}

std::size_t place_of_tier(std::size_t tier, std::size_t tiers) {
  return tier == host_tier ? tiers + 1 : std::min(tier, tiers);
}

std::size_t texture_of_place(std::size_t place, std::size_t tiers) {
  return place < tiers ? place : place == tiers ? 5 : 4;
}

double heat_strength(std::uint8_t code, std::uint8_t hottest) {
  if (code == 0) return 0;
  return strengths()[static_cast<std::size_t>(std::max(0, int{hottest} - int{code}))];
}

void HeatPainter::set_colours(const QPalette& palette, std::span<const double> bits) {
  dark_ = is_dark(palette);
  tiers_ = bits.size();
  background_ = palette.color(QPalette::Base).rgb();
  ramps_.assign(tiers_ + 2, {});
  for (std::size_t place = 0; place < ramps_.size(); ++place) {
    const std::vector<QRgb> colours = tier_ramp(place, bits, palette, steps);
    Ramp& ramp = ramps_[place];
    for (std::size_t step = 0; step < steps; ++step) {
      ramp.plain[step] = colours[step];
      ramp.edge[step] = keeping_edge(colours[step], palette);
      const bool lighter = qGray(colours[step]) < 110;
      ramp.textured[step] = blend(colours[step], lighter ? 0xFFFFFFFF : 0xFF000000, lighter ? 0.28 : 0.42);
    }
  }
}

QRgb HeatPainter::colour(std::size_t tier, double strength, bool textured) const {
  const Ramp& r = ramps_[place_of_tier(tier, tiers_)];
  const auto step = static_cast<std::size_t>(std::clamp(strength, 0.0, 1.0) * (steps - 1) + 0.5);
  return textured ? r.textured[step] : r.plain[step];
}

void HeatPainter::paint(QImage& image, const HeatLayout& layout, const Picture& picture) const {
  if (!picture.over) image.fill(background_);
  if (!picture.frame || layout.layers() == 0 || ramps_.empty()) return;
  const double ratio = image.devicePixelRatio();
  std::vector<int> edges(static_cast<std::size_t>(layout.columns()) + 1);
  const double left = layout.cell_rect({layout.first_layer(), 0}).left();
  for (int column = 0; column <= layout.columns(); ++column)
    edges[static_cast<std::size_t>(column)] =
        static_cast<int>(std::lround((left + column * layout.cell_width()) * ratio));
  const int gap = std::max(1, static_cast<int>(std::lround(ratio)));
  for (int layer = layout.first_layer(); layer < layout.first_layer() + layout.layers(); ++layer) {
    for (int row = 0; row < layout.fold(); ++row)
      fill_row(image, layout, picture, {layer, row * layout.columns()}, edges, gap);
  }
}

void HeatPainter::fill_row(QImage& image, const HeatLayout& layout, const Picture& picture,
                           const HeatCell& first, const std::vector<int>& edges, int gap) const {
  const double ratio = image.devicePixelRatio();
  const QRectF rect = layout.cell_rect(first);
  const int area_top = static_cast<int>(std::lround(layout.area().top() * ratio));
  const int area_bottom =
      std::min(image.height(), static_cast<int>(std::lround(layout.area().bottom() * ratio)));
  const int area_left = static_cast<int>(std::lround(layout.area().left() * ratio));
  const int area_right =
      std::min(image.width(), static_cast<int>(std::lround(layout.area().right() * ratio)));
  int top = static_cast<int>(std::lround(rect.top() * ratio));
  int bottom = static_cast<int>(std::lround(rect.bottom() * ratio));
  if (layout.cell_height() * ratio >= kSpaciousCell) bottom -= gap;
  top = std::max(top, area_top);
  bottom = std::min(bottom, area_bottom);
  if (top >= bottom) return;

  const MapFrame& frame = *picture.frame;
  const auto base = static_cast<std::size_t>(first.layer) * static_cast<std::size_t>(frame.units_per_layer);
  const auto begin = frame.hot.begin() + static_cast<std::ptrdiff_t>(base);
  const std::uint8_t hottest = *std::max_element(begin, begin + frame.units_per_layer);
  const int experts = picture.experts && !picture.experts->empty()
                          ? static_cast<int>((*picture.experts)[static_cast<std::size_t>(first.layer)])
                          : layout.slots();
  static const std::array<std::uint8_t, 256> full_steps = make_steps(1, steps),
                                             dim_steps = make_steps(kDimmed, steps);
  const bool dims = picture.lit && !picture.lit->empty();
  const int apart = layout.cell_width() * ratio >= kSpaciousCell ? gap : 0;
  const int slots = std::min(layout.columns(), layout.slots() - first.slot);
  // Textures follow the screen, so that they run on through neighbouring cells of one tier. `outline`: the
  // first and the last line of cells that stand apart.
  const auto draw_line = [&](int y, bool outline) {
    auto* const pixels = reinterpret_cast<QRgb*>(image.scanLine(y));
    for (int column = 0; column < slots; ++column) {
      const int expert = picture.places->expert_at(first.layer, first.slot + column);
      if (expert >= experts) continue;
      const std::size_t unit = base + static_cast<std::size_t>(expert);
      const bool dimmed = dims && !(*picture.lit)[unit];
      const std::size_t step =
          frame.hot[unit] == 0 ? 0 : (dimmed ? dim_steps : full_steps)[hottest - frame.hot[unit]];
      const std::size_t place = place_of_tier(frame.tier[unit], tiers_);
      const int from = std::max(area_left, edges[static_cast<std::size_t>(column)]);
      const int to = std::min(area_right, edges[static_cast<std::size_t>(column) + 1] - apart);
      if (from >= to) continue;
      const Ramp& r = ramps_[place];
      std::fill(pixels + from, pixels + to, (outline ? r.edge : r.plain)[step]);
      if (outline) continue;
      const std::size_t texture = texture_of_place(place, tiers_);
      for (int x = from; picture.textures && x < to; ++x)
        if (tier_texture(texture, x / gap, y / gap)) pixels[x] = r.textured[step];
      if (apart > 0) pixels[from] = pixels[to - 1] = r.edge[step];
    }
  };
  const int outlines = apart > 0 && bottom - top > 2 ? 1 : 0;
  const int period = picture.textures ? tier_texture_period * gap : 1;
  const int inner = std::min(bottom - top - 2 * outlines, period);
  if (outlines > 0) draw_line(top, true);
  for (int line = 0; line < inner; ++line) draw_line(top + outlines + line, false);
  const std::size_t used = static_cast<std::size_t>(image.bytesPerLine());
  for (int y = top + outlines + inner; y < bottom - outlines; ++y)
    std::memcpy(image.scanLine(y), image.constScanLine(y - inner), used);
  if (outlines > 0) std::memcpy(image.scanLine(bottom - 1), image.constScanLine(top), used);
}

}  // namespace fovea::ui
