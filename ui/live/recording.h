// Saved recordings: JSON lines, one moment each, that only name the experts that changed; and the table of
// one moment as CSV. Nothing here touches a widget: any thread may write or read.
#pragma once

#include <QImage>
#include <memory>

#include "engine/api/error.h"
#include "ui/live/live_model.h"
#include "ui/live/snapshot_ring.h"

class QIODevice;

namespace fovea::ui {

// What a panel wants saved. It holds its own copy of the data, so it may be written on any thread.
struct LiveExport {
  enum class Kind { png, csv, json_lines };
  Kind kind = Kind::json_lines;
  QImage image;                              // of Kind::png
  std::shared_ptr<const SnapshotRing> ring;  // of the others
  std::int64_t index = 0;                    // of Kind::csv: the moment
  LiveModel model;

  Result<void> write(QIODevice& out) const;
};

Result<void> write_json_lines(const SnapshotRing& ring, const LiveModel& model, QIODevice& out);
Result<void> write_csv(const SnapshotRing& ring, const LiveModel& model, std::int64_t index, QIODevice& out);

// A recording that was saved as JSON lines, and what it says of the model. ErrorKind::format names the line.
struct Recording {
  LiveModel model;
  std::shared_ptr<const SnapshotRing> ring;
};
Result<Recording> read_json_lines(QIODevice& in);

// The limits of a recording that is read.
inline constexpr RingLimits recording_limits{.seconds = 1e9, .bytes = std::size_t{256} << 20};

}  // namespace fovea::ui
