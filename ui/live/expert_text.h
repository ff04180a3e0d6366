// One expert's state in words: for tooltips, a screen reader and the table.
#pragma once

#include <QString>
#include <cstdint>
#include <vector>

#include "engine/api/snapshot.h"
#include "ui/live/live_data.h"
#include "ui/live/data/map_frame.h"

namespace fovea::ui {

QString layer_text(const ShownModel& model, std::int64_t layer);  // its number in the model
// "4 bits", "on disk". Two tiers that would be called the same have a decimal.
QString tier_text(const SnapshotNumbers& numbers, std::size_t tier);
// Of all tiers, high to low.
std::vector<QString> tier_texts(const SnapshotNumbers& numbers);
QString expert_name(const ShownModel& model, const SnapshotNumbers& numbers, std::int64_t unit);
QString hotness_text(float hotness);
// "became hotter: 0.034, 0.012 more than the expert that gave way"
QString reason_text(const ShownModel& model, const SnapshotNumbers& numbers, const UnitChange& change);
QString ago_text(double seconds);

// Everything about an expert at a moment; rich: as the HTML of a tooltip.
QString expert_text(const ShownModel& model, const SnapshotNumbers& numbers, const MapFrame& frame,
                    std::int64_t unit, const UnitChange& change, bool rich);

}  // namespace fovea::ui
