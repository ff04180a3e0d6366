// The heatmap's cells as pixels: a row of a layer is one scanline, copied down.
#pragma once

#include <QImage>
#include <QPalette>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ui/live/heat_layout.h"
#include "ui/live/data/heat_places.h"
#include "ui/live/data/map_frame.h"

namespace fovea::ui {

class HeatSlide;

// The texture that says the same as a place's colour.
std::size_t texture_of_place(std::size_t place, std::size_t tiers);

class HeatPainter {
 public:
  // `bits` for each weight: of the tiers, high to low.
  void set_colours(const QPalette& palette, std::span<const double> bits);

  struct Picture {
    const MapFrame* frame = nullptr;
    const HeatPlaces* places = nullptr;
    const std::vector<std::int64_t>* experts = nullptr;  // [layers]; null or empty: all
    const std::vector<std::uint8_t>* lit = nullptr;      // [units] others are dimmed; null or empty: none
    const HeatSlide* slide = nullptr;                    // the cells that are on their way; null: none
    bool textures = false;
    bool over = false;  // the image holds an earlier picture with this layout: what is between cells stays
  };
  // Fills the whole image, whose device pixel ratio counts.
  void paint(QImage& image, const HeatLayout& layout, const Picture& picture) const;

  QRgb colour(std::size_t tier, double strength, bool textured = false) const;
  bool dark() const { return dark_; }

 private:
  static constexpr std::size_t steps = 64;
  struct Ramp {
    std::array<QRgb, steps> plain{}, textured{}, edge{};
  };
  // A cell's pixels of a line, [from, to), in its colours.
  struct Cell {
    int from, to;
    QRgb plain, textured, edge;
    std::uint32_t texture;
  };
  // What all rows of one picture share. Lengths and positions are device pixels.
  struct Grid {
    std::vector<int> edges;     // [columns + 1]
    int gap = 1;                // between cells that stand a little apart, and a texture's pixel
    int beside = 0, below = 0;  // between cells that stand apart
    int left = 0, right = 0, top = 0, bottom = 0;  // of the area
    bool cells_apart = false;
    std::array<std::uint8_t, 256> place_of_tier{};
    std::vector<std::uint32_t> texture_of_place;
    int period = 1;  // of textures
    // [textures, tier_texture_period, 2 · period] all bits where a texture is drawn; empty without them
    std::vector<std::uint32_t> textures;
    std::vector<Cell> cells;  // of the row that is drawn
  };
  // What the cells of a layer share.
  struct Layer {
    const std::uint8_t *hot, *tier, *lit;  // [units]; lit: null where none is
    std::uint8_t hottest;
    int experts;
  };
  Layer layer_of(const HeatLayout& layout, const Picture& picture, int layer) const;
  void colour_cell(const Layer& layer, int expert, const Grid& grid, Cell& cell) const;
  Grid grid_of(const QImage& image, const HeatLayout& layout, bool textures) const;
  void find_cells(const HeatLayout& layout, const Picture& picture, const HeatCell& first, Grid& grid) const;
  void draw_edge(QRgb* pixels, const Cell& cell, int height) const;
  void fill_row(QImage& image, const HeatLayout& layout, const Picture& picture, const HeatCell& first,
                Grid& grid) const;
  void draw_moving(QImage& image, const HeatLayout& layout, const Picture& picture, Grid& grid) const;
  std::size_t narrow_cells(const Grid& grid) const;
  void draw_line(QRgb* pixels, const Grid& grid) const;
  void draw_textures(QRgb* pixels, int y, const Grid& grid) const;

  bool dark_ = false;
  std::size_t tiers_ = 0;
  QRgb background_ = 0;
  std::vector<Ramp> ramps_;  // [tiers + 2], the last for what is on disk alone and for the host's
};

}  // namespace fovea::ui
