// One expert's state in words: for tooltips, a screen reader and the table.
#pragma once

#include <QString>
#include <cstdint>

#include "engine/api/snapshot.h"
#include "ui/live/live_data.h"
#include "ui/live/map_frame.h"

namespace fovea::ui {

QString layer_text(const ShownModel& model, std::int64_t layer);       // its number in the model
QString tier_text(const SnapshotNumbers& numbers, std::uint8_t tier);  // "q4", "on disk"
QString hotness_text(float hotness);
// "became hotter: 0.034, 0.012 more than the expert that gave way"
QString reason_text(const ShownModel& model, const SnapshotNumbers& numbers, const UnitChange& change);
QString ago_text(double seconds);

// Everything about an expert at a moment; rich: as the HTML of a tooltip.
QString expert_text(const ShownModel& model, const SnapshotNumbers& numbers, const MapFrame& frame,
                    std::int64_t unit, const UnitChange& change, bool rich);

}  // namespace fovea::ui
