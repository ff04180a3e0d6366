// Saved recordings: JSON lines, one moment each, that only name the experts that changed; and the table of
// one moment as CSV. Nothing here touches a widget: any thread may write or read.
#pragma once

#include <QImage>
#include <QString>
#include <memory>
#include <vector>

#include "app/live/measures/memory_parts.h"
#include "app/live/measures/snapshot_ring.h"
#include "engine/api/error.h"
#include "engine/api/precision.h"
#include "ui/live/live_source.h"

class QIODevice;

namespace fovea::app {

// What is known of a model besides its snapshots.
struct LiveModel {
  QString name;
  PolicyKind policy = PolicyKind::none;
  std::int64_t experts = 0;       // of a layer, the most; 0: a model without experts
  std::int64_t experts_used = 0;  // top-k
  std::vector<std::int64_t> layer_numbers =
      {};  // in the model, of the layers that have experts; empty: 0, 1, …
  std::vector<std::int64_t> experts_per_layer = {};  // empty: all the same
  // Of all experts, layer after layer: the share of its layer's uses over the many subjects of the store's
  // calibration; empty: there is none.
  std::vector<float> calibrated_uses = {};
  Plan plan = {};
  std::vector<CardPlan> cards = {};  // two, the one with the first layers first; empty: there is one device
  double link_bytes_per_s = 0;       // measured: what versions can be read with; 0: not known
};

struct Recording {
  LiveModel model;
  std::shared_ptr<const SnapshotRing> ring;
};

// What a panel wants saved. It holds its own copy of the data, so it may be written on any thread.
struct LiveExport {
  ui::LiveSource::SaveAs format = ui::LiveSource::SaveAs::json_lines;
  QImage picture;                            // of SaveAs::png
  std::shared_ptr<const SnapshotRing> ring;  // of the others
  std::int64_t index = 0;                    // of SaveAs::csv: the moment
  LiveModel model;

  Result<void> write(QIODevice& out) const;
};

Result<void> write_json_lines(const SnapshotRing& ring, const LiveModel& model, QIODevice& out);
Result<void> write_csv(const SnapshotRing& ring, const LiveModel& model, std::int64_t index, QIODevice& out);

// What was saved as JSON lines. ErrorKind::format names the line.
Result<Recording> read_json_lines(QIODevice& in);

// The limits of a recording that is read.
inline constexpr RingLimits recording_limits{.seconds = 1e9, .bytes = std::size_t{256} << 20};

}  // namespace fovea::app
