// The last minute in strips: changes of tier, bytes, uses below the highest tier, queue, tokens a second.
#pragma once

#include <QWidget>
#include <optional>
#include <vector>

#include "ui/live/traffic_series.h"

namespace fovea::ui {

class TrafficView : public QWidget {
  Q_OBJECT

 public:
  explicit TrafficView(QWidget* parent = nullptr);

  void set_series(const TrafficSeries& series, const Snapshot& numbers);
  void set_link(double bytes_per_second);  // 0: not measured
  void set_intervals(const TokenIntervals::Percentiles& percentiles);
  // Without a policy nothing is swapped: the tokens alone are shown.
  void set_swaps(bool shown);

  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Row {
    QString title, value, why;
    const TrafficSeries::Strip* up;
    const TrafficSeries::Strip* down = nullptr;
    QColor colour, down_colour;
    double limit = 0, full = 0;
  };
  std::vector<Row> rows() const;
  double row_height() const;

  TrafficSeries series_;
  Snapshot numbers_;
  TokenIntervals::Percentiles intervals_;
  double link_ = 0;
  bool swaps_ = true;
};

}  // namespace fovea::ui
