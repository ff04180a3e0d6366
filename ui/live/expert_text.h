// One expert's state in words: for tooltips, a screen reader and the table.
#pragma once

#include <QString>
#include <cstdint>
#include <optional>

#include "engine/api/snapshot.h"
#include "ui/live/live_model.h"
#include "ui/live/snapshot_ring.h"

namespace fovea::ui {

QString layer_text(const LiveModel& model, std::int64_t layer);  // its number in the model
QString tier_text(const Snapshot& numbers, std::uint8_t tier);   // "q4", "on disk"
QString hotness_text(float hotness);
// "became hotter: 0.034, 0.012 more than the expert that gave way"
QString reason_text(const UnitChange& change);
QString ago_text(double seconds);

// Everything about an expert at a moment; rich: as the HTML of a tooltip.
QString expert_text(const LiveModel& model, const Moment& moment, const MapFrame& frame, std::int64_t unit,
                    const std::optional<UnitChange>& change, bool rich);

}  // namespace fovea::ui
