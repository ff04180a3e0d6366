#include "tests/ui/live/made_source.h"

#include "ui/live/heatmap_view.h"
#include "ui/live/live_panel.h"

namespace fovea::tests {

using namespace fovea::ui;

Snapshot small_snapshot() {
  Snapshot s;
  s.layers = 2;
  s.units_per_layer = 8;
  s.units.resize(16);
  for (std::size_t unit = 0; unit < 16; ++unit)
    s.units[unit] = {.hotness = 0.01F * static_cast<float>(unit + 1),
                     .tier = static_cast<std::uint8_t>(unit % 2),
                     .uses = 100};
  s.tiers = {{.name = "q4", .bits_per_weight = 4.5, .units = 8, .bytes = 800, .hits = 800},
             {.name = "q2", .bits_per_weight = 2.25, .units = 8, .bytes = 400, .hits = 800}};
  s.pools = {{.block_bytes = 50, .blocks = 9, .used = 8}, {.block_bytes = 100, .blocks = 9, .used = 8}};
  s.arena_bytes = 1350;
  s.arena_used_bytes = 1200;
  s.budget_bytes = 2000;
  s.tokens = 100;
  return s;
}

void MadeSource::show(const Snapshot& snapshot) {
  numbers_ = snapshot;
  frame_ = {};
  frame_.layers = snapshot.layers;
  frame_.units_per_layer = snapshot.units_per_layer;
  for (const UnitState& unit : snapshot.units) {
    frame_.tier.push_back(unit.tier);
    frame_.target.push_back(unit.target);
    frame_.hot.push_back(hotness_code(unit.hotness));
    frame_.uses.push_back(unit.uses);
  }
  last.assign(frame_.size(), {});
  parts.tier_of_pool.assign(snapshot.pools.size(), -1);
}

std::optional<ExpertStory> MadeSource::looked_at() {
  if (!looked_unit) return std::nullopt;
  const auto unit = static_cast<std::size_t>(*looked_unit);
  ExpertStory story{.line = {.unit = *looked_unit}, .until = 10, .uses = frame_.uses[unit]};
  story.layer_uses = 8 * story.uses;
  story.rank = 1;
  story.line.points.push_back({.seconds = 9, .tier = frame_.tier[unit], .hotness = 0.1F});
  story.changes = looked_changes;
  return story;
}

QColor pixel(LivePanel& panel, int layer, int slot) {
  HeatmapView& map = panel.heatmap();
  const QPointF centre = map.layout_of_cells().cell_rect({layer, slot}).center();
  return map.picture().pixelColor((centre * map.devicePixelRatioF()).toPoint());
}

}  // namespace fovea::tests
