#include "ui/live/heat_painter.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "ui/live/heat_slide.h"
#include "ui/theme/tier_colours.h"

namespace fovea::ui {
namespace {

constexpr std::size_t texture_count = 6;
constexpr int narrow = 4;                             // pixels, of cells that are drawn in whole vectors
constexpr double kSpaciousCell = 4.5;                 // device pixels: from here cells stand apart …
constexpr double kWideCell = 10, kHighCell = 6.5;     // … and, of the window's, from here twice as far
constexpr int kRoundedWidth = 6, kRoundedHeight = 4;  // pixels of the least cell whose corners are off

QRgb blend(QRgb a, QRgb b, double share_of_b) {
  const auto mix = [&](int x, int y) { return static_cast<int>(std::lround(x + (y - x) * share_of_b)); };
  return qRgb(mix(qRed(a), qRed(b)), mix(qGreen(a), qGreen(b)), mix(qBlue(a), qBlue(b)));
}

constexpr double kDimmed = 0.12;  // of the strength

// The step of a ramp for each difference of the codes.
std::array<std::uint8_t, 256> make_steps(double share, std::size_t steps) {
  std::array<std::uint8_t, 256> made{};
  for (std::size_t below = 0; below < made.size(); ++below)
    made[below] =
        static_cast<std::uint8_t>(share * heat_strengths()[below] * static_cast<double>(steps - 1) + 0.5);
  return made;
}

}  // namespace

std::size_t texture_of_place(std::size_t place, std::size_t tiers) {
  return place < tiers ? place : place == tiers ? 5 : 4;
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
  Grid grid = grid_of(image, layout, picture.textures);
  for (int layer = layout.first_layer(); layer < layout.first_layer() + layout.layers(); ++layer) {
    for (int row = 0; row < layout.fold(); ++row)
      fill_row(image, layout, picture, {layer, row * layout.columns()}, grid);
  }
  if (picture.slide) draw_moving(image, layout, picture, grid);
}

HeatPainter::Grid HeatPainter::grid_of(const QImage& image, const HeatLayout& layout, bool textures) const {
  const double ratio = image.devicePixelRatio();
  const auto pixel = [ratio](double at) { return static_cast<int>(std::lround(at * ratio)); };
  Grid grid;
  grid.gap = std::max(1, pixel(1));
  grid.left = pixel(layout.area().left());
  grid.right = std::min(image.width(), pixel(layout.area().right()));
  grid.top = pixel(layout.area().top());
  grid.bottom = std::min(image.height(), pixel(layout.area().bottom()));
  const auto apart = [&](double size, double far) {
    return size * ratio < kSpaciousCell ? 0 : size < far ? grid.gap : std::max(2, pixel(2));
  };
  grid.beside = apart(layout.cell_width(), kWideCell);
  grid.below = apart(layout.cell_height(), kHighCell);
  grid.cells_apart = grid.beside > 0;
  for (std::size_t tier = 0; tier < grid.place_of_tier.size(); ++tier)
    grid.place_of_tier[tier] = static_cast<std::uint8_t>(place_of_tier(tier, tiers_));
  for (std::size_t place = 0; place < ramps_.size(); ++place)
    grid.texture_of_place.push_back(static_cast<std::uint32_t>(texture_of_place(place, tiers_)));
  const double left = layout.cell_rect({layout.first_layer(), 0}).left();
  for (int column = 0; column <= layout.columns(); ++column)
    grid.edges.push_back(pixel(left + column * layout.cell_width()));
  grid.period = tier_texture_period * grid.gap;
  for (std::size_t texture = 0; textures && texture < texture_count; ++texture)
    for (int y = 0; y < tier_texture_period; ++y)
      for (int x = 0; x < 2 * grid.period; ++x)
        grid.textures.push_back(tier_texture(texture, x / grid.gap, y) ? 0xFFFFFFFF : 0);
  return grid;
}

HeatPainter::Layer HeatPainter::layer_of(const HeatLayout& layout, const Picture& picture, int layer) const {
  const MapFrame& frame = *picture.frame;
  const auto base = static_cast<std::size_t>(layer) * static_cast<std::size_t>(frame.units_per_layer);
  const std::uint8_t* const hot = frame.hot.data() + base;
  return {.hot = hot,
          .tier = frame.tier.data() + base,
          .lit = picture.lit && !picture.lit->empty() ? picture.lit->data() + base : nullptr,
          .hottest = *std::max_element(hot, hot + frame.units_per_layer),
          .experts = picture.experts && !picture.experts->empty()
                         ? static_cast<int>((*picture.experts)[static_cast<std::size_t>(layer)])
                         : layout.slots()};
}

inline void HeatPainter::colour_cell(const Layer& layer, int expert, const Grid& grid, Cell& cell) const {
  static const std::array<std::uint8_t, 256> full_steps = make_steps(1, steps),
                                             dim_steps = make_steps(kDimmed, steps);
  const auto& step_of = layer.lit && !layer.lit[expert] ? dim_steps : full_steps;
  const std::size_t step =
      layer.hot[expert] == 0 ? 0 : step_of[static_cast<std::size_t>(layer.hottest - layer.hot[expert])];
  const std::size_t place = grid.place_of_tier[layer.tier[expert]];
  const Ramp& ramp = ramps_[place];
  cell.plain = ramp.plain[step];
  cell.textured = ramp.textured[step];
  cell.edge = ramp.edge[step];
  cell.texture = grid.texture_of_place[place];
}

void HeatPainter::find_cells(const HeatLayout& layout, const Picture& picture, const HeatCell& first,
                             Grid& grid) const {
  const Layer layer = layer_of(layout, picture, first.layer);
  const std::uint16_t* const moving =
      picture.slide ? picture.slide->moving().data() + (layer.hot - picture.frame->hot.data()) : nullptr;
  const std::uint16_t* const expert_of = picture.places->experts_of(first.layer) + first.slot;
  const int* const edges = grid.edges.data();
  const int slots = std::min(layout.columns(), layout.slots() - first.slot);
  grid.cells.resize(static_cast<std::size_t>(slots));
  Cell* cell = grid.cells.data();
  for (int column = 0; column < slots; ++column) {
    const int expert = expert_of[column];
    cell->from = std::max(grid.left, edges[column]);
    cell->to = std::min(grid.right, edges[column + 1] - grid.beside);
    if (expert >= layer.experts || cell->from >= cell->to || (moving && moving[expert])) continue;
    colour_cell(layer, expert, grid, *cell);
    ++cell;
  }
  grid.cells.resize(static_cast<std::size_t>(cell - grid.cells.data()));
}

void HeatPainter::draw_moving(QImage& image, const HeatLayout& layout, const Picture& picture,
                              Grid& grid) const {
  const double ratio = image.devicePixelRatio();
  const auto pixel = [ratio](double at) { return static_cast<int>(std::lround(at * ratio)); };
  grid.cells.resize(1);
  Cell& cell = grid.cells.front();
  for (const HeatSlide::Mover& mover : picture.slide->movers()) {
    const Layer layer = layer_of(layout, picture, mover.to.layer);
    const int expert = picture.places->expert_at(mover.to.layer, mover.to.slot);
    const QRectF rect = picture.slide->rect_of(mover, layout);
    cell.from = std::max(grid.left, pixel(rect.left()));
    cell.to = std::min(grid.right, pixel(rect.right()) - grid.beside);
    const int top = std::max(grid.top, pixel(rect.top()));
    const int bottom = std::min(grid.bottom, pixel(rect.bottom()) - grid.below);
    if (expert >= layer.experts || cell.from >= cell.to) continue;
    colour_cell(layer, expert, grid, cell);
    for (int y = top; y < bottom; ++y) {
      QRgb* const pixels = reinterpret_cast<QRgb*>(image.scanLine(y));
      picture.textures ? draw_textures(pixels, y, grid) : draw_line(pixels, grid);
      if (!grid.cells_apart) continue;
      pixels[cell.from] = pixels[cell.to - 1] = cell.edge;
      if (y == top || y == bottom - 1) draw_edge(pixels, cell, bottom - top);
    }
  }
}

// A cell's first or last line, without its corners where it is large.
void HeatPainter::draw_edge(QRgb* pixels, const Cell& cell, int height) const {
  std::fill(pixels + cell.from, pixels + cell.to, cell.edge);
  if (cell.to - cell.from >= kRoundedWidth && height >= kRoundedHeight)
    pixels[cell.from] = pixels[cell.to - 1] = background_;
}

void HeatPainter::fill_row(QImage& image, const HeatLayout& layout, const Picture& picture,
                           const HeatCell& first, Grid& grid) const {
  const double ratio = image.devicePixelRatio();
  const QRectF rect = layout.cell_rect(first);
  const int top = std::max(static_cast<int>(std::lround(rect.top() * ratio)), grid.top);
  const int bottom = std::min(static_cast<int>(std::lround(rect.bottom() * ratio)) - grid.below, grid.bottom);
  if (top >= bottom) return;
  find_cells(layout, picture, first, grid);
  const auto line_at = [&](int y) { return reinterpret_cast<QRgb*>(image.scanLine(y)); };
  // The first and the last line of cells that stand apart are outlines.
  const int outlines = grid.cells_apart && bottom - top > 2 ? 1 : 0;
  const int period = picture.textures ? tier_texture_period * grid.gap : 1;
  const int inner = std::min(bottom - top - 2 * outlines, period);
  if (outlines > 0) {
    QRgb* const pixels = line_at(top);
    for (const Cell& cell : grid.cells) draw_edge(pixels, cell, bottom - top);
  }
  for (int y = top + outlines; y < top + outlines + inner; ++y) {
    QRgb* const pixels = line_at(y);
    picture.textures ? draw_textures(pixels, y, grid) : draw_line(pixels, grid);
    if (!grid.cells_apart) continue;
    for (const Cell& cell : grid.cells) pixels[cell.from] = pixels[cell.to - 1] = cell.edge;
  }
  const std::size_t used = static_cast<std::size_t>(image.bytesPerLine());
  for (int y = top + outlines + inner; y < bottom - outlines; ++y)
    std::memcpy(image.scanLine(y), image.constScanLine(y - inner), used);
  if (outlines > 0) std::memcpy(image.scanLine(bottom - 1), image.constScanLine(top), used);
}

// What goes beyond a narrow cell is overwritten by those behind; so many begin with it that have such behind.
std::size_t HeatPainter::narrow_cells(const Grid& grid) const {
  if (grid.cells_apart || grid.cells.size() < narrow) return 0;
  const auto wide = [](const Cell& cell) { return cell.to - cell.from > narrow; };
  return std::min<std::size_t>(std::ranges::find_if(grid.cells, wide) - grid.cells.begin(),
                               grid.cells.size() - narrow);
}

void HeatPainter::draw_line(QRgb* pixels, const Grid& grid) const {
  const std::size_t cells = grid.cells.size();
  std::size_t next = 0;
  for (const std::size_t end = narrow_cells(grid); next < end; ++next) {
    const Cell& cell = grid.cells[next];
    for (int x = 0; x < narrow; ++x) pixels[cell.from + x] = cell.plain;
  }
  for (; next < cells; ++next) {
    const Cell& cell = grid.cells[next];
    std::fill(pixels + cell.from, pixels + cell.to, cell.plain);
  }
}

// They follow the screen, so that they run on through neighbouring cells of one tier.
void HeatPainter::draw_textures(QRgb* pixels, int y, const Grid& grid) const {
  const auto period = static_cast<std::size_t>(grid.period);
  const auto line = static_cast<std::size_t>(y / grid.gap % tier_texture_period);
  const auto draw = [&](const Cell& cell, int from, int count) {  // count: a period at most
    const std::uint32_t* const drawn = grid.textures.data() +
                                       (cell.texture * tier_texture_period + line) * 2 * period +
                                       static_cast<std::size_t>(from) % period;
    QRgb* const to = pixels + from;
    const QRgb plain = cell.plain, difference = cell.plain ^ cell.textured;
    for (int x = 0; x < count; ++x) to[x] = plain ^ (difference & drawn[x]);
  };
  const std::size_t cells = grid.cells.size();
  std::size_t next = 0;
  for (const std::size_t end = narrow_cells(grid); next < end; ++next)
    draw(grid.cells[next], grid.cells[next].from, narrow);
  for (; next < cells; ++next) {
    const Cell& cell = grid.cells[next];
    for (int x = cell.from; x < cell.to; x += grid.period) draw(cell, x, std::min(grid.period, cell.to - x));
  }
}

}  // namespace fovea::ui
