// The experts that are followed: each one's hotness and tier over the last two minutes.
#pragma once

#include <QWidget>
#include <deque>
#include <vector>

#include "ui/live/heatmap_view.h"
#include "ui/live/snapshot_ring.h"

namespace fovea::ui {

inline constexpr double followed_seconds = 120;
inline constexpr std::size_t max_followed = 5;

class FollowView : public QWidget {
  Q_OBJECT

 public:
  explicit FollowView(QWidget* parent = nullptr);

  // Reads what the ring holds of it up to this time; at most max_followed, the oldest gives way. Following
  // one again ends it.
  void toggle(std::int64_t unit, const SnapshotRing& ring, double until);
  void clear();
  // What came since the last call, up to and including `index`.
  void advance(const SnapshotRing& ring, std::int64_t index, const MapFrame& frame);
  // Again from the ring, up to this time: it was scrubbed or exchanged.
  void reread(const SnapshotRing& ring, double until);
  void set_tiers(const std::vector<std::string>& names, const std::vector<double>& bits);
  void set_names(std::function<QString(std::int64_t unit)> name) { name_ = std::move(name); }

  std::vector<FollowedExpert> followed() const;
  QSize sizeHint() const override;

 Q_SIGNALS:
  void changed();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  struct Point {
    double seconds;
    std::uint8_t tier;
    float hotness;
  };
  struct Line {
    std::int64_t unit;
    int place;  // of its letter
    std::deque<Point> points;
  };
  void fill(Line& line, const SnapshotRing& ring, double until) const;
  QRectF row_rect(std::size_t row) const;

  std::vector<Line> lines_;
  std::vector<std::string> tiers_;  // names
  std::vector<double> bits_;        // of the tiers, for each weight
  std::function<QString(std::int64_t)> name_;
  double until_ = 0;
};

}  // namespace fovea::ui
